import { expect, it } from 'vitest'
import { expectClean, isFull, scale, workMs } from './scale.ts'

it(
  '[F22] one session fetches 100,000 blocks from 10 peers that come and go, in memory that does not grow',
  { timeout: workMs },
  async () => {
    // The report's peers churn every 5 s; counted in blocks, each of the ten goes twice, however fast the fetch is.
    const findings = await scale('bigSession', { wants: 100_000, providers: 10, churnEveryBlocks: 5000 })
    expectClean(findings)
    expect(findings.counts).toMatchObject({ blocks: 100_000, leavers: 10 })
    expect(findings.counts['disconnects']).toBeGreaterThanOrEqual(20)
    const [base = 0, at20k = 0, , , , at100k = 0, after = 0] = findings.liveBytes
    expect(at100k).toBeLessThan(at20k * 1.1)
    // On the way what is asked for ahead varies by some megabytes.
    expect(Math.max(...findings.liveBytes)).toBeLessThan(at20k * 1.3)
    // What is learnt of peers stays, in bounds: past wants and counts, some 400 KiB for each of ten at both ends.
    expect(after).toBeLessThan(base + 16 * 1024 * 1024)
  }
)

it(
  '[F22] 50,000 wants that nobody serves take a window at each of 20 peers, and are kept once, not for each peer',
  { timeout: workMs },
  async () => {
    const wants = 50_000
    const many = await scale('manyPending', { wants, providers: 20 })
    const few = await scale('manyPending', { wants, providers: 2 })
    for (const findings of [many, few]) {
      expectClean(findings)
      const { counts } = findings
      expect(counts).toMatchObject({ pending: wants, aborted: wants, standingAfter: 0 })
      expect(counts['standingMost']).toBeGreaterThan(0)
      expect(counts['standingMost']).toBeLessThanOrEqual(1024)
    }
    const grown = ({ liveBytes: [base = 0, open = 0] }: typeof many): number => open - base
    expect(grown(many)).toBeLessThan(grown(few) * 1.5)
    for (const { liveBytes } of [many, few]) {
      const [base = 0, open = 0, after = 0] = liveBytes
      expect(after - base).toBeLessThan((open - base) * 0.1)
    }
  }
)

const wantsAtOnce = isFull ? 100_000 : 40_000

it(`${wantsAtOnce.toLocaleString('en')} wants of one session at once all end, and memory returns`, { timeout: workMs }, async () => {
  const findings = await scale('allAtOnce', { wants: wantsAtOnce, rounds: 2 })
  expectClean(findings)
  expect(findings.counts['blocks']).toBe(2 * wantsAtOnce)
  // After the first time code is compiled, and what is kept within bounds (past wants, receipts) is there.
  const [, first = 0, second = 0] = findings.liveBytes
  expect(second).toBeLessThan(first * 1.05)
})

it('1,000 sessions at once all end, and memory is what it was two times before', { timeout: workMs }, async () => {
  const findings = await scale('sessionsAtOnce', { sessions: 1000, blocks: 20, rounds: 5 })
  expectClean(findings)
  expect(findings.counts).toMatchObject({ ended: 5000, blocks: 100_000 })
  // The keys of past wants, remembered of each peer up to a bound, are all there after the second time, compiled code after the
  // third. A want that ended may stand among the deadlines for a while: were a session held by it, all would be, a quarter more.
  const [, first = 0, , third = 0, , fifth = 0] = findings.liveBytes
  expect(fifth).toBeLessThan(third * 1.05)
  expect(Math.max(...findings.liveBytes)).toBeLessThan(first * 1.1)
})

const sessionsInTurn = isFull ? 10_000 : 4000

it(
  `${sessionsInTurn.toLocaleString('en')} sessions, one after the other, all end, and leave nothing behind`,
  { timeout: workMs },
  async () => {
    const findings = await scale('sessionsInTurn', { sessions: sessionsInTurn, blocks: 1 })
    expectClean(findings)
    expect(findings.counts['blocks']).toBe(sessionsInTurn)
    const [, , second = 0] = findings.liveBytes
    expect(findings.liveBytes.at(-1)).toBeLessThan(second * 1.05)
  }
)
