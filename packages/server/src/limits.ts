import { assert, InvalidParametersError, messageBytesMax, wantsPerPeerMax } from '@shardswap/interface'

/** Limits of serving: names, units, defaults and their reasons. Each has a line in docs/limits.md. */
export interface ServeLimits {
  /** Wants kept for one peer. */
  readonly wantsPerPeerMax: number
  /** The same over all peers; where that is reached, who has most gives way. */
  readonly wantsMax: number
  /** A block up to this size is sent in place of a HAVE: it costs little more, and saves a round trip. */
  readonly haveReplaceBytesMax: number
  /** The largest block that fits a message with what surrounds it; of a larger one we say DONT_HAVE. */
  readonly blockBytesServedMax: number
  /** Bytes of blocks that one envelope aims at; its last block may not pass it unless it is the only one. */
  readonly envelopeBytesTarget: number
  /** Blocks in one envelope: while the client takes in one of small blocks, the next is made. */
  readonly envelopeBlocksMax: number
  /** Envelopes of one peer whose blocks are being read at a time: a slow store is asked for all of them at once. */
  readonly envelopesReadMax: number
  /** Bytes of blocks in memory, read and not yet written, over all peers. */
  readonly responseBytesMax: number
  /** HAVE and DONT_HAVE waiting for one peer; further DONT_HAVEs are not sent. */
  readonly presencesPerPeerMax: number
  /** The same over all peers, and again as many that are being written. */
  readonly presencesMax: number
  /** HAVE and DONT_HAVE in one envelope. */
  readonly presencesPerEnvelopeMax: number
  /** Arrived wants of one peer whose size has not been looked up yet. */
  readonly lookupsPerPeerMax: number
  /** The same over all peers. */
  readonly lookupsMax: number
  /** Sizes asked of the store in one go. */
  readonly lookupBatchMax: number
  /** Such batches at a time. */
  readonly lookupBatchesMax: number
  /** Blocks being read from the store at a time. */
  readonly readsMax: number
  /** Peers of whom something is remembered. */
  readonly ledgersMax: number
  /** Failed sends in a row to one peer; then nothing is sent until it connects or asks again. */
  readonly sendTriesMax: number
  /** Wait after the first failed send; it doubles with each further one. */
  readonly sendRetryDelayMs: number
  /** A send has this long, plus the time its bytes need at `sendBitsPerSecondMin` … */
  readonly sendGraceMs: number
  readonly sendBitsPerSecondMin: number
  /** … but never less than this … */
  readonly sendTimeoutMinMs: number
  /** … and never more than this. */
  readonly sendTimeoutMaxMs: number
  /** A peer whose last send took longer is slow: such peers share a quarter of `responseBytesMax`. */
  readonly sendSlowMs: number
}

export const defaultServeLimits: ServeLimits = {
  wantsPerPeerMax,
  wantsMax: 262_144,
  haveReplaceBytesMax: 1024,
  blockBytesServedMax: messageBytesMax - 256,
  envelopeBytesTarget: 512 * 1024,
  envelopeBlocksMax: 256,
  envelopesReadMax: 8,
  responseBytesMax: 64 * 1024 * 1024,
  presencesPerPeerMax: 8192,
  presencesMax: 65_536,
  presencesPerEnvelopeMax: 4096,
  lookupsPerPeerMax: 8192,
  lookupsMax: 65_536,
  lookupBatchMax: 32,
  lookupBatchesMax: 8,
  readsMax: 128,
  ledgersMax: 4096,
  sendTriesMax: 3,
  sendRetryDelayMs: 100,
  sendGraceMs: 2000,
  sendBitsPerSecondMin: 100_000,
  sendTimeoutMinMs: 10_000,
  sendTimeoutMaxMs: 120_000,
  sendSlowMs: 1000
}

/** `limits` over the defaults. Errors: InvalidParametersError where no server could run with them. */
export function verifyServeLimits(limits: Partial<ServeLimits> = {}): ServeLimits {
  const all = { ...defaultServeLimits, ...limits }
  for (const [name, value] of Object.entries(all)) {
    if (!Number.isSafeInteger(value) || value < 0) throw new InvalidParametersError(`${name} must be a whole number`)
    if (value === 0 && name !== 'haveReplaceBytesMax' && name !== 'sendRetryDelayMs' && name !== 'sendGraceMs') {
      throw new InvalidParametersError(`${name} must be above 0`)
    }
  }
  // Whatever is asked for, no message passes what peers read.
  if (all.blockBytesServedMax > defaultServeLimits.blockBytesServedMax) {
    throw new InvalidParametersError(`blockBytesServedMax must be at most ${defaultServeLimits.blockBytesServedMax}`)
  }
  if (all.envelopeBytesTarget > messageBytesMax) {
    throw new InvalidParametersError(`envelopeBytesTarget must be at most ${messageBytesMax}`)
  }
  // Else a large block could never be read for a slow peer.
  if (all.responseBytesMax < 4 * all.blockBytesServedMax) {
    throw new InvalidParametersError('responseBytesMax must hold four of the largest blocks')
  }
  if (all.wantsMax < all.wantsPerPeerMax || all.presencesMax < all.presencesPerPeerMax) {
    throw new InvalidParametersError('wantsMax and presencesMax must not be below what one peer may have')
  }
  if (all.sendTimeoutMinMs > all.sendTimeoutMaxMs) {
    throw new InvalidParametersError('sendTimeoutMinMs must not be above sendTimeoutMaxMs')
  }
  return all
}

/** How long a send of so many bytes may take, in milliseconds. */
export function sendTimeoutMs(bytes: number, limits: ServeLimits): number {
  assert(bytes >= 0, 'a message has no negative size')
  const atSlowest = limits.sendGraceMs + (bytes * 8 * 1000) / limits.sendBitsPerSecondMin
  return Math.ceil(Math.min(limits.sendTimeoutMaxMs, Math.max(limits.sendTimeoutMinMs, atSlowest)))
}
