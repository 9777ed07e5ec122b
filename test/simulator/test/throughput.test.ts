import { describe, expect, it } from 'vitest'
import { policies } from '../src/registry.ts'
import type { RunResult } from '../src/run-result.ts'
import { run } from '../src/run.ts'
import type { Scenario } from '../src/scenario.ts'

const MiB = 1024 * 1024
const blockBytes = MiB / 4
const fileBytes = 64 * MiB

/** A file of 64 MiB from providers with links of these rates, in bytes a second, 25 ms away. */
function file(rates: readonly number[]): Scenario {
  return {
    name: `rates ${rates.join(' and ')}`,
    summary: 'one file, links of different rates',
    nodes: [...rates.map((_, i) => ({ name: `p${i}`, count: 1, holds: () => true })), { name: 'reader', count: 1 }],
    blocks: { count: fileBytes / blockBytes, bytes: blockBytes },
    link: (from, to) => {
      const provider = [from, to].find((name) => name.startsWith('p'))
      return { delayMs: 25, bytesPerS: rates[Number(provider?.slice(1))]! }
    },
    jobs: [{ node: ['reader', 0], pattern: { kind: 'window', bytes: 32 * MiB }, blocks: [0, fileBytes / blockBytes] }],
    limitMs: 10 * 60 * 1000
  }
}

function runOurs(rates: readonly number[], seed = 1): RunResult {
  return run(file(rates), policies.get('shardswap')!, seed)
}

/** Of each provider, the part of all bytes that came from it. */
function sharesOf({ fetchers }: RunResult, rates: readonly number[]): number[] {
  const peers = fetchers.get('reader-0')?.peers
  return rates.map((_, i) => ([...(peers ?? [])].find(([key]) => key === `p${i}-0`)?.[1].bytes ?? 0) / fileBytes)
}

describe('throughput', () => {
  it.each([1e6, 4e6, 16e6, 64e6])('[B3] one link of %i bytes a second is full: nine tenths of it or more, its delay included', (rate) => {
    const { seconds } = runOurs([rate])
    expect(fileBytes / rate / seconds).toBeGreaterThan(0.9)
  })

  it('[B3] four links bring nine tenths of four times what one of them brings', () => {
    const { seconds } = runOurs([5e6, 5e6, 5e6, 5e6])
    expect(fileBytes / 20e6 / seconds).toBeGreaterThan(0.9)
  })

  it('[B27] more is asked of who delivers more: the shares of the work are those of the bandwidths', () => {
    const rates = [8e6, 4e6, 2e6, 1e6]
    for (const seed of [1, 2, 3]) {
      const shares = sharesOf(runOurs(rates, seed), rates)
      for (const [i, share] of shares.entries()) expect(Math.abs(share - rates[i]! / 15e6)).toBeLessThan(0.04)
    }
  })

  it('[B27] less is asked of who delivers less: a provider whose link is a tenth gets a tenth of the wants, and no block comes twice', () => {
    const rates = [10e6, 1e6]
    const result = runOurs(rates)
    expect(Math.abs(sharesOf(result, rates)[1]! - 1 / 11)).toBeLessThan(0.02)
    expect(result.fetchers.get('reader-0')).toMatchObject({ duplicateBlocks: 0, timeouts: 0 })
  })
})
