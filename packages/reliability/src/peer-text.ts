import type { PeerKey } from '@shardswap/interface'

/** The text form of a PeerId has 46 to 62 letters; a longer key is none. */
const lettersMax = 128
/** What base58btc, base36 and base32 write. */
const letters = /^[0-9A-HJ-NP-Za-z]+$/

/** Whether a text could be a PeerId's: one that is stored may hold anything, and is shown on terminals. */
export function isPeerText(value: unknown): value is PeerKey {
  return typeof value === 'string' && value.length <= lettersMax && letters.test(value)
}
