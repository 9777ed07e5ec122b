import { defaultBrokerLimits, newCounters, Timing, type Counters, type WantEntry } from '@shardswap/broker'
import type { BlockKey, CID, PeerKey } from '@shardswap/interface'
import type { Timer } from './timers.ts'

export type WantType = 'want-block' | 'want-have'

/**
 * How an ask stands.
 * - `queued`: its line waits in the peer's outbox. - `open`: it is out and not answered.
 * - `have`, `dont-have`: what the peer said. - `late`: it had its time and still stands there.
 */
type AskPhase = 'queued' | 'open' | 'have' | 'dont-have' | 'late'

/** What one peer was asked about one want; it stands at the remote until it is cancelled. */
export interface Ask {
  readonly want: Want
  readonly peer: Peer
  /** The session that asked first; its figures count it. */
  readonly session: Session
  type: WantType
  phase: AskPhase
  /** What its block is taken for, while it counts as in flight. */
  readonly bytes: number
  /** When its line was last sent; undefined as long as the remote knows nothing of it. */
  sentAtMs: number | undefined
  /** Whether anything was said to it since it was last sent. */
  answered: boolean
  deadline: Timer | undefined
  /** Among all that the peer was sent. */
  sequence: number
  /** When `deadline` was set; by deadlines that are looked at before their time, when that is. */
  checkedAtMs: number
  dueAtMs: number
}

/** A block that sessions here wait for. */
export interface Want {
  readonly cid: CID
  readonly key: BlockKey
  readonly sessions: Set<Session>
  readonly asks: Map<PeerKey, Ask>
  readonly addedAtMs: number
  /** Want-blocks out for it and within their time. */
  inFlight: number
  giveUp: Timer | undefined
}

export interface Session {
  readonly id: number
  readonly fixed: ReadonlySet<PeerKey> | undefined
  readonly wants: Map<BlockKey, Want>
  readonly tally: Counters
  averageBytes: number
  /** When its last block came, or when it was opened. */
  progressAtMs: number
}

/** What is remembered of an ask that has ended. */
interface PastAsk {
  readonly session: Session
  hasCome: boolean
}

export interface Peer {
  readonly key: PeerKey
  /** In which order peers were met. */
  readonly order: number
  connected: boolean
  supportsHave: boolean
  readonly asks: Map<BlockKey, Ask>
  /** Lines that wait to be sent; one a block. */
  readonly outbox: Map<BlockKey, WantEntry>
  /** Since when there are some. */
  outboxSinceMs: number
  lastSentAtMs: number
  /** Set where the outbox is held back for a while. */
  release: Timer | undefined
  inFlight: number
  inFlightBytes: number
  haves: number
  /** Bytes of what has been sent, of `inFlightBytes`. */
  sentBytes: number
  nextSequence: number
  /** As ours measures latency and rate. */
  readonly timing: Timing
  /** By key, oldest first. */
  readonly past: Map<BlockKey, PastAsk>
  readonly tally: Counters
}

/** A block's size before anything is known of it, as in ours. */
const unknownBlockBytes = 256 * 1024

/** Keys remembered per peer, so that a block that was asked for and comes late is a duplicate and not unasked. */
const pastKeysMax = 4096

export function newPeer(key: PeerKey, order: number, nowMs: number): Peer {
  return {
    key,
    order,
    connected: false,
    supportsHave: true,
    asks: new Map(),
    outbox: new Map(),
    outboxSinceMs: nowMs,
    lastSentAtMs: Number.NEGATIVE_INFINITY,
    release: undefined,
    inFlight: 0,
    inFlightBytes: 0,
    haves: 0,
    sentBytes: 0,
    nextSequence: 0,
    timing: new Timing(defaultBrokerLimits),
    past: new Map(),
    tally: newCounters()
  }
}

export function newSession(id: number, fixed: ReadonlySet<PeerKey> | undefined, nowMs: number): Session {
  return { id, fixed, wants: new Map(), tally: newCounters(), averageBytes: unknownBlockBytes, progressAtMs: nowMs }
}

/** Whether the ask is a want-block whose answer is still waited for. */
export function isInFlight(ask: Ask): boolean {
  return ask.type === 'want-block' && (ask.phase === 'queued' || ask.phase === 'open')
}

/** Whether the ask is a want-have whose answer is still waited for. */
export function isHaveAsked(ask: Ask): boolean {
  return ask.type === 'want-have' && (ask.phase === 'queued' || ask.phase === 'open')
}

/** Remembers that the peer was asked, and forgets the oldest where too much is remembered. */
export function remember(peer: Peer, key: BlockKey, session: Session): void {
  peer.past.delete(key)
  peer.past.set(key, { session, hasCome: false })
  if (peer.past.size <= pastKeysMax) return
  for (const oldest of peer.past.keys()) {
    peer.past.delete(oldest)
    return
  }
}
