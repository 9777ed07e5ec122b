import { assert } from './errors.ts'
import type { Random } from './ports.ts'

/**
 * Numbers from 0 to 1 that are the same for the same seed: for a die that hides nothing, and for tests (Marsaglia's
 * xorshift with 32 bits, 2003).
 *
 * @param seed - any integer of 32 bits but 0, whose numbers would all be 0
 * @throws AssertionError for such a seed
 */
export function seededRandom(seed: number): Random {
  let state = seed | 0
  assert(state !== 0, 'the seed of a random sequence must not be 0 in its 32 bits')
  return {
    next: () => {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      return (state >>> 0) / 2 ** 32
    }
  }
}
