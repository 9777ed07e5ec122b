/** Limits of a session: names with their units; each has a line in docs/limits.md. */
export interface SessionLimits {
  /** Want-blocks in flight at a peer that has not delivered to this session yet (N of B11). */
  readonly wantsInFlightStart: number
  /** Want-blocks that one session may have in flight at one peer, however much it delivers. */
  readonly wantsInFlightMax: number
  /** Peers asked at once for a session's first CID; each further wave is twice as large (B4). */
  readonly waveStartPeers: number
  /** Peers asked at once, at most. */
  readonly waveMaxPeers: number
  /** Blocks of one session for which peers are looked for at once, once one provider is known. */
  readonly discoveriesMax: number
  /** Providers that one session keeps weights of. */
  readonly candidatesMax: number
  /** Peers known to fetch the same DAG that share the provider's work with us. */
  readonly partnersMax: number
  /** How soon connected peers that had nothing are asked again (B7); doubles up to `probeMaxMs`. */
  readonly probeStartMs: number
  readonly probeMaxMs: number
  /** How soon a want that nobody has is asked for again; doubles up to a minute. */
  readonly askAgainMs: number
  /** How soon a second search in routing may follow the first; doubles up to `searchMaxMs`. */
  readonly searchStartMs: number
  readonly searchMaxMs: number
  /** Time between searches for providers of a random want that is still open (B6). */
  readonly searchAnyMs: number
  /** Without progress for so long, and without a signal of its caller's, a want ends with NotFoundError. */
  readonly giveUpMs: number
}

/** The defaults; the reasons stand in docs/limits.md. */
export const defaultSessionLimits: SessionLimits = {
  wantsInFlightStart: 8,
  wantsInFlightMax: 1024,
  waveStartPeers: 16,
  waveMaxPeers: 256,
  discoveriesMax: 512,
  candidatesMax: 1024,
  partnersMax: 16,
  probeStartMs: 100,
  probeMaxMs: 30_000,
  askAgainMs: 5000,
  searchStartMs: 1000,
  searchMaxMs: 60_000,
  searchAnyMs: 60_000,
  giveUpMs: 60_000
}
