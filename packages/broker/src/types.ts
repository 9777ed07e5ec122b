import type { BlockKey, CID, PeerKey } from '@shardswap/interface'

/** A session, as its shell numbers it. */
export type SessionId = number

/** How a session is to be, beyond its number. */
export interface SessionInit {
  /** Only these peers are asked, ever; no broadcast, no search. */
  readonly fixedPeers?: ReadonlySet<PeerKey> | undefined
}

/** One line of a message to a peer. */
export interface WantEntry {
  readonly type: 'want-block' | 'want-have' | 'cancel'
  readonly cid: CID
  readonly key: BlockKey
}

/** What the shell is to do. */
export type Command =
  /** One message, in this order (B25). No key stands in it twice. */
  | { readonly type: 'send'; readonly peer: PeerKey; readonly entries: readonly WantEntry[] }
  /** A want-block had its time at this peer; for progress, nothing is to be done. */
  | { readonly type: 'timed-out'; readonly peer: PeerKey; readonly cid: CID; readonly key: BlockKey }
  /**
   * Nothing went on for this want for too long. Waiters without a signal of their own end; the shell drops their wants.
   * `isAlone`: no peer was connected that could have been asked.
   */
  | { readonly type: 'give-up'; readonly key: BlockKey; readonly reason: string; readonly isAlone: boolean }
  /** Look for providers in routing, connect to some, and tell of each by `providerFound`. */
  | { readonly type: 'find-providers'; readonly session: SessionId; readonly cid: CID }

/** What a block that came from a peer was. */
export type Arrival =
  | { readonly kind: 'wanted'; readonly cid: CID; readonly sessions: readonly SessionId[] }
  /** Asked for once; `isAgain` where that answer had come before. */
  | { readonly kind: 'duplicate'; readonly isAgain: boolean }
  | { readonly kind: 'unasked'; readonly shutOut: boolean }

/** A want of ours as a remote is to know it. */
export interface Standing {
  readonly cid: CID
  readonly key: BlockKey
  readonly wantType: 'block' | 'have'
}

/** What was fetched, in all, by one session or from one peer. Bytes are bytes of blocks. */
export interface Figures {
  readonly wantBlocksSent: number
  /** Of these, sent beside another that had time left (C5). */
  readonly backupsSent: number
  readonly wantHavesSent: number
  readonly blocks: number
  readonly bytes: number
  readonly duplicateBlocks: number
  readonly duplicateBytes: number
  readonly timeouts: number
  readonly dontHaves: number
  /** Blocks that nobody here had asked for; dropped. */
  readonly unaskedBlocks: number
}

/** How one peer's want queue stands. */
export interface QueueFigures {
  readonly peer: PeerKey
  readonly connected: boolean
  /** Want-blocks sent and not answered. */
  readonly inFlight: number
  /** What they are taken for, in bytes. */
  readonly inFlightBytes: number
  /** Want-blocks besides, for which another peer was asked first (C5). */
  readonly backups: number
  /** Want-haves that stand there. */
  readonly haves: number
  /** How full it is, 0 to 1 (B18). */
  readonly depth: number
  /** Want-blocks that may be in flight over all sessions (B15). */
  readonly limitWants: number
  readonly windowBytes: number
  readonly latencyMs: number | undefined
  readonly bytesPerS: number | undefined
  readonly figures: Figures
}

/** How one session stands. */
export interface SessionFigures {
  readonly potential: number
  readonly wants: number
  readonly inFlight: number
  /** Peers that it knows for this DAG: kept until it ends, whether anything is wanted or not. */
  readonly knownPeers: number
  readonly figures: Figures
}

/** Sizes of what is held. All but `peers` are 0 once every session has ended and the primaries whose backups were quicker have had their time (P6). */
export interface Gauges {
  readonly peers: number
  readonly sessions: number
  readonly wants: number
  readonly inFlight: number
  readonly inFlightBytes: number
  /** Want-blocks that are out beside others. */
  readonly backups: number
  readonly haves: number
  /** Copies, candidates, lines and whatever else is kept per want or session and peer. */
  readonly records: number
}

