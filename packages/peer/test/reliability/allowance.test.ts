import { peerKey } from '@shardswap/interface'
import { expect, it } from 'vitest'
import { Allowance } from '../../src/reliability/allowance.ts'

const a = peerKey('a')
const b = peerKey('b')

it('a peer has its burst, then one for each pause, whatever others do', () => {
  const allowance = new Allowance({ burst: 3, refillMs: 100, peersMax: 10 })
  expect([0, 0, 0, 0].map((nowMs) => allowance.take(a, nowMs))).toEqual([true, true, true, false])
  expect(allowance.take(b, 0)).toBe(true)
  expect(allowance.take(a, 99)).toBe(false)
  expect(allowance.take(a, 100)).toBe(true)
  expect(allowance.take(a, 100)).toBe(false)
  // It never saves up more than its burst.
  expect([1e6, 1e6, 1e6, 1e6].map((nowMs) => allowance.take(a, nowMs))).toEqual([true, true, true, false])
})

it('what costs more takes more, or nothing where not as much is left', () => {
  const allowance = new Allowance({ burst: 10, refillMs: 100, peersMax: 10 })
  expect([6, 6, 4, 0.2].map((count) => allowance.take(a, 0, count))).toEqual([true, false, true, false])
  expect(allowance.take(a, 20, 0.2)).toBe(true)
})

it('a number of peers is kept, and who has not asked for longest is forgotten', () => {
  const allowance = new Allowance({ burst: 1, refillMs: 1e9, peersMax: 2 })
  expect(allowance.take(a, 0)).toBe(true)
  expect(allowance.take(b, 0)).toBe(true)
  expect(allowance.take(a, 0)).toBe(false)
  expect(allowance.take(peerKey('c'), 0)).toBe(true)
  expect(allowance.take(a, 0)).toBe(false)
  expect(allowance.take(b, 0)).toBe(true)
})
