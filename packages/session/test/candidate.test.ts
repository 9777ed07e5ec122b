import { describe, expect, it } from 'vitest'
import { Candidate } from '../src/candidate.ts'
import { defaultSessionLimits } from '../src/limits.ts'
import { peer } from './scene.ts'

describe('whether a peer is sure to have what it is asked for', () => {
  it('[B10] shows after four answers, and after one DONT_HAVE not before nine of ten answers were hits', () => {
    const candidate = new Candidate(peer('a'), 0, 1, 0, defaultSessionLimits)
    const after = (has: boolean, times: number): boolean => {
      for (let i = 0; i < times; i++) candidate.answer(has)
      return candidate.isSure
    }
    // What it was met by is the first answer.
    expect(candidate.isSure).toBe(false)
    expect(after(true, 2)).toBe(false)
    expect(after(true, 1)).toBe(true)
    expect(after(false, 1)).toBe(false)
    // One miss in nine answers, though of late all were hits; then one in eleven.
    expect(after(true, 4)).toBe(false)
    expect(candidate.hit).toBeGreaterThan(0.9)
    expect(after(true, 2)).toBe(true)
  })
})
