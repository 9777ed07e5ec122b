import { assert, type BlockKey } from '@shardswap/interface'
import type { Role } from '@shardswap/reliability'
import type { Ask } from '@shardswap/session'
import type { Copy, Member, Wanted } from './blocks.ts'
import { clearRemote, isStanding, moveCopy, newCopy } from './copies.ts'
import type { Parts } from './parts.ts'
import type { PeerQueue } from './queue.ts'

/** How a want gets into a peer's queue and message. */
export class Asking {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Puts a line for the peer into its message, and its copy in flight. Returns the copy. */
  ask(member: Member, wanted: Wanted, { peer, type, isContested }: Ask, role: Role, nowMs: number): Copy {
    const queue = peer as PeerQueue
    const copy = wanted.stances.get(queue.key) ?? newCopy(wanted, queue)
    assert(copy.phase !== 'in-flight' && queue.isConnected, 'no want is sent twice to a peer, nor to one that is gone')
    const figures = [this.#parts.total, queue.figures, member.figures]
    if (type === 'want-have') {
      moveCopy(copy, { phase: 'have-asked', deadlineMs: nowMs + queue.timing.timeoutMs(queue.aheadBytes) }, this.#parts.inFlight, nowMs)
      for (const counters of figures) counters.wantHavesSent += 1
    } else {
      this.#askBlock(member, copy, role, nowMs)
      for (const counters of figures) counters.wantBlocksSent += 1
      if (role === 'backup') for (const counters of figures) counters.backupsSent += 1
      if (isContested === true) this.#parts.reliability.picked(queue.isVetted)
    }
    this.#parts.deadlines.watch(copy, nowMs)
    this.#parts.outbox.ask(queue, type, wanted, nowMs)
    if (type === 'want-block' && !queue.fits(copy.bytes)) this.#parts.outbox.release(queue)
    return copy
  }

  #askBlock(member: Member, copy: Copy, role: Role, nowMs: number): void {
    const { wanted, peer } = copy
    const bytes = member.session.sizes.expected(wanted.cid)
    if (role === 'primary') this.#recall(wanted, peer, nowMs)
    const failChance = this.#parts.conduct.failChance(member, peer, copy.promised, nowMs)
    const deadlineMs = nowMs + peer.timing.timeoutMs(peer.aheadBytes + bytes)
    moveCopy(copy, { phase: 'in-flight', bytes, owner: member, deadlineMs, role }, this.#parts.inFlight, nowMs)
    this.#parts.conduct.asked(copy, failChance, nowMs)
  }

  /** What is left of a session is on its way, and little: what is late now holds its end up. */
  hurry(member: Member, blocks: ReadonlyMap<BlockKey, Wanted>, nowMs: number): void {
    for (const key of member.session.keys()) {
      for (const copy of blocks.get(key)?.stances.values() ?? []) {
        if (copy.phase !== 'in-flight' || copy.owner !== member || !this.#parts.conduct.hurry(copy)) continue
        this.#parts.deadlines.watch(copy, nowMs)
      }
    }
  }

  /** Before another peer is asked for a block, those who denied it and would send it later are told not to. */
  #recall(wanted: Wanted, but: PeerQueue, nowMs: number): void {
    for (const copy of wanted.stances.values()) {
      if (!isStanding(copy) || copy.remote !== 'block' || copy.peer === but) continue
      this.#parts.outbox.cancel(copy, nowMs)
      clearRemote(copy)
    }
  }
}
