/** Limits of the broker: names with their units; each has a line in docs/limits.md. */
export interface BrokerLimits {
  /** Want-blocks in flight at one peer over all sessions, to begin with (B15). */
  readonly queueWantsStart: number
  /** All that stands at one peer at most: want-blocks, want-haves, and wants that it denied and keeps. */
  readonly queueWantsMax: number
  /** Want-haves that stand at one peer. */
  readonly queueHavesMax: number
  /** Wants left standing at one peer that said DONT_HAVE. */
  readonly standingWantsMax: number
  /** Bytes of want-blocks in flight at one peer before its rate is known. */
  readonly windowStartBytes: number
  /** The same at a peer that is the only one connected: whatever is held back from it, nobody else could be asked for. */
  readonly windowStartAloneBytes: number
  /** Bytes of want-blocks in flight at one peer, however slow it seems; one block more may always begin. */
  readonly windowMinBytes: number
  /** Bytes of want-blocks in flight at one peer, at most, unless it is so far away that more are on their way at its rate. */
  readonly windowNearMaxBytes: number
  /** Bytes of want-blocks in flight at one peer, at most. */
  readonly windowMaxBytes: number
  /** What a peer may have queued for us beyond its latency, in milliseconds at its rate. */
  readonly windowSlackMs: number
  /** Bytes of want-blocks in flight over all peers: what can arrive at once. */
  readonly inFlightBytesMax: number
  /** Want-blocks in flight over all peers beside those of their turns; each was paid for from the budget of backups. */
  readonly backupsInFlightMax: number
  /** How long a peer of which no latency is known may take. */
  readonly timeoutStartMs: number
  /** Bounds of latency and its variation in a deadline, before the bytes asked ahead are added (B15). */
  readonly timeoutMinMs: number
  readonly timeoutMaxMs: number
  /** A message that is neither full nor settled waits so long at most (B25). */
  readonly holdMs: number
  /** Answers of sessions taken in one `decide`; the next call goes on. */
  readonly decisionsMax: number
  /** Peers that are not connected but remembered. */
  readonly peersRememberedMax: number
  /** Keys of past wants remembered for each peer, to tell a late block from one nobody asked for. */
  readonly pastWantsMax: number
  /** Unasked blocks within ten minutes that shut a peer out. */
  readonly unaskedBlocksMax: number
  /** How long a peer that sent them gets no wants. */
  readonly shutOutMs: number
}

const MiB = 1024 * 1024

/** The defaults; the reasons stand in docs/limits.md. */
export const defaultBrokerLimits: BrokerLimits = {
  queueWantsStart: 128,
  queueWantsMax: 1024,
  queueHavesMax: 512,
  standingWantsMax: 256,
  windowStartBytes: 2 * MiB,
  windowStartAloneBytes: 4 * MiB,
  windowMinBytes: 128 * 1024,
  windowNearMaxBytes: 16 * MiB,
  windowMaxBytes: 32 * MiB,
  windowSlackMs: 30,
  inFlightBytesMax: 64 * MiB,
  backupsInFlightMax: 64,
  timeoutStartMs: 1000,
  timeoutMinMs: 50,
  timeoutMaxMs: 7000,
  holdMs: 5,
  decisionsMax: 4096,
  peersRememberedMax: 1000,
  pastWantsMax: 4096,
  unaskedBlocksMax: 3,
  shutOutMs: 24 * 60 * 60 * 1000
}
