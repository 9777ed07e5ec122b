import { describe, expect, it } from 'vitest'
import { AssertionError } from '../src/errors.ts'
import { seededRandom } from '../src/random.ts'

function first(seed: number): number[] {
  const random = seededRandom(seed)
  return Array.from({ length: 3 }, () => random.next() * 2 ** 32)
}

describe('seededRandom', () => {
  it('gives the numbers that xorshift 13, 17, 5 gives for seed 1', () => {
    expect(first(1)).toEqual([270_369, 67_634_689, 2_647_435_461])
  })

  it('takes a seed by its 32 bits, whatever its sign', () => {
    expect(first(0x9e3779b9)).toEqual(first(0x9e3779b9 - 2 ** 32))
  })

  it('refuses a seed whose numbers would all be 0', () => {
    for (const seed of [0, 2 ** 32]) expect(() => seededRandom(seed)).toThrow(AssertionError)
  })
})