/**
 * The fetching half as a pure machine: events change its state, `decide` and
 * `tick` return what to do. The peer's shell, the simulator and its baseline
 * policies all have this face. Times are milliseconds on one clock that never
 * jumps. Nothing here throws for what the network does.
 */
export interface ExchangeCore {
  /** A new session under a number that no open one has. */
  openSession(id: SessionId, init: SessionInit, nowMs: number): void
  /** Its wants are dropped, and cancelled where nobody else has them. */
  closeSession(id: SessionId, nowMs: number): void
  /** The session wants a block. Nothing happens where it wants it already, or is closed. */
  addWant(id: SessionId, cid: CID, key: BlockKey, nowMs: number): void
  /** The session no longer wants it; the last to go cancels it everywhere. */
  dropWant(id: SessionId, key: BlockKey, nowMs: number): void

  /** Also when what it supports changes. Wants of before a disconnect are matched anew. */
  connectPeer(peer: PeerKey, supportsHave: boolean, nowMs: number): void
  /** The peer is gone: what was in flight there goes to others. What is known of it is kept for a while. */
  disconnectPeer(peer: PeerKey, nowMs: number): void
  /** Routing named this peer for a CID of the session; it is connected. */
  providerFound(id: SessionId, peer: PeerKey, nowMs: number): void
  /** The peer asked us for this block: it may fetch the same DAG (B7). */
  peerWants(peer: PeerKey, key: BlockKey, nowMs: number): void

  /** Bytes arrived, of whole messages or parts of one. */
  receiveBytes(peer: PeerKey, bytes: number, nowMs: number): void
  /**
   * Our own reading is held back, since the store is behind, or goes on. What peers sent meanwhile waits unread: deadlines
   * stand still, and silence is held against nobody.
   */
  holdReading(isHeld: boolean, nowMs: number): void
  /** A whole message of so many bytes held nothing that was asked for. */
  receiveTalk(peer: PeerKey, bytes: number): void
  /** A block arrived, verified to have this key. It is no longer wanted afterwards. */
  receiveBlock(peer: PeerKey, key: BlockKey, bytes: number, nowMs: number): Arrival
  /** A block that cannot be verified or that nobody asked for. Returns whether the peer is shut out for it now. */
  receiveUnasked(peer: PeerKey, nowMs: number): boolean
  /** The peer said whether it has a block. */
  receivePresence(peer: PeerKey, key: BlockKey, presence: 'have' | 'dont-have', nowMs: number): void
  /** What the peer says that it still has queued for us (B18). */
  receivePendingBytes(peer: PeerKey, bytes: number, nowMs: number): void
  /** The peer says that it refuses wants for load, for so long: what it denies meanwhile it may have, and its queue is full (B18). */
  receiveBusy(peer: PeerKey, forMs: number, nowMs: number): void
  /** The block came by other means: nobody need send it. */
  putBlock(key: BlockKey, nowMs: number): void

  /** All that a peer is to know of our wants: for the first message on a new stream. */
  standingAt(peer: PeerKey): Standing[]
  /** Everything to be done now, after events. */
  decide(nowMs: number): Command[]
  /** As `decide`, after ending what is past its time; to be called when `wakeAtMs` says. */
  tick(nowMs: number): Command[]
  /** When `tick` would next find something to do, or undefined; 0: `decide` has more to do than it does at once, and is to be called again. */
  wakeAtMs(): number | undefined

  /** What was fetched, in all. */
  readonly total: Figures
  /** How a session stands; undefined once it is closed. */
  session(id: SessionId): SessionFigures | undefined
  /** How the queue of each peer stands that is remembered, connected or not. */
  queues(): readonly QueueFigures[]
  /** How much is held now. */
  gauges(): Gauges
}
