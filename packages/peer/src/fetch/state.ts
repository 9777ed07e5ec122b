import type { BlockKey, CID, PeerKey } from '@shardswap/interface'
import type { PeerLimits } from '../limits.ts'
import { Past } from './past.ts'

/**
 * What we asked one peer about one want.
 * - `have-asked`: a want-have is out. - `have`: the peer said HAVE. - `in-flight`: a want-block is out.
 * - `dont-have`: the peer said DONT_HAVE; the want still stands there, so a late block may come.
 * - `timed-out`: it had its time; cancelled there, and not asked again before `untilMs`.
 */
export interface Ask {
  readonly want: Want
  readonly peer: PeerState
  state: AskPhase
  /** The peer said HAVE. */
  promised: boolean
}

export type AskPhase =
  | { phase: 'have-asked'; sentAtMs: number; deadlineMs: number }
  | { phase: 'have' }
  | { phase: 'in-flight'; sentAtMs: number; deadlineMs: number; sequence: number; bytes: number }
  | { phase: 'dont-have'; atMs: number }
  | { phase: 'timed-out'; untilMs: number }

/** A block that somebody here waits for, over all sessions. */
export interface Want {
  readonly cid: CID
  readonly key: BlockKey
  readonly sessions: Set<SessionState>
  readonly asks: Map<PeerKey, Ask>
  readonly addedAtMs: number
  /** Want-blocks out for it: 0 or 1, by design. */
  inFlight: number
  /** Want-haves out for it that are not answered yet. */
  havesAsked: number
  /** Set where all said DONT_HAVE or nobody is there: when to ask again. */
  parkedUntilMs: number | undefined
  /** How often it was parked; spaces the next asking out. */
  parkings: number
}

export interface SessionState {
  readonly id: number
  /** Only these are asked, where set. */
  readonly fixed: ReadonlySet<PeerKey> | undefined
  /** Peers that said HAVE or delivered here, and DONT_HAVEs since they last did. */
  readonly providers: Map<PeerKey, number>
  /** Wants to be sent, in order of arrival; those that come back go first. */
  readonly urgent: Map<BlockKey, Want>
  readonly queue: Map<BlockKey, Want>
  readonly parked: Map<BlockKey, Want>
  discoveries: number
  /** The want that came last: the one that peers are probed with. */
  newest: Want | undefined
  /** Peers probed so far, and when to probe them again. */
  readonly probes: Map<PeerKey, { readonly times: number; readonly nextAtMs: number }>
  averageBytes: number
  lastProgressAtMs: number
  nextSearchAtMs: number
  searches: number
  readonly stat: Counters
}

/** As FetchStat, but counting. */
export interface Counters {
  wantsSent: number
  blocks: number
  bytes: number
  duplicateBlocks: number
  duplicateBytes: number
  timeouts: number
  dontHaves: number
  unaskedBlocks: number
}

export interface PeerState {
  readonly key: PeerKey
  connected: boolean
  supportsHave: boolean
  /** What we asked of it, by key, in the order asked. */
  readonly asks: Map<BlockKey, Ask>
  inFlight: number
  inFlightBytes: number
  /** Wants that it said DONT_HAVE to and keeps, should it get them later. */
  standing: number
  /** Want-blocks that it may have in flight now (B11–B15). */
  limit: number
  latencyMs: number | undefined
  latencyVariationMs: number
  /** The shortest that was seen: the way there and back, with nothing queued. */
  latencyMinMs: number | undefined
  bytesPerMs: number | undefined
  /** Bytes since `rateFromMs`, for the next sample of the rate; below 0 where more of those before were of no use. */
  rateBytes: number
  rateFromMs: number
  lastBytesAtMs: number
  nextSequence: number
  deliveredSequence: number
  /** Times of unasked blocks of the last ten minutes. */
  unaskedAtMs: number[]
  shutOutUntilMs: number
  readonly past: Past
  readonly stat: Counters
}

/** A block's size before anything is known of it (B15). */
export const unknownBlockBytes = 256 * 1024

export function newCounters(): Counters {
  return { wantsSent: 0, blocks: 0, bytes: 0, duplicateBlocks: 0, duplicateBytes: 0, timeouts: 0, dontHaves: 0, unaskedBlocks: 0 }
}

export function newPeer(key: PeerKey, limits: PeerLimits, nowMs: number): PeerState {
  return {
    key,
    connected: false,
    supportsHave: true,
    asks: new Map(),
    inFlight: 0,
    inFlightBytes: 0,
    standing: 0,
    limit: limits.wantsInFlightStart,
    latencyMs: undefined,
    latencyVariationMs: 0,
    latencyMinMs: undefined,
    bytesPerMs: undefined,
    rateBytes: 0,
    rateFromMs: nowMs,
    lastBytesAtMs: Number.NEGATIVE_INFINITY,
    nextSequence: 0,
    deliveredSequence: -1,
    unaskedAtMs: [],
    shutOutUntilMs: 0,
    past: new Past(limits.pastWantsMax),
    stat: newCounters()
  }
}

export function newSession(id: number, fixed: ReadonlySet<PeerKey> | undefined, nowMs: number): SessionState {
  return {
    id,
    fixed,
    providers: new Map(),
    urgent: new Map(),
    queue: new Map(),
    parked: new Map(),
    discoveries: 0,
    newest: undefined,
    probes: new Map(),
    averageBytes: unknownBlockBytes,
    lastProgressAtMs: nowMs,
    nextSearchAtMs: nowMs,
    searches: 0,
    stat: newCounters()
  }
}

export function newWant(cid: CID, key: BlockKey, nowMs: number): Want {
  return {
    cid,
    key,
    sessions: new Set(),
    asks: new Map(),
    addedAtMs: nowMs,
    inFlight: 0,
    havesAsked: 0,
    parkedUntilMs: undefined,
    parkings: 0
  }
}
