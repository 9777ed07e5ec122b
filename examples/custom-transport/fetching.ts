import { Broker, type Command, defaultBrokerLimits, type WantEntry } from '@shardswap/broker'
import { blockKeyFor } from '@shardswap/hashes'
import { type BlockKey, blockKey, type CID, NotFoundError, type PeerKey, StoppedError } from '@shardswap/interface'
import type { DecodedMessage, WantlistEntry, WireBlock } from '@shardswap/protocol'
import { Reliability } from '@shardswap/reliability'
import { defaultSessionLimits, Session } from '@shardswap/session'
import type { Line } from './line.ts'

/** A line of ours that a peer's wantlist is to have. */
function wantlistEntry({ type, cid }: WantEntry): WantlistEntry {
  const cancel = type === 'cancel'
  return { cid, priority: 1, cancel, wantType: type === 'want-have' ? 'have' : 'block', sendDontHave: !cancel }
}

/** The fetching half: one session of wants, spread over all peers by the cores. It decides nothing; it carries out. */
export class Fetching {
  readonly #core: Broker
  readonly #lines = new Map<PeerKey, Line>()
  readonly #waiting = new Map<BlockKey, PromiseWithResolvers<Uint8Array>>()
  #turn: NodeJS.Immediate | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(self: PeerKey) {
    this.#core = new Broker({
      limits: defaultBrokerLimits,
      random: { next: Math.random },
      reliability: new Reliability({ wallMs: Date.now(), nowMs: performance.now() }),
      openSession: (options) => new Session({ ...options, limits: defaultSessionLimits, self })
    })
    this.#core.openSession(0, {}, performance.now())
  }

  /** What was fetched so far. */
  get figures(): Broker['total'] {
    return this.#core.total
  }

  /** Blocks that each peer has delivered. */
  get shares(): ReadonlyMap<PeerKey, number> {
    return new Map(this.#core.queues().map(({ peer, figures }) => [peer, figures.blocks]))
  }

  /** The block's bytes, verified. Rejects with NotFoundError where nobody gives it, with StoppedError once it is over. Callers of one block share one promise. */
  async get(cid: CID): Promise<Uint8Array> {
    if (this.#core.session(0) === undefined) throw new StoppedError('stopped')
    const key = blockKey(cid)
    const waiting = this.#waiting.get(key) ?? Promise.withResolvers<Uint8Array>()
    this.#waiting.set(key, waiting)
    this.#core.addWant(0, cid, key, performance.now())
    this.#schedule()
    return await waiting.promise
  }

  connect(peer: PeerKey, line: Line): void {
    this.#lines.set(peer, line)
    this.#core.connectPeer(peer, true, performance.now())
    this.#schedule()
  }

  disconnect(peer: PeerKey): void {
    this.#lines.delete(peer)
    this.#core.disconnectPeer(peer, performance.now())
    this.#schedule()
  }

  receive(peer: PeerKey, message: DecodedMessage, bytes: number): void {
    const nowMs = performance.now()
    this.#core.receiveBytes(peer, bytes, nowMs)
    const wanted = message.blocks.filter((block) => this.#receiveBlock(peer, block, nowMs))
    for (const { cid, presence } of message.presences) this.#core.receivePresence(peer, blockKey(cid), presence, nowMs)
    this.#core.receivePendingBytes(peer, message.pendingBytes, nowMs)
    if (wanted.length === 0) this.#core.receiveTalk(peer, bytes)
    this.#schedule()
  }

  /** Drops all wants, and the timer with them. */
  stop(): void {
    this.#core.closeSession(0, performance.now())
    this.#carryOut(this.#core.decide(performance.now()))
    for (const { reject } of this.#waiting.values()) reject(new StoppedError('stopped'))
    this.#waiting.clear()
    clearImmediate(this.#turn)
    clearTimeout(this.#timer)
  }

  /** A block names no CID: its hash tells whether anybody wants it. Nothing unverified gets past this. */
  #receiveBlock(peer: PeerKey, { prefix, data }: WireBlock, nowMs: number): boolean {
    const key = blockKeyFor(prefix.hashCode, prefix.digestBytes, data)
    if (key === undefined) {
      this.#core.receiveUnasked(peer, nowMs)
      return false
    }
    const isWanted = this.#core.receiveBlock(peer, key, data.byteLength, nowMs).kind === 'wanted'
    if (isWanted) this.#waiting.get(key)?.resolve(data)
    if (isWanted) this.#waiting.delete(key)
    return isWanted
  }

  /** Events of one turn of the event loop are answered together, so that wants leave in few messages. */
  #schedule(): void {
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined
      this.#carryOut(this.#core.decide(performance.now()))
      this.#sleep()
    })
  }

  #sleep(): void {
    clearTimeout(this.#timer)
    const wakeAtMs = this.#core.wakeAtMs()
    if (wakeAtMs === undefined) return
    const tick = (): void => {
      this.#carryOut(this.#core.tick(performance.now()))
      this.#sleep()
    }
    this.#timer = setTimeout(tick, Math.min(Math.max(wakeAtMs - performance.now(), 0), 1_000))
  }

  #carryOut(commands: readonly Command[]): void {
    for (const command of commands) {
      // Of the others, `timed-out` is for progress bars, and there is no routing here to find providers in.
      if (command.type === 'send') void this.#lines.get(command.peer)?.send({ entries: command.entries.map(wantlistEntry) })
      if (command.type === 'give-up') this.#giveUp(command.key, command.reason)
    }
  }

  #giveUp(key: BlockKey, reason: string): void {
    this.#waiting.get(key)?.reject(new NotFoundError(reason))
    this.#waiting.delete(key)
    this.#core.dropWant(0, key, performance.now())
  }
}
