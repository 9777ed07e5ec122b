import { describe, expect, it } from 'vitest'
import { isCount, isObject } from '../src/plain.ts'

describe('plain data that somebody else wrote', () => {
  it('is an object where its fields may be looked at, and no list', () => {
    expect([{}, { a: 1 }, Object.create(null)].map((value: unknown) => isObject(value))).toEqual([true, true, true])
    expect([undefined, null, [], 'a', 1, () => undefined].filter((value) => isObject(value))).toEqual([])
  })

  it('counts in whole numbers from 0 to as many as are exact', () => {
    expect([0, 1, Number.MAX_SAFE_INTEGER].every(isCount)).toBe(true)
    expect([-1, 0.5, Number.NaN, Infinity, Number.MAX_SAFE_INTEGER + 1, '1', null, 1n].filter(isCount)).toEqual([])
  })
})
