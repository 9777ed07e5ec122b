import { describe, expect, it } from 'vitest'
import { Candidates, type Choice } from '../src/candidates.ts'
import { block, chiSquare, limits, peer, seeded, stand } from './scene.ts'

const rest = { bytes: 1e9, blockBytes: 1000, inFlight: 1 }
const space = (): boolean => true

function pick(choice: Choice): [name: string, isContested: boolean] {
  if (choice.kind !== 'peer') throw new Error(choice.kind)
  return [choice.candidate.peer.key, choice.isContested]
}

/** A newcomer said HAVE, and somebody vetted was asked at 0. */
function chooseEarly(mayPick: boolean, latencyMs: number | undefined, nowMs: number, score = 1): Choice {
  const candidates = new Candidates(limits, seeded(3), () => mayPick)
  const young = peer('new', { score })
  candidates.add(young, 1)
  const of = block(1)
  stand(of, young, 'have')
  stand(of, peer('old', { isVetted: true, latencyMs, score: 1 }), 'have-asked')
  of.havesAsked = 1
  return candidates.choose(of, rest, space, nowMs)
}

describe('newcomers beside peers that are vetted', () => {
  it('get nothing of what somebody vetted can serve while their share is used up, however many they are', () => {
    const candidates = new Candidates(limits, seeded(3), () => false)
    candidates.add(peer('old', { isVetted: true }), 1)
    for (let i = 0; i < 500; i++) candidates.add(peer(`new${i}`, { score: 100 }), 1)
    for (let i = 0; i < 300; i++) expect(pick(candidates.choose(block(i), rest, space, 0))).toEqual(['old', true])
  })

  it('compete by their weights where their share lets them', () => {
    const candidates = new Candidates(limits, seeded(3), () => true)
    candidates.add(peer('old', { isVetted: true, score: 3 }), 1)
    candidates.add(peer('new', { score: 1 }), 1)
    const counts = { old: 0, new: 0 }
    for (let i = 0; i < 4000; i++) {
      const [name, isContested] = pick(candidates.choose(block(i), rest, space, 0))
      counts[name as keyof typeof counts] += 1
      expect(isContested).toBe(true)
    }
    // 99 % of such counts are below 6.63 (one degree of freedom).
    expect(chiSquare([counts.old, counts.new], [0.75, 0.25])).toBeLessThan(6.63)
  })

  it('get what nobody vetted has space for, and that counts for no share', () => {
    const candidates = new Candidates(limits, seeded(3), () => false)
    const old = candidates.add(peer('old', { isVetted: true }), 1)
    candidates.add(peer('new'), 1)
    const choice = candidates.choose(block(1), rest, (candidate) => candidate !== old, 0)
    expect(pick(choice)).toEqual(['new', false])
  })

  it('get what they alone said HAVE for only where no vetted peer may have it', () => {
    const candidates = new Candidates(limits, seeded(3), () => false)
    const [old, young] = [peer('old', { isVetted: true }), peer('new')]
    candidates.add(old, 1)
    candidates.add(young, 1)
    const of = block(1)
    stand(of, young, 'have')
    expect(pick(candidates.choose(of, rest, space, 0))).toEqual(['old', true])
    stand(of, old, 'dont-have')
    expect(pick(candidates.choose(of, rest, space, 0))).toEqual(['new', false])
  })

  it('wait with the first block for somebody vetted who will have answered in a moment, and no longer', () => {
    expect(chooseEarly(false, 50, 99).kind).toBe('nobody')
    expect(pick(chooseEarly(false, 50, 100))).toEqual(['new', false])
    // Of one that is remembered, but was not heard in this run, no latency is known.
    expect(chooseEarly(false, undefined, 199).kind).toBe('nobody')
    expect(pick(chooseEarly(false, undefined, 200))).toEqual(['new', false])
    expect(pick(chooseEarly(true, 50, 0))).toEqual(['new', false])
  })

  it('wait so for somebody vetted in place of one that failed, though their share is not used up', () => {
    expect(chooseEarly(true, 50, 99, 0.24).kind).toBe('nobody')
    expect(pick(chooseEarly(true, 50, 100, 0.24))).toEqual(['new', false])
    expect(pick(chooseEarly(true, 50, 99, 0.25))).toEqual(['new', false])
  })

  it('are all alike where nobody is vetted', () => {
    const candidates = new Candidates(limits, seeded(3), () => false)
    for (let i = 0; i < 4; i++) candidates.add(peer(`new${i}`), 1)
    const counts = [0, 0, 0, 0]
    for (let i = 0; i < 4000; i++) {
      const [name, isContested] = pick(candidates.choose(block(i), rest, space, 0))
      counts[Number(name.slice(3))]! += 1
      expect(isContested).toBe(false)
    }
    // 99 % of such counts are below 11.3 (three degrees of freedom).
    expect(chiSquare(counts, [0.25, 0.25, 0.25, 0.25])).toBeLessThan(11.3)
  })

  it('are newcomers no more once a peer is vetted', () => {
    const candidates = new Candidates(limits, seeded(3), () => false)
    const first = peer('first')
    const [candidate] = [candidates.add(first, 1), candidates.add(peer('second'), 1)]
    first.isVetted = true
    if (candidate !== undefined) candidates.refresh(candidate)
    for (let i = 0; i < 50; i++) expect(pick(candidates.choose(block(i), rest, space, 0))).toEqual(['first', true])
  })

  it('[B11] [B15] [C4] begin with one want where they are likelier to fail than not, and grow from there with each block', () => {
    const candidates = new Candidates(limits, seeded(3))
    const fresh = candidates.add(peer('fresh'), 1)
    const doubtful = candidates.add(peer('doubtful', { isDoubtful: true }), 1)
    expect([fresh?.limit, doubtful?.limit]).toEqual([limits.wantsInFlightStart, 1])
    const grown = Array.from({ length: 4 }, () => {
      doubtful?.receive()
      return doubtful?.limit
    })
    expect(grown).toEqual([2, 4, 8, 16])
  })
})
