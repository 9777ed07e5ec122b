import { assert } from '@shardswap/interface'
import type { Role } from '@shardswap/reliability'
import { type Copy, firstOf, type Member, type Wanted } from './blocks.ts'
import type { PeerQueue } from './queue.ts'

/** What is out over all peers. */
export interface InFlight {
  /** Want-blocks, and what they are taken for. */
  wants: number
  bytes: number
  /** Of want-blocks, those that went to a second peer: they take nobody's space (invariant 7), and are bounded by their budget. */
  backups: number
  /** Want-haves that are not answered. */
  haves: number
}

type Next =
  | { readonly phase: 'in-flight'; readonly bytes: number; readonly owner: Member; readonly deadlineMs: number; readonly role: Role }
  | { readonly phase: 'have-asked'; readonly deadlineMs: number }
  | { readonly phase: 'have' }
  | { readonly phase: 'dont-have' }
  | { readonly phase: 'timed-out'; readonly restMs: number }

/** A copy that nothing was asked for yet; `moveCopy` must follow. */
export function newCopy(wanted: Wanted, peer: PeerQueue): Copy {
  return {
    wanted,
    peer,
    phase: 'have',
    sinceMs: 0,
    restMs: 0,
    promised: false,
    failed: false,
    unanswered: 0,
    deadlineMs: 0,
    checkMs: 0,
    sequence: 0,
    bytes: 0,
    queuedBytes: 0,
    owner: undefined,
    role: 'primary',
    failChance: 0,
    lateMs: Number.POSITIVE_INFINITY,
    deliveredBefore: 0,
    filledWindow: false,
    remote: undefined,
    isReleased: false
  }
}

/**
 * Moves a copy to a phase and keeps the sums of peer, block and session right: with `dropCopy` the only one to touch
 * them. What became of a want-block that leaves its phase is the caller's to settle.
 */
export function moveCopy(copy: Copy, next: Next, total: InFlight, nowMs: number): void {
  const { wanted, peer } = copy
  if (wanted.stances.get(peer.key) === copy) leave(copy, total)
  else {
    wanted.stances.set(peer.key, copy)
    peer.copies.set(wanted.key, copy)
  }
  copy.phase = next.phase
  copy.sinceMs = nowMs
  if (next.phase === 'in-flight') {
    enter(copy, next, total, nowMs)
  } else if (next.phase === 'have-asked') {
    copy.remote ??= 'have'
    copy.deadlineMs = next.deadlineMs
    copy.queuedBytes = peer.aheadBytes
    wanted.havesAsked += 1
    peer.haves += 1
    total.haves += 1
  } else if (next.phase === 'dont-have') {
    if (copy.remote !== undefined) peer.standing += 1
  } else if (next.phase === 'have') {
    // A HAVE ends a want-have at the remote; a want-block stands on.
    copy.promised = true
    if (copy.remote === 'have') copy.remote = undefined
    if (copy.remote !== undefined) peer.standing += 1
  } else {
    copy.remote = undefined
    copy.restMs = next.restMs
  }
}

function enter(copy: Copy, next: Extract<Next, { phase: 'in-flight' }>, total: InFlight, nowMs: number): void {
  const { wanted, peer } = copy
  copy.remote = 'block'
  copy.bytes = next.bytes
  copy.deadlineMs = next.deadlineMs
  copy.owner = next.owner
  copy.role = next.role
  copy.sequence = peer.nextSequence++
  copy.queuedBytes = peer.aheadBytes + next.bytes
  if (peer.blocksAsked === 0) peer.timing.begin(nowMs)
  wanted.inFlight += 1
  if (next.role === 'backup') {
    peer.backups += 1
    peer.backupBytes += next.bytes
    total.backups += 1
  } else {
    peer.inFlight += 1
    peer.inFlightBytes += next.bytes
    total.wants += 1
    total.bytes += next.bytes
  }
  copy.deliveredBefore = peer.timing.deliveredBytes
  copy.filledWindow = !peer.fits(next.bytes)
  if (next.role === 'primary') next.owner.session.sentBlock(peer)
}

/** The remote keeps nothing for this copy any more, since it was told so. */
export function clearRemote(copy: Copy): void {
  if (isStanding(copy)) copy.peer.standing -= 1
  copy.remote = undefined
}

/** Ends a copy. The peer's past keeps its key, so that a late block is told from an unasked one. */
export function dropCopy(copy: Copy, total: InFlight): void {
  const { wanted, peer } = copy
  const session = copy.owner ?? firstOf(wanted.members)
  leave(copy, total)
  wanted.stances.delete(peer.key)
  peer.copies.delete(wanted.key)
  peer.past.add(wanted.key, session?.id)
  // Its stale entry among the deadlines may live for long: the session must not live as long.
  copy.owner = undefined
}

function leave(copy: Copy, total: InFlight): void {
  const { wanted, peer, phase } = copy
  if (phase === 'in-flight') {
    wanted.inFlight -= 1
    if (copy.role === 'backup') {
      peer.backups -= 1
      peer.backupBytes -= copy.bytes
      total.backups -= 1
    } else {
      peer.inFlight -= 1
      peer.inFlightBytes -= copy.bytes
      total.wants -= 1
      total.bytes -= copy.bytes
    }
    assert(wanted.inFlight >= 0 && peer.inFlight >= 0 && peer.backups >= 0, 'no copy leaves twice')
    if (peer.blocksAsked === 0) peer.timing.pause()
    if (copy.role === 'primary') copy.owner?.session.freedBlock(peer.key)
  } else if (phase === 'have-asked') {
    wanted.havesAsked -= 1
    peer.haves -= 1
    total.haves -= 1
  } else if (isStanding(copy)) peer.standing -= 1
}

/** Whether the remote keeps a want that it answered: it denied it, and may have said since that it got it. */
export function isStanding({ phase, remote }: Copy): boolean {
  return remote !== undefined && (phase === 'dont-have' || phase === 'have')
}
