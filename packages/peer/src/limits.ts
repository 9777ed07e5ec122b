import { InvalidParametersError, messageBytesMax, wantsPerPeerMax } from '@shardswap/interface'

/** Limits of a peer: names with their units, each with a reason below and a line in docs/limits.md. */
export interface PeerLimits {
  /** Without progress for so long, and without a signal of its own, a want ends with NotFoundError. */
  readonly giveUpMs: number
  /** Want-blocks in flight at a peer that has not delivered yet (N of B11). */
  readonly wantsInFlightStart: number
  /** Want-blocks in flight at one peer, at most. */
  readonly wantsInFlightMax: number
  /** Wants left standing at one peer that said DONT_HAVE, at most. */
  readonly standingWantsMax: number
  /** Bytes of want-blocks in flight at one peer whose bandwidth × delay is small or not known. */
  readonly inFlightBytesPerPeerStart: number
  /** Bytes of want-blocks in flight at one peer, at most. */
  readonly inFlightBytesPerPeerMax: number
  /** Bytes of want-blocks in flight over all peers, at most: what can arrive at once. */
  readonly inFlightBytesMax: number
  /** Bytes that one `getMany` asks for ahead of its reader. */
  readonly getManyBytesMax: number
  /** Blocks that one `getMany` asks for ahead of its reader. */
  readonly getManyBlocksMax: number
  /** How long a peer of which no latency is known may take. */
  readonly timeoutStartMs: number
  /** Bounds of latency and its variation in a deadline, before the bytes asked ahead are added. */
  readonly timeoutMinMs: number
  readonly timeoutMaxMs: number
  /** Peers asked at once whether they have a session's block. */
  readonly discoveryPeersMax: number
  /** Blocks of one session looked for among all peers at once. */
  readonly discoveriesMax: number
  /** How soon peers that all said DONT_HAVE are asked again; doubles up to a minute. */
  readonly askAgainMs: number
  /** Providers taken from one search in routing. */
  readonly providersMax: number
  /** Peers that are not connected but remembered. */
  readonly peersRememberedMax: number
  /** Keys of past wants remembered for each peer, to tell a late block from one nobody asked for. */
  readonly pastWantsMax: number
  /** Unasked blocks within ten minutes that shut a peer out. */
  readonly unaskedBlocksMax: number
  /** How long a peer that sent them gets no wants. */
  readonly shutOutMs: number
  /** Bytes of verified blocks that wait for the store; above it, reading pauses. */
  readonly storeBacklogBytesMax: number
  /** Bytes of incomplete messages from one peer, over all its streams. */
  readonly partialBytesPerPeerMax: number
  /** Bytes of incomplete messages over all peers. */
  readonly partialBytesMax: number
  /** Incoming Bitswap streams of one connection. */
  readonly inboundStreamsMax: number
  /** An incomplete message may take so long, plus its bytes at `slowBytesPerS`. */
  readonly messageTimeoutMs: number
  readonly slowBytesPerS: number
  /** How long opening a stream may take. */
  readonly openStreamTimeoutMs: number
  /** Tries to open a stream before the peer counts as gone. */
  readonly openStreamTriesMax: number
  /** How long a connection may answer nothing to what was said on it before it is tried by opening a stream. */
  readonly silentMs: number
  /** How often a peer whose connection was closed as dead is dialled again, while anything is wanted. */
  readonly redialTriesMax: number
  /** Wait before the second of these dials; it doubles, up to a minute. */
  readonly redialDelayMs: number
}

const KiB = 1024
const MiB = 1024 * KiB

export const defaultLimits: PeerLimits = {
  giveUpMs: 60_000,
  wantsInFlightStart: 8,
  wantsInFlightMax: 512,
  standingWantsMax: 256,
  inFlightBytesPerPeerStart: 4 * MiB,
  inFlightBytesPerPeerMax: 12 * MiB,
  inFlightBytesMax: 64 * MiB,
  getManyBytesMax: 32 * MiB,
  getManyBlocksMax: 4096,
  timeoutStartMs: 1000,
  timeoutMinMs: 250,
  timeoutMaxMs: 7000,
  discoveryPeersMax: 16,
  discoveriesMax: 16,
  askAgainMs: 5000,
  providersMax: 10,
  peersRememberedMax: 1000,
  pastWantsMax: 4096,
  unaskedBlocksMax: 3,
  shutOutMs: 24 * 60 * 60 * 1000,
  storeBacklogBytesMax: 16 * MiB,
  partialBytesPerPeerMax: 32 * MiB,
  partialBytesMax: 256 * MiB,
  inboundStreamsMax: 1024,
  messageTimeoutMs: 30_000,
  slowBytesPerS: 1024,
  openStreamTimeoutMs: 10_000,
  openStreamTriesMax: 3,
  silentMs: 10_000,
  redialTriesMax: 8,
  redialDelayMs: 1000
}

/** The defaults with the caller's changes. Throws InvalidParametersError where no peer could work with them. */
export function peerLimits(changes: Partial<PeerLimits> = {}): PeerLimits {
  const limits = { ...defaultLimits, ...changes }
  for (const [name, value] of Object.entries(limits)) {
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 1) {
      throw new InvalidParametersError(`limit ${name} must be a finite number of at least 1, not ${String(value)}`)
    }
  }
  if (limits.wantsInFlightMax + limits.standingWantsMax > wantsPerPeerMax) {
    throw new InvalidParametersError(
      `limits wantsInFlightMax and standingWantsMax together must not exceed ${wantsPerPeerMax}: servers keep no more`
    )
  }
  if (limits.wantsInFlightStart > limits.wantsInFlightMax) {
    throw new InvalidParametersError('limit wantsInFlightStart must not exceed wantsInFlightMax')
  }
  if (limits.partialBytesPerPeerMax < messageBytesMax) {
    throw new InvalidParametersError('limit partialBytesPerPeerMax must hold at least one message of 4 MiB')
  }
  return limits
}
