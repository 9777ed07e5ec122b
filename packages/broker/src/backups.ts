import { seededRandom } from '@shardswap/interface'
import type { BackupReason, LateReason, ReliabilityCore } from '@shardswap/reliability'
import type { PeerView } from '@shardswap/session'
import type { Copy, Member, Wanted } from './blocks.ts'
import type { InFlight } from './copies.ts'
import type { Hearing } from './hearing.ts'
import type { PeerQueue } from './queue.ts'

/** What is late, with nobody there to be its backup, is looked at again after so long at least. */
const lookAgainMinMs = 10
/** With so many bytes to come, a block's own included, a peer may pause so long: that is a scheduler's turn or two, at either end. */
const bulkBytes = 256 * 1024
const pauseMinMs = 200
/** What is taken for the chance that a want-block fails that is late. */
const lateFailChance = 0.5
/** The same for all: nothing is to be hidden by these numbers, they only must not come from the die of the primary picks. */
const dieSeed = 0x9e3779b9

/**
 * Second want-blocks of what is in flight (C5), and the primaries that are left their time once their backup has
 * delivered (P6). Backups take no peer's space, and their choice has a die of its own: who is picked in turn is the
 * same with and without them (invariant 7).
 */
export class Backups {
  readonly #reliability: ReliabilityCore
  readonly #inFlightMax: number
  readonly #inFlight: InFlight
  readonly #hearing: Hearing
  readonly #random = seededRandom(dieSeed)
  /** Blocks that are here, each with a primary that has time left. */
  readonly #grace = new Set<Wanted>()

  constructor(reliability: ReliabilityCore, inFlightMax: number, inFlight: InFlight, hearing: Hearing) {
    this.#reliability = reliability
    this.#inFlightMax = inFlightMax
    this.#inFlight = inFlight
    this.#hearing = hearing
  }

  get graces(): number {
    return this.#grace.size
  }

  /** Whom to ask beside the peer of this copy; a token of the budget is taken then. */
  peerFor(copy: Copy, reason: BackupReason, nowMs: number): PeerView | undefined {
    const { wanted, owner, role, bytes } = copy
    if (role === 'backup' || owner === undefined || wanted.inFlight !== 1 || wanted.members.size === 0) return undefined
    if (this.#inFlight.backups >= this.#inFlightMax) return undefined
    const risk = this.#risk(copy, reason, nowMs)
    if (!this.#reliability.takeBackup(reason, risk, nowMs)) return undefined
    // What is late already is as likely to fail as not, however good its peer was.
    const failChance = reason === 'proactive' ? risk : Math.max(risk, lateFailChance)
    const isFit = (peer: PeerView): boolean => this.#isFit(wanted, peer as PeerQueue, bytes, failChance, nowMs)
    const peer = owner.session.backupFor(wanted, isFit, this.#random)
    if (peer === undefined) this.#reliability.returnBackup()
    return peer
  }

  /** What a backup at once is to be weighed by: that the peer fails, not that it lacks the block, which its DONT_HAVE tells as soon as want-haves do. */
  #risk({ peer, failChance }: Copy, reason: BackupReason, nowMs: number): number {
    if (reason !== 'proactive') return failChance
    return Math.min(failChance, this.#reliability.failChance(peer.key, { presence: 1, quietMs: this.#hearing.quietMs(peer, nowMs) }))
  }

  /** It is better than the primary, has space that nobody waits for, and is neither asked for the block already nor at rest for it. */
  #isFit(wanted: Wanted, queue: PeerQueue, bytes: number, failChance: number, nowMs: number): boolean {
    const phase = wanted.stances.get(queue.key)?.phase
    if ((phase !== undefined && phase !== 'have' && phase !== 'have-asked') || !queue.isUsable(nowMs)) return false
    return queue.line.size === 0 && queue.fits(bytes) && this.#reliability.isFitForBackup(queue.key, failChance)
  }

  /**
   * Whether a copy is late now. Behind bytes that still come from its peer it is not, unless what was asked for after it
   * has come; nor where we were deaf ourselves. Of all that waits at a peer that paused, one is late at a time: when that
   * comes, so does the rest. It is looked at again after half as long, should nobody be there now.
   */
  isLate(copy: Copy, nowMs: number): boolean {
    if (copy.phase !== 'in-flight' || nowMs < copy.lateMs) return false
    const { peer, sequence, sinceMs, bytes } = copy
    const isOvertaken = peer.timing.deliveredSequence > sequence
    const pauseMs = copy.queuedBytes >= bulkBytes ? pauseMinMs : 0
    const afterMs = isOvertaken ? 0 : Math.max(pauseMs, this.#reliability.lateAfterMs(peer.key, bytes, this.lateReason(copy)))
    const pausedMs = isOvertaken ? sinceMs : Math.max(peer.timing.lastBytesAtMs, sinceMs, peer.lateAtMs)
    const dueMs = Math.max(this.#hearing.againAtMs, pausedMs + afterMs)
    if (nowMs < dueMs) {
      copy.lateMs = dueMs
      return false
    }
    if (!isOvertaken) peer.lateAtMs = nowMs
    copy.lateMs = nowMs + Math.max(lookAgainMinMs, (nowMs - sinceMs) / 2)
    return true
  }

  lateReason(copy: Copy): LateReason {
    return copy.owner?.session.isEnding === true ? 'endgame' : 'late'
  }

  /** The primary that has time left, where the block came from its backup. */
  primaryOf(wanted: Wanted, deliveredBy: PeerQueue['key']): Copy | undefined {
    const delivered = wanted.stances.get(deliveredBy)
    if (delivered?.phase !== 'in-flight' || delivered.role !== 'backup') return undefined
    for (const copy of wanted.stances.values()) if (copy.phase === 'in-flight' && copy.role === 'primary') return copy
    return undefined
  }

  keep(wanted: Wanted): void {
    wanted.members.clear()
    this.#grace.add(wanted)
  }

  release(wanted: Wanted): void {
    this.#grace.delete(wanted)
  }

  /**
   * The session ends, and its primaries have the rest of their time all the same: who is silent would else never be
   * found out in sessions that are shorter than its deadline. Nobody is told of what becomes of them but the layer.
   */
  orphan(member: Member): void {
    for (const { stances } of this.#grace) {
      for (const copy of stances.values()) {
        if (copy.owner !== member) continue
        if (copy.phase === 'in-flight' && copy.role === 'primary') member.session.freedBlock(copy.peer.key)
        copy.owner = undefined
      }
    }
  }

  /** A block is wanted again whose primary has time left: what is in flight is the new session's (B19). */
  adopt(wanted: Wanted, member: Member): void {
    if (!this.#grace.delete(wanted)) return
    for (const copy of wanted.stances.values()) if (copy.phase === 'in-flight') this.hand(copy, member)
  }

  /** The want-block is another session's from now on. */
  hand(copy: Copy, to: Member): void {
    const from = copy.owner
    copy.owner = to
    if (copy.role === 'backup') return
    from?.session.freedBlock(copy.peer.key)
    to.session.sentBlock(copy.peer)
  }
}
