import { type BrokerLimits, defaultBrokerLimits } from '@shardswap/broker'
import { InvalidParametersError, messageBytesMax, timerMsMax, wantsPerPeerMax } from '@shardswap/interface'
import { defaultSessionLimits, type SessionLimits } from '@shardswap/session'

/** Limits of a peer: names with their units, each with a reason below and a line in docs/limits.md. */
export interface PeerLimits extends BrokerLimits, SessionLimits {
  /** Bytes that one `getMany` asks for ahead of its reader. */
  readonly getManyBytesMax: number
  /** Blocks that one `getMany` asks for ahead of its reader. */
  readonly getManyBlocksMax: number
  /** Providers taken from one search in routing. */
  readonly providersMax: number
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
  /** How often a peer whose connection was closed as dead, or cut while wants stood there, is dialled again, while anything is wanted; 0: never. */
  readonly redialTriesMax: number
  /** Wait before the second of these dials; it doubles, up to a minute. */
  readonly redialDelayMs: number
}

const KiB = 1024
const MiB = 1024 * KiB

/** The defaults; the reasons stand in docs/limits.md. */
export const defaultLimits: PeerLimits = {
  ...defaultBrokerLimits,
  ...defaultSessionLimits,
  getManyBytesMax: 64 * MiB,
  getManyBlocksMax: 4096,
  providersMax: 10,
  storeBacklogBytesMax: 16 * MiB,
  partialBytesPerPeerMax: 48 * MiB,
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
  const limits = inTimers({ ...defaultLimits, ...changes })
  for (const [name, value] of Object.entries(limits)) {
    const least = name === 'redialTriesMax' ? 0 : 1
    if (typeof value !== 'number' || !Number.isFinite(value) || value < least) {
      throw new InvalidParametersError(`limit ${name} must be a finite number of at least ${least}, not ${String(value)}`)
    }
  }
  if (limits.queueWantsMax > wantsPerPeerMax) {
    throw new InvalidParametersError(`limit queueWantsMax must not exceed ${wantsPerPeerMax}: servers keep no more`)
  }
  if (limits.wantsInFlightStart > limits.wantsInFlightMax || limits.queueWantsStart > limits.queueWantsMax) {
    throw new InvalidParametersError('limits wantsInFlightStart and queueWantsStart must not exceed wantsInFlightMax and queueWantsMax')
  }
  if (limits.partialBytesPerPeerMax < messageBytesMax) {
    throw new InvalidParametersError('limit partialBytesPerPeerMax must hold at least one message of 4 MiB')
  }
  return limits
}

/** A time that no timer takes is the longest that one takes: given to a timer, it would be over at once. */
function inTimers(limits: PeerLimits): PeerLimits {
  const shorter = Object.entries(limits).map(([name, value]) => [
    name,
    name.endsWith('Ms') && Number.isFinite(value) ? Math.min(value as number, timerMsMax) : (value as number)
  ])
  return Object.fromEntries(shorter) as PeerLimits
}
