import type { BlockKey, CID, PeerKey } from '@shardswap/interface'
import type { Role } from '@shardswap/reliability'
import type { BlockView, Phase, Session, Stance } from '@shardswap/session'
import type { Counters } from './counters.ts'
import type { PeerQueue } from './queue.ts'
import type { SessionId } from './types.ts'

/** A session that the broker runs. */
export interface Member {
  readonly id: SessionId
  readonly session: Session
  readonly figures: Counters
}

/** A block that sessions want, with what stands at peers for it. */
export class Wanted implements BlockView {
  readonly cid: CID
  readonly key: BlockKey
  readonly members = new Set<Member>()
  readonly stances = new Map<PeerKey, Copy>()
  inFlight = 0
  havesAsked = 0

  constructor(cid: CID, key: BlockKey) {
    this.cid = cid
    this.key = key
  }
}

/** One want at one peer. Its phases are those of `Stance`; `moveCopy` is the only one to change them. */
export interface Copy extends Stance {
  readonly wanted: Wanted
  readonly peer: PeerQueue
  phase: Phase
  sinceMs: number
  restMs: number
  promised: boolean
  /** It was a want-block once that had its time, or whose promise was broken. */
  failed: boolean
  /** Want-haves that had their time. */
  unanswered: number
  /** For phases `have-asked` and `in-flight`. */
  deadlineMs: number
  /** When the deadline is looked at next; entries of other times are stale. */
  checkMs: number
  /** For `in-flight`: number and bytes taken for it in the peer's queue, and whose limit it counts to. */
  sequence: number
  bytes: number
  /** Bytes that have to come before its answer, its own included, as far as was known. */
  queuedBytes: number
  owner: Member | undefined
  /** For `in-flight`: in its turn, or beside another (C5); what was forecast for it, 0 to 1; and from when on it is late, Infinity where that was seen to. */
  role: Role
  failChance: number
  lateMs: number
  /** For `in-flight`: what the peer had delivered when it was asked, in bytes, and whether no more could be in flight with it. */
  deliveredBefore: number
  filledWindow: boolean
  /** Whether a want-block or a want-have of ours stands at the remote, as far as it keeps one. */
  remote: 'block' | 'have' | undefined
  /** A message with it has left. */
  isReleased: boolean
}

/** The first that was added, of those that are left. */
export function firstOf<T>(set: ReadonlySet<T>): T | undefined {
  return set.values().next().value
}
