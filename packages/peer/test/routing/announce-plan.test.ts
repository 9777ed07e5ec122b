import { array, assert, integer, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AnnouncePlan } from '../../src/routing/announce-plan.ts'

const hourMs = 3_600_000
const limits = { everyMs: 22 * hourMs, roundEveryMs: hourMs, retryMs: 60_000 }

interface Kept {
  lastMs: number | undefined
}

/** A round over all CIDs, which takes no time; `answers` says whether the routers take an announcement. */
function round(plan: AnnouncePlan, kept: readonly Kept[], nowMs: number, answers: () => boolean): number {
  let announced = 0
  plan.beginRound()
  for (const each of kept) {
    if (each.lastMs !== undefined && !plan.isDue(each.lastMs, nowMs)) {
      plan.later(each.lastMs)
      continue
    }
    const isDone = answers()
    plan.announced(nowMs, isDone)
    if (!isDone) continue
    each.lastMs = nowMs
    announced++
  }
  plan.endRound(nowMs)
  return announced
}

describe('the plan of announcements', () => {
  test('what was never announced is due at once, then every 22 h, over a restart too', () => {
    const kept: Kept[] = [{ lastMs: undefined }]
    const plan = new AnnouncePlan(limits, 0)
    expect(plan.nextRoundAtMs).toBe(0)
    expect(round(plan, kept, 0, () => true)).toBe(1)
    expect(plan.nextRoundAtMs).toBe(22 * hourMs)
    const after = new AnnouncePlan(limits, 5 * hourMs)
    expect(round(after, kept, 5 * hourMs, () => true)).toBe(0)
    expect(after.nextRoundAtMs).toBe(22 * hourMs)
    expect(round(after, kept, 22 * hourMs, () => true)).toBe(1)
  })

  test('no CID is announced before it is due, nor later than a round after that, whenever each came', () => {
    assert(
      property(array(integer({ min: 0, max: 100 * hourMs }), { maxLength: 30 }), (births) => {
        const kept = births.map((bornMs) => ({ bornMs, lastMs: undefined as number | undefined, gaps: [] as number[] }))
        const plan = new AnnouncePlan(limits, 0)
        for (let rounds = 0; plan.nextRoundAtMs <= 200 * hourMs; rounds++) {
          expect(rounds).toBeLessThan(201)
          const nowMs = plan.nextRoundAtMs
          // Those that came since the last round were announced at once, when they came.
          for (const each of kept) if (each.bornMs <= nowMs && each.lastMs === undefined) each.lastMs = each.bornMs
          const before = kept.map(({ lastMs }) => lastMs)
          round(
            plan,
            kept.filter(({ bornMs }) => bornMs <= nowMs),
            nowMs,
            () => true
          )
          expect(plan.nextRoundAtMs).toBeGreaterThanOrEqual(nowMs + limits.roundEveryMs)
          kept.forEach((each, at) => {
            const lastMs = before[at]
            if (lastMs !== undefined && each.lastMs !== lastMs) each.gaps.push((each.lastMs ?? 0) - lastMs)
          })
        }
        for (const gapMs of kept.flatMap(({ gaps }) => gaps)) {
          expect(gapMs).toBeGreaterThanOrEqual(limits.everyMs)
          expect(gapMs).toBeLessThanOrEqual(limits.everyMs + limits.roundEveryMs)
        }
      })
    )
  })

  test('while no router answers, it is tried again after a minute, then two, then four, and an hour at most', () => {
    const kept: Kept[] = [{ lastMs: undefined }, { lastMs: undefined }]
    const plan = new AnnouncePlan(limits, 0)
    const waits: number[] = []
    for (let i = 0; i < 10; i++) {
      const nowMs = plan.nextRoundAtMs
      round(plan, kept, nowMs, () => false)
      waits.push((plan.nextRoundAtMs - nowMs) / 60_000)
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 60])
    expect(round(plan, kept, plan.nextRoundAtMs, () => true)).toBe(2)
  })

  test('[F86] a time of announcement that lies in the future counts as none: the clock was set', () => {
    const plan = new AnnouncePlan(limits, 1000)
    expect(plan.isDue(2000, 1000)).toBe(true)
    expect(plan.isDue(1000, 1000)).toBe(false)
    expect(plan.isDue(undefined, 1000)).toBe(true)
    round(plan, [], 1000, () => true)
    expect(plan.waitMs(1000)).toBe(limits.everyMs)
    expect(plan.waitMs(1000 - 365 * 24 * hourMs)).toBe(0)
    expect(plan.waitMs(1000 + 365 * 24 * hourMs)).toBe(0)
  })

  test('what found no room is met in a round soon', () => {
    const plan = new AnnouncePlan(limits, 0)
    round(plan, [{ lastMs: undefined }], 0, () => true)
    plan.missed(hourMs)
    expect(plan.nextRoundAtMs).toBe(hourMs + limits.retryMs)
  })
})
