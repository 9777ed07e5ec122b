import { InvalidParametersError } from '@shardswap/interface'
import { expect, it } from 'vitest'
import { defaultServeLimits, sendTimeoutMs, verifyServeLimits } from '../src/limits.ts'

const MiB = 1024 * 1024

it('[F47] a target above what a message holds is rejected', () => {
  expect(() => verifyServeLimits({ envelopeBytesTarget: 32 * MiB })).toThrow(InvalidParametersError)
  expect(() => verifyServeLimits({ blockBytesServedMax: 5 * MiB })).toThrow(InvalidParametersError)
})

it('contradictions are rejected, overrides kept', () => {
  expect(() => verifyServeLimits({ wantsPerPeerMax: 0 })).toThrow(InvalidParametersError)
  expect(() => verifyServeLimits({ readsMax: 1.5 })).toThrow(InvalidParametersError)
  expect(() => verifyServeLimits({ responseBytesMax: MiB })).toThrow(InvalidParametersError)
  expect(() => verifyServeLimits({ sendTimeoutMinMs: 3, sendTimeoutMaxMs: 2 })).toThrow(InvalidParametersError)
  expect(() => verifyServeLimits({ wantsMax: 1023 })).toThrow(InvalidParametersError)
  expect(() => verifyServeLimits({ presencesMax: 8191 })).toThrow(InvalidParametersError)
  expect(verifyServeLimits({ haveReplaceBytesMax: 0 }).haveReplaceBytesMax).toBe(0)
})

it('a send has 2 s and its time at 100 kbit/s, from 10 s to 2 min', () => {
  expect(sendTimeoutMs(0, defaultServeLimits)).toBe(10_000)
  expect(sendTimeoutMs(250_000, defaultServeLimits)).toBe(22_000)
  expect(sendTimeoutMs(4 * MiB, defaultServeLimits)).toBe(120_000)
})
