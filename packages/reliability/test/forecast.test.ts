import { describe, expect, it } from 'vitest'
import { Calibrator } from '../src/calibration.ts'
import { peerNamed, Scene } from './scene.ts'

const surely = { presence: 1, quietMs: 0 }

/** Numbers that look like chance, in [0, 1), the same each time. */
function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

describe('the forecast', () => {
  it('[P5] is presence × success: what a peer does not have fails there', () => {
    const scene = new Scene()
    scene.connect('a')
    scene.turns('a', 'success', 1000)
    scene.pass()
    scene.score('a')
    expect(scene.core.failChance(peerNamed('a'), surely)).toBeCloseTo(0, 6)
    expect(scene.core.failChance(peerNamed('a'), { presence: 0.25, quietMs: 0 })).toBeCloseTo(0.75, 6)
    expect(scene.core.failChance(peerNamed('a'), { presence: 0, quietMs: 0 })).toBe(1)
  })

  it('[P5] of a peer not yet seen is the mean of the cohort', () => {
    const scene = new Scene()
    expect(scene.core.failChance(peerNamed('new'), surely)).toBeCloseTo(0.1, 9)
    scene.connect(1, 2, 3, 4, 'new')
    for (const name of [1, 2, 3]) scene.turns(name, 'success', 1000)
    scene.turns(4, 'silence', 1000)
    scene.pass()
    scene.score(1)
    expect(scene.core.failChance(peerNamed('new'), surely)).toBeCloseTo(0.25, 6)
  })

  it('[P5] has a peer as doubtful where what it surely has is likelier to fail than to come', () => {
    const scene = new Scene()
    scene.connect('a', 'b', 'new')
    scene.turns('a', 'success', 100)
    scene.turns('b', 'silence', 100)
    const doubtful = ['a', 'b', 'new', 'never met'].filter((name) => scene.core.isDoubtful(peerNamed(name)))
    expect(doubtful).toEqual(['b'])
  })

  it('[P5] doubts a peer that is quiet for longer than its blocks ever take', () => {
    const scene = new Scene()
    scene.connect('a')
    scene.turns('a', 'success', 1000, 20)
    scene.pass()
    scene.score('a')
    const after = (quietMs: number): number => scene.core.failChance(peerNamed('a'), { presence: 1, quietMs })
    // Its blocks take 20 ms; a fifth of a second says nothing of any peer (`quietMinMs`).
    expect([after(15), after(199), after(400), after(2000)].map((chance) => chance.toFixed(6))).toEqual([
      '0.000000',
      '0.000000',
      '0.500000',
      '0.900000'
    ])
  })

  it('[P5] beats the base rate on a cohort of good, middling and bad peers, and is calibrated', () => {
    const scene = new Scene()
    const roll = dice(7)
    const chances = [0.99, 0.99, 0.99, 0.98, 0.97, 0.9, 0.8, 0.5, 0.1, 0]
    scene.connect(...chances.keys())
    for (let time = 0; time < 3000; time++) {
      const name = Math.floor(roll() * chances.length)
      const peer = peerNamed(name)
      scene.score(name)
      const turn = { key: 'k' as never, peer, role: 'primary', failChance: scene.core.failChance(peer, surely) } as const
      scene.core.asked(turn, scene.nowMs)
      scene.pass(20)
      const isSuccess = roll() < (chances[name] as number)
      scene.core.settled(turn, isSuccess ? 'success' : 'timeout', scene.nowMs)
    }
    const { forecasts, brier, baseRateBrier, calibrationError } = scene.core.calibration()
    expect(forecasts).toBe(3000)
    expect(brier / baseRateBrier).toBeLessThan(0.8)
    expect(calibrationError).toBeLessThan(0.05)
  })

  it('counts DONT_HAVE against the forecast, and nothing that we ended ourselves', () => {
    const scene = new Scene()
    scene.connect('a')
    scene.turns('a', 'denied', 3)
    scene.turns('a', 'withdrawn', 5)
    scene.turns('a', 'refused', 5)
    scene.turns('a', 'success', 1)
    expect(scene.core.calibration().forecasts).toBe(4)
    expect(scene.core.calibration().failRate).toBeCloseTo(0.75, 2)
  })
})

describe('how good forecasts are', () => {
  it('is told by hand for four of them', () => {
    const calibrator = new Calibrator()
    expect(calibrator.figures).toEqual({ forecasts: 0, failRate: 0, brier: 0, baseRateBrier: 0, calibrationError: 0 })
    calibrator.observe(0.1, false)
    calibrator.observe(0.1, true)
    calibrator.observe(0.8, true)
    calibrator.observe(0.8, true)
    const figures = calibrator.figures
    // Weights of old ones are 0.999 of the next: all but alike.
    expect(figures.forecasts).toBe(4)
    expect(figures.failRate).toBeCloseTo(0.75, 3)
    expect(figures.brier).toBeCloseTo((0.01 + 0.81 + 0.04 + 0.04) / 4, 3)
    expect(figures.baseRateBrier).toBeCloseTo(0.75 * 0.25, 3)
    // Of two at 0.1 one failed: 0.4 off; of two at 0.8 both: 0.2 off.
    expect(figures.calibrationError).toBeCloseTo((0.8 + 0.4) / 4, 3)
  })

  it('takes a forecast of exactly 0 or 1, and one that is out of bounds for the bound', () => {
    const calibrator = new Calibrator()
    for (const [forecast, isFailure] of [
      [0, false],
      [1, true],
      [-3, false],
      [7, true]
    ] as const) {
      calibrator.observe(forecast, isFailure)
    }
    expect(calibrator.figures).toMatchObject({ forecasts: 4, brier: 0, calibrationError: 0 })
  })
})
