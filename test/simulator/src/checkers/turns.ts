import type { SessionId } from '@shardswap/broker'
import type { BlockKey } from '@shardswap/interface'

interface Turn {
  /** All that it wants. */
  readonly keys: Set<BlockKey>
  /** Wants that nobody was asked for so far. */
  readonly unsent: Set<BlockKey>
  /** The count of all want-blocks when its last one was sent, or when it had nothing to send. */
  sentAt: number
}

/** Want-blocks that one turn of another session may hold. */
const turnWantsMax = 256

/** Who was left out, and for how long, counted in want-blocks of others. */
export class Turns {
  readonly #turns = new Map<SessionId, Turn>()
  readonly #wanters = new Map<BlockKey, Set<SessionId>>()
  #sent = 0

  get wantedKeys(): number {
    return this.#wanters.size
  }

  wanters(key: BlockKey): readonly SessionId[] {
    return [...(this.#wanters.get(key) ?? [])]
  }

  isWanted(key: BlockKey): boolean {
    return this.#wanters.has(key)
  }

  want(session: SessionId, key: BlockKey, wasAsked: boolean): void {
    const wanters = this.#wanters.get(key)
    if (wanters === undefined) this.#wanters.set(key, new Set([session]))
    else wanters.add(session)
    let turn = this.#turns.get(session)
    if (turn === undefined) {
      turn = { keys: new Set(), unsent: new Set(), sentAt: this.#sent }
      this.#turns.set(session, turn)
    }
    turn.keys.add(key)
    if (wasAsked) return
    if (turn.unsent.size === 0) turn.sentAt = this.#sent
    turn.unsent.add(key)
  }

  leave(session: SessionId, key: BlockKey): void {
    const wanters = this.#wanters.get(key)
    wanters?.delete(session)
    if (wanters?.size === 0) this.#wanters.delete(key)
    const turn = this.#turns.get(session)
    turn?.unsent.delete(key)
    turn?.keys.delete(key)
    if (turn?.keys.size === 0) this.#turns.delete(session)
  }

  /** A want of either type was sent for the key. */
  sent(key: BlockKey): void {
    this.#sent += 1
    for (const session of this.#wanters.get(key) ?? []) {
      const turn = this.#turns.get(session)
      if (turn === undefined) continue
      turn.unsent.delete(key)
      turn.sentAt = this.#sent
    }
  }

  /**
   * A session that had wants to send and nothing under way, while all together
   * sent more than two rounds of the largest turns. `isOpen` says whether
   * anybody is being asked for a key.
   */
  starved(isOpen: (key: BlockKey) => boolean): SessionId | undefined {
    const patience = 2 * turnWantsMax * this.#turns.size
    for (const [session, { keys, unsent, sentAt }] of this.#turns) {
      if (unsent.size === 0 || this.#sent - sentAt <= patience) continue
      if (![...keys].some(isOpen)) return session
    }
    return undefined
  }
}
