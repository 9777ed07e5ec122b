import type { LateReason, Outcome, ReliabilityCore, Turn } from '@shardswap/reliability'
import type { Copy, Member } from './blocks.ts'
import type { Hearing } from './hearing.ts'
import type { Peers } from './peers.ts'
import type { PeerQueue } from './queue.ts'

/** How likely it is that a peer that said HAVE has the block still. */
const promisedPresence = 0.99
/** A weight that moved by less is brought to the sessions by their next look at the peer. */
const rescoreShare = 0.05

/** What peers do, told to the reliability layer, and what it says of them, brought to their queues and to the sessions. */
export class Conduct {
  readonly #reliability: ReliabilityCore
  readonly #members: () => Iterable<Member>
  readonly #peers: Peers
  readonly #hearing: Hearing

  constructor(reliability: ReliabilityCore, members: () => Iterable<Member>, peers: Peers, hearing: Hearing) {
    this.#reliability = reliability
    this.#hearing = hearing
    this.#members = members
    this.#peers = peers
  }

  /** What is to be expected of one want-block there, before it is sent. */
  failChance(member: Member, queue: PeerQueue, isPromised: boolean, nowMs: number): number {
    const presence = isPromised ? promisedPresence : member.session.hitRate(queue.key)
    return this.#reliability.failChance(queue.key, { presence, quietMs: this.#hearing.quietMs(queue, nowMs) })
  }

  /** A want-block was sent. */
  asked(copy: Copy, failChance: number, nowMs: number): void {
    copy.failChance = failChance
    copy.lateMs = copy.role === 'backup' ? Number.POSITIVE_INFINITY : this.#lateMs(copy, 'late')
    this.#reliability.asked(turnOf(copy), nowMs)
  }

  /** The fetch may be at its end: a want-block is late sooner. Returns whether that changed. */
  hurry(copy: Copy): boolean {
    if (copy.role === 'backup' || copy.lateMs === Number.POSITIVE_INFINITY) return false
    const lateMs = this.#lateMs(copy, 'endgame')
    if (lateMs >= copy.lateMs) return false
    copy.lateMs = lateMs
    return true
  }

  #lateMs(copy: Copy, reason: LateReason): number {
    return copy.sinceMs + this.#reliability.lateAfterMs(copy.peer.key, copy.queuedBytes, reason)
  }

  /** A want-block is over; to be told while the copy is in flight still, as it were. `bytes`: the block's, where it came. */
  settle(copy: Copy, outcome: Outcome, nowMs: number, bytes = 0): void {
    if (copy.phase !== 'in-flight') return
    const latencyMs = nowMs - copy.sinceMs
    const delivery = outcome === 'success' ? { latencyMs, bytes, queuedBytes: copy.queuedBytes } : undefined
    this.#reliability.settled(turnOf(copy), outcome, nowMs, delivery)
    // A backup's is brought along with the next of its peer's own turns: when it is must not depend on others' failures (invariant 7).
    if (copy.role === 'primary') this.#learn(copy.peer, nowMs)
  }

  /** The peer connected: how it stands, and whether it is shut out for what it did before. */
  meet(queue: PeerQueue, nowMs: number): void {
    this.#reliability.peerConnected(queue.key, nowMs)
    this.#bar(queue, nowMs)
    this.#learn(queue, nowMs)
  }

  /** The peer sent a block that nobody asked for. Returns whether that was once too often: it is shut out from now on. */
  suspect(queue: PeerQueue, nowMs: number): boolean {
    this.#reliability.receivedBad(queue.key, nowMs)
    if (!queue.suspect(nowMs)) return false
    this.#reliability.failedHard(queue.key, nowMs)
    this.#bar(queue, nowMs)
    return true
  }

  /** Only here, where nothing is in flight or all of it ends: a session must not wait for one that gets nothing. */
  #bar(queue: PeerQueue, nowMs: number): void {
    queue.shutOutUntilMs = Math.max(queue.shutOutUntilMs, this.#reliability.standing(queue.key, nowMs).shutOutUntilMs)
  }

  /** Brings to the peer's queue how it stands. */
  #learn(queue: PeerQueue, nowMs: number): void {
    const { weight, isVetted } = this.#reliability.standing(queue.key, nowMs)
    queue.isDoubtful = this.#reliability.isDoubtful(queue.key)
    if (isVetted === queue.isVetted && Math.abs(weight - queue.score) <= rescoreShare * queue.score) return
    queue.score = weight
    queue.isVetted = isVetted
    this.#peers.sort(queue)
    for (const { session } of this.#members()) session.rescored(queue.key)
  }
}

function turnOf({ wanted, peer, role, failChance }: Copy): Turn {
  return { key: wanted.key, peer: peer.key, role, failChance }
}
