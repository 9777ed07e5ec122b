import type { Figures, WantEntry } from '@shardswap/broker'
import type { BlockKey, CID, PeerKey } from '@shardswap/interface'
import type { Timer } from './timers.ts'

/** Figures that count. */
export type Tally = { -readonly [name in keyof Figures]: Figures[name] }

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
  /** Up to when the peer's arrivals were looked at, and what they were then: a deadline stands still while bytes come. */
  checkedAtMs: number
  checkedBytes: number
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
  readonly tally: Tally
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
  /** Smoothed with the gains of RFC 6298; the variation is of no use while the latency is undefined. */
  latencyMs: number | undefined
  latencyVariationMs: number
  /** All that arrived, bar what was of no use. */
  arrivedBytes: number
  lastBytesAtMs: number
  bytesPerMs: number | undefined
  rateFromMs: number
  rateFromBytes: number
  /** By key, oldest first. */
  readonly past: Map<BlockKey, PastAsk>
  readonly tally: Tally
}

/** A block's size before anything is known of it, as in ours. */
const unknownBlockBytes = 256 * 1024

/** Keys remembered per peer, so that a block that was asked for and comes late is a duplicate and not unasked. */
const pastKeysMax = 4096

export function newTally(): Tally {
  return {
    wantBlocksSent: 0,
    wantHavesSent: 0,
    blocks: 0,
    bytes: 0,
    duplicateBlocks: 0,
    duplicateBytes: 0,
    timeouts: 0,
    dontHaves: 0,
    unaskedBlocks: 0
  }
}

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
    latencyMs: undefined,
    latencyVariationMs: 0,
    arrivedBytes: 0,
    lastBytesAtMs: Number.NEGATIVE_INFINITY,
    bytesPerMs: undefined,
    rateFromMs: nowMs,
    rateFromBytes: 0,
    past: new Map(),
    tally: newTally()
  }
}

export function newSession(id: number, fixed: ReadonlySet<PeerKey> | undefined, nowMs: number): Session {
  return { id, fixed, wants: new Map(), tally: newTally(), averageBytes: unknownBlockBytes, progressAtMs: nowMs }
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
