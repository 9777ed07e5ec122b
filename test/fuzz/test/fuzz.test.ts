import { describe, expect, it } from 'vitest'
import { checkMessage } from '../src/check.ts'
import { readCorpus } from '../src/corpus.ts'
import { fuzz, replayCommand } from '../src/run.ts'
import { kept } from './kept.ts'

const corpus = readCorpus()

describe('fuzz', () => {
  it('real messages are taken as they are', () => {
    expect(corpus.map((bytes) => checkMessage(bytes))).toEqual(corpus.map(() => 'taken'))
  })

  it('mutated real messages keep every promise', () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    console.log(`fuzz from seed ${seed}`)
    const { failure, outcomes } = fuzz({ seed, runs: 5000, corpus })
    expect(failure === undefined ? undefined : `${String(failure.error)}: ${replayCommand(failure.seed)}`).toBeUndefined()
    // A corpus or mutations that break everything, or nothing, would prove nothing.
    expect(Math.min(outcomes.taken, outcomes.refused)).toBeGreaterThan(100)
  })

  it('gives the same run for the same seed', () => {
    expect(fuzz({ seed: 7, runs: 300, corpus })).toEqual(fuzz({ seed: 7, runs: 300, corpus }))
  })

  it.each(kept)('$name', ({ hex, outcome }) => {
    expect(checkMessage(new Uint8Array(Buffer.from(hex, 'hex')))).toBe(outcome)
  })
})
