import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultReliabilityLimits } from '../src/index.ts'
import { Newcomers } from '../src/newcomers.ts'
import { Scene } from './scene.ts'

describe('vetting', () => {
  it('[C4] takes 20 observations, nine tenths of them successes', () => {
    const scene = new Scene()
    scene.connect('a', 'b', 'c')
    scene.turns('a', 'success', 19)
    expect(scene.isVetted('a')).toBe(false)
    scene.turns('a', 'success', 1)
    expect(scene.isVetted('a')).toBe(true)
    scene.turns('b', 'timeout', 1)
    scene.turns('b', 'success', 19)
    expect(scene.isVetted('b')).toBe(true)
    scene.turns('c', 'success', 10)
    scene.turns('c', 'timeout', 3)
    scene.turns('c', 'success', 10)
    expect(scene.isVetted('c')).toBe(false)
  })

  it('comes late to a peer that failed at first, and not by what is no observation', () => {
    const scene = new Scene()
    scene.connect('a')
    scene.turns('a', 'timeout', 5)
    scene.turns('a', 'denied', 100)
    let observations = 5
    while (!scene.isVetted('a')) {
      scene.turns('a', 'success', 1)
      observations += 1
    }
    // After n successes the failures weigh 4.8 · 0.98^n, the successes 50 · (1 − 0.98^n): a tenth of all from n = 31 on.
    expect(observations).toBe(36)
  })

  it('is lost when failure is likelier than success, after seven failures in a row, and then takes 20 observations again', () => {
    const scene = new Scene()
    scene.connect('a')
    scene.turns('a', 'success', 100)
    let failures = 0
    while (scene.isVetted('a')) {
      scene.turns('a', 'timeout', 1)
      failures += 1
    }
    expect(failures).toBe(7)
    scene.turns('a', 'success', 19)
    expect(scene.isVetted('a')).toBe(false)
  })

  it('is lost by a cut line, however much was out, and regained after a few successes', () => {
    const scene = new Scene()
    scene.connect('a')
    scene.turns('a', 'success', 100)
    scene.fail('a', 64)
    expect(scene.isVetted('a')).toBe(false)
    let successes = 0
    for (; !scene.isVetted('a'); successes++) scene.turns('a', 'success', 1)
    expect(successes).toBe(6)
    const { counts, success24h } = scene.core.scores(scene.nowMs)[0] ?? {}
    expect([counts?.resets, success24h]).toEqual([64, 106 / 170])
  })

  it('is not regained so soon by who failed as often one after another', () => {
    const scene = new Scene()
    scene.connect('a')
    scene.turns('a', 'success', 100)
    scene.turns('a', 'reset', 64)
    scene.turns('a', 'success', 90)
    expect(scene.isVetted('a')).toBe(false)
  })

  it('leaves a newcomer half of what the median of those vetted has, and all alike where nobody is vetted', () => {
    const scene = new Scene()
    scene.connect('a', 'b', 'new')
    const alike = ['a', 'b', 'new', 'never seen'].map((name) => scene.score(name))
    expect(new Set(alike).size).toBe(1)
    scene.turns('a', 'success', 40)
    scene.turns('b', 'success', 40)
    scene.pass()
    expect([scene.score('a'), scene.score('b')]).toEqual([100, 100])
    expect([scene.score('new'), scene.score('never seen')]).toEqual([50, 50])
    scene.turns('new', 'success', 19)
    expect(scene.score('new')).toBe(50)
    scene.turns('new', 'success', 1)
    expect(scene.score('new')).toBe(100)
    scene.disconnect('a', 'b', 'new')
    scene.connect('other')
    scene.pass()
    expect(scene.score('other')).toBe(scene.score('never seen'))
    expect(scene.score('other')).toBeCloseTo(100 * 0.9 ** 4, 9)
  })
})

describe('the share of newcomers', () => {
  it('[C4] is a twentieth of the picks for which somebody vetted had space', () => {
    const scene = new Scene()
    let newcomers = 0
    for (let pick = 1; pick <= 2000; pick++) {
      const isNewcomer = scene.core.mayPickNewcomer()
      if (isNewcomer) newcomers += 1
      scene.core.picked(!isNewcomer)
      expect(newcomers).toBe(Math.floor(pick / 20))
    }
  })

  it('saves up four picks, no more', () => {
    const scene = new Scene()
    for (let pick = 0; pick < 10_000; pick++) scene.core.picked(true)
    let newcomers = 0
    for (; scene.core.mayPickNewcomer(); newcomers++) scene.core.picked(false)
    expect(newcomers).toBe(4)
  })

  it('[C4] is never above its part, whatever they ask and however many they are', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 2000 }), (asks) => {
        const newcomers = new Newcomers(defaultReliabilityLimits)
        let picked = 0
        asks.forEach((asksNewcomer, at) => {
          const isNewcomer = asksNewcomer && newcomers.mayBePicked
          newcomers.picked(!isNewcomer)
          if (isNewcomer) picked += 1
          expect(picked).toBeLessThanOrEqual((at + 1) * 0.05)
        })
      })
    )
  })
})
