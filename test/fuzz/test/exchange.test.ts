import { describe, expect, it } from 'vitest'
import { exchangeReplayCommand, fuzzExchange, runExchange } from '../src/exchange/run.ts'

/** Runs in which the core once broke a promise, with what it did. */
const kept: readonly { readonly seed: number; readonly what: string }[] = [
  { seed: 11299, what: 'lost wants' },
  { seed: 573, what: 'lost wants' },
  { seed: 11548, what: 'lost wants' },
  { seed: 4886, what: 'lost wants' },
  { seed: 37, what: 'let more stand at a peer than its queue may hold' },
  { seed: 1659, what: 'let more stand at a peer than its queue may hold' },
  { seed: 11772, what: 'asked for the same again and again' },
  { seed: 680, what: 'asked for the same again and again' },
  { seed: 1185352, what: 'gave what came free over all peers to a silent one, before those in line for it' },
  { seed: 3025124, what: 'asked a peer that rests for one want alone, each time that it was back' },
  { seed: 1247, what: 'had more in flight over all peers than it may' }
]

describe('the exchange core, through any events in any order', () => {
  it('keeps its limits, loses no want that somebody can fill, and leaves nothing behind', () => {
    const failure = fuzzExchange(1, 1500)
    expect(failure === undefined ? undefined : `${failure.how}: ${exchangeReplayCommand(failure.seed)}`).toBeUndefined()
  })

  it('gives the same run for the same seed', () => {
    const [first, second]: [string[], string[]] = [[], []]
    runExchange(7, (line) => first.push(line))
    runExchange(7, (line) => second.push(line))
    expect(first.length).toBeGreaterThan(100)
    expect(second).toEqual(first)
  })

  it.each(kept)('[seed $seed] once $what', ({ seed }) => {
    // They were found before there was anybody to judge.
    expect(runExchange(seed, undefined, 'none')).toBeUndefined()
  })
})
