import type { BlockKey } from '@shardswap/interface'
import { describe, expect, it } from 'vitest'
import { Past } from '../src/past.ts'

const key = (i: number): BlockKey => `key ${i}` as BlockKey

describe('the past of a peer', () => {
  it('remembers at least half of its limit and at most all of it, the latest', () => {
    const past = new Past(10)
    for (let i = 0; i < 1000; i++) {
      past.add(key(i), 0)
      for (let back = 0; back < Math.min(5, i + 1); back++) expect(past.get(key(i - back))).toBeDefined()
      expect(past.get(key(i - 10))).toBeUndefined()
    }
  })

  it('tells the first repetition from the next, until the block is asked for again', () => {
    const past = new Past(10)
    past.add(key(1), 0)
    expect([past.repeat(key(1)), past.repeat(key(1)), past.repeat(key(1))]).toEqual([false, true, true])
    for (let i = 2; i < 8; i++) past.add(key(i), 0)
    expect(past.repeat(key(1))).toBe(true)
    past.add(key(1), 0)
    expect(past.repeat(key(1))).toBe(false)
  })
})
