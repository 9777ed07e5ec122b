import { assert, InvalidParametersError, messageBytesMax, timerMsMax, wantsPerPeerMax } from '@shardswap/interface'
import type { IntakeLimits } from './intake.ts'

/** Limits of serving: names, units, defaults and their reasons. Each has a line in docs/limits.md. */
export interface ServeLimits extends IntakeLimits {
  /** Wants kept for one peer. */
  readonly wantsPerPeerMax: number
  /** The same over all peers; where that is reached, who has most gives way. */
  readonly wantsMax: number
  /** A block up to this size is sent in place of a HAVE: it costs little more, and saves a round trip. */
  readonly haveReplaceBytesMax: number
  /** The largest block that fits a message with what surrounds it; of a larger one we say DONT_HAVE. */
  readonly blockBytesServedMax: number
  /** Bytes of blocks that one envelope aims at on a fast link; its last block may not pass it unless it is the only one. */
  readonly envelopeBytesTarget: number
  /** The same for a peer of which nothing is known yet, and on the slowest link. */
  readonly envelopeBytesMin: number
  /** A message should leave in this time: sends that take no longer let the next messages grow … */
  readonly sendPaceMinMs: number
  /** … and those that take longer than this let them shrink. */
  readonly sendPaceMaxMs: number
  /** So many messages of one size must have left quickly before the size doubles … */
  readonly sendsPerDoubling: number
  /** … and so many in a row slowly before it shrinks. */
  readonly slowSendsPerShrink: number
  /** Blocks in one envelope: while the client takes in one of small blocks, the next is made. */
  readonly envelopeBlocksMax: number
  /** Envelopes of one peer that are read, or wait in memory, behind the one that is written. */
  readonly envelopesAheadMax: number
  /** Bytes of blocks in them. */
  readonly readAheadBytesPerPeerMax: number
  /** Bytes of blocks in memory, read and not yet written, over all peers. */
  readonly responseBytesMax: number
  /** The same of all clients without an owner, while one with an owner has something to be served. */
  readonly strangersBytesMax: number
  /** Bytes that a peer's turn is worth; who took more sits out. */
  readonly turnBytes: number
  /** Whoever was given nothing for so long has its turn like one that never was: among the first. */
  readonly newcomerAfterMs: number
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
  /** So long sizes are asked for, of a store that answers by promises, before others have their turn. */
  readonly lookupTurnMs: number
  /** Blocks being read from the store at a time. */
  readonly readsMax: number
  /** Peers of whom something is remembered. */
  readonly ledgersMax: number
  /** Failed sends in a row to one peer; then nothing is sent until it connects or asks again. */
  readonly sendTriesMax: number
  /** Wait after the first failed send; it doubles with each further one. */
  readonly sendRetryDelayMs: number
  /** Who did not read what was sent, so that it was given up, is sent nothing for so long. */
  readonly lateRestMs: number
  /** A send has this long, plus the time its bytes need at `sendBitsPerSecondMin` … */
  readonly sendGraceMs: number
  readonly sendBitsPerSecondMin: number
  /** … but never less than this … */
  readonly sendTimeoutMinMs: number
  /** … and never more than this. */
  readonly sendTimeoutMaxMs: number
  /** A peer whose send takes longer, or its last one did, is slow: such peers share a quarter of `responseBytesMax`. */
  readonly sendSlowMs: number
}

/** The defaults; the reasons stand in docs/limits.md. */
export const defaultServeLimits: ServeLimits = {
  talkMsPerSMax: 100,
  talkAheadMsMax: 10,
  wantsPerPeerMax,
  wantsMax: 131_072,
  haveReplaceBytesMax: 1024,
  blockBytesServedMax: messageBytesMax - 256,
  envelopeBytesTarget: 512 * 1024,
  envelopeBytesMin: 16 * 1024,
  sendPaceMinMs: 20,
  sendPaceMaxMs: 50,
  sendsPerDoubling: 4,
  slowSendsPerShrink: 3,
  envelopeBlocksMax: 256,
  envelopesAheadMax: 16,
  readAheadBytesPerPeerMax: 4 * 1024 * 1024,
  responseBytesMax: 64 * 1024 * 1024,
  strangersBytesMax: 2 * 1024 * 1024,
  turnBytes: 256 * 1024,
  newcomerAfterMs: 10_000,
  presencesPerPeerMax: 8192,
  presencesMax: 65_536,
  presencesPerEnvelopeMax: 4096,
  lookupsPerPeerMax: 8192,
  lookupsMax: 65_536,
  lookupBatchMax: 32,
  lookupBatchesMax: 8,
  lookupTurnMs: 5,
  readsMax: 128,
  ledgersMax: 4096,
  sendTriesMax: 3,
  sendRetryDelayMs: 100,
  lateRestMs: 10_000,
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
  for (const [low, high] of [
    ['sendTimeoutMinMs', 'sendTimeoutMaxMs'],
    ['sendPaceMinMs', 'sendPaceMaxMs']
  ] as const) {
    if (all[low] > all[high]) throw new InvalidParametersError(`${low} must not be above ${high}`)
  }
  // Given to a timer, more than one takes would be over at once.
  return {
    ...all,
    sendTimeoutMaxMs: Math.min(all.sendTimeoutMaxMs, timerMsMax),
    sendRetryDelayMs: Math.min(all.sendRetryDelayMs, timerMsMax)
  }
}

/** How long a send of so many bytes may take, in milliseconds. */
export function sendTimeoutMs(bytes: number, limits: ServeLimits): number {
  assert(bytes >= 0, 'a message has no negative size')
  const atSlowest = limits.sendGraceMs + (bytes * 8 * 1000) / limits.sendBitsPerSecondMin
  return Math.ceil(Math.min(limits.sendTimeoutMaxMs, Math.max(limits.sendTimeoutMinMs, atSlowest)))
}
