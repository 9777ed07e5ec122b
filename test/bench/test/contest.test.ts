import { describe, expect, it } from 'vitest'
import { UnkeptBlockstore } from '../src/actors/unkept-blockstore.ts'
import type { Bench, Target } from '../src/benches.ts'
import { type Contender, withChildren } from '../src/contenders.ts'
import { contest, missed } from '../src/contest.ts'
import { median, percentile, summarise } from '../src/figures.ts'
import { table } from '../src/table.ts'
import { blockBytesAt, blockCids, fileContent, rawCid } from '../src/work.ts'

describe('figures', () => {
  it('have a median, odd or even', () => {
    expect(median([5, 1, 3])).toBe(3)
    expect(median([4, 1, 3, 2])).toBe(2.5)
  })

  it('have percentiles', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)
    expect([percentile(hundred, 0.5), percentile(hundred, 0.99), percentile([7], 0.99)]).toEqual([50, 99, 7])
  })

  it('are summed up with their range', () => {
    expect(summarise([{ mbPerS: 3 }, { mbPerS: 1, other: 2 }, { mbPerS: 2 }])).toEqual({ runs: 3, mbPerS: 2, mbPerSMin: 1, mbPerSMax: 3 })
  })
})

describe('work', () => {
  it('is the same everywhere, and no two blocks are alike', () => {
    const cids = Array.from(blockCids({ kind: 'blocks', blocks: 50, blockBytes: 1024, window: 1 }), String)
    expect(new Set(cids).size).toBe(50)
    expect(cids[7]).toBe(rawCid(blockBytesAt(7, 1024)).toString())
  })

  it('makes a file of its length whose leaves all differ', () => {
    const bytes = 3 * 1024 * 1024 + 5 * 1024
    const content = Buffer.concat([...fileContent(bytes)])
    expect(content.byteLength).toBe(bytes)
    const leaves = Array.from({ length: bytes / 1024 }, (_, index) => content.toString('latin1', index * 1024, (index + 1) * 1024))
    expect(new Set(leaves).size).toBe(leaves.length)
  })

  it('is read from a store that keeps nothing', async () => {
    const store = new UnkeptBlockstore()
    const bytes = blockBytesAt(3, 2048)
    const cid = rawCid(bytes)
    store.put(cid)
    expect(store.has(cid)).toBe(false)
    expect(() => store.get(cid).next()).toThrow(/no block was promised/)
    store.promise(cid, 3, 2048)
    expect(await store.size(cid)).toBe(2048)
    expect([...store.get(cid)]).toEqual([bytes])
  })
})

function benchOf(targets: readonly Target[], ours: Contender, theirs: Contender): Bench {
  const work = { kind: 'blocks', blocks: 1, blockBytes: 1, window: 1 } as const
  return {
    name: 'trial',
    shows: 'how a contest goes',
    figure: 'mbPerS',
    unit: 'MB/s',
    ours,
    rows: () => [{ name: 'a row', work, providers: 1, baselines: { theirs, left: theirs }, targets }]
  }
}

const failing: Contender = async () => await Promise.reject(new Error('no way'))

describe('a contest', () => {
  const options = { runs: 3, scale: 1, log: () => undefined }

  it('takes turns, compares medians and judges', async () => {
    const order: string[] = []
    const contender = (name: string, values: number[]): Contender => {
      const left = [...values]
      return async () => {
        order.push(name)
        return { mbPerS: left.shift() ?? 0 }
      }
    }
    const targets = [
      { baseline: 'theirs', atLeast: 2 },
      { baseline: 'theirs', atLeast: 4 },
      { baseline: 'theirs', atLeast: 9, wanted: true },
      { baseline: 'left', atLeast: 1 },
      { figure: 'mbPerSMax', atMost: 40 }
    ]
    const bench = benchOf(targets, contender('ours', [10, 30, 20]), contender('theirs', [10, 5, 8]))
    const result = await contest(bench, { ...options, baselines: ['theirs'] })
    expect(order).toEqual(['ours', 'theirs', 'ours', 'theirs', 'ours', 'theirs'])
    expect(result.ratios).toEqual({ theirs: 2.5 })
    expect(result.ours).toMatchObject({ mbPerS: 20, mbPerSMin: 10, mbPerSMax: 30 })
    expect(result.rows[0]?.verdicts.map(({ met }) => met)).toEqual([true, false, false, true])
    expect(missed(result).map(({ target }) => target.atLeast)).toEqual([4])
    expect(table(bench, result)).toMatch(
      /theirs +8 \(5–10\) +2\.5\n.*met +ours \/ theirs 2\.5, target ≥ 2\n.*MISSED +ours \/ theirs 2\.5, target ≥ 4/s
    )
  })

  it('fails where a contender fails', async () => {
    await expect(contest(benchOf([], failing, failing), options)).rejects.toThrow('a row, run 1 of 3: ours failed: no way')
  })
})

describe('processes that are kept', () => {
  interface Kept {
    stopped: number
    stop(): Promise<void>
    readonly lost: Promise<Error>
  }

  function kept(lost: Promise<Error>): Kept {
    const child: Kept = {
      stopped: 0,
      stop: async () => {
        child.stopped += 1
      },
      lost
    }
    return child
  }

  const never = new Promise<never>(() => {})

  it('end together, and fail what waits for them as soon as one is lost', async () => {
    const [one, other] = [Promise.withResolvers<Error>(), kept(never)]
    const dying = kept(one.promise)
    const running = withChildren(async (keep) => {
      await Promise.all([keep(Promise.resolve(dying)), keep(Promise.resolve(other))])
      one.resolve(new Error('provider 1: it ended'))
      return await never
    })
    await expect(running).rejects.toThrow('provider 1: it ended')
    expect([dying.stopped, other.stopped]).toEqual([1, 1])
  })

  it('are stopped where they come once all is over', async () => {
    const starting = Promise.withResolvers<Kept>()
    const late = kept(never)
    let keeping: Promise<unknown> = never
    const running = withChildren(async (keep) => {
      keeping = keep(starting.promise)
      await keep(Promise.reject<Kept>(new Error('no process more')))
    })
    await expect(running).rejects.toThrow('no process more')
    starting.resolve(late)
    await expect(keeping).rejects.toThrow('all has ended')
    expect(late.stopped).toBe(1)
  })
})
