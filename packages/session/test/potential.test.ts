import { describe, expect, it } from 'vitest'
import { Potential } from '../src/potential.ts'
import { asksOut, potentialOf, type Want } from '../src/want.ts'
import { Wants } from '../src/wants.ts'
import { block, peer, stand, type TestBlock, want } from './scene.ts'

function values(potential: Potential, count: number, step: () => void): number[] {
  return Array.from({ length: count }, () => {
    step()
    return Number(potential.value.toFixed(6))
  })
}

function wantsOf(count: number): { wants: Wants; blocks: TestBlock[]; all: Want[] } {
  const wants = new Wants()
  const blocks = Array.from({ length: count }, (_, i) => block(i))
  const all = blocks.map((each, i) => want(each, i))
  for (const each of all) wants.add(each)
  return { wants, blocks, all }
}

function takeAll(wants: Wants): number[] {
  const order: number[] = []
  for (let top = wants.top(); top !== undefined; top = wants.top()) {
    order.push(top.turn)
    wants.remove(top)
  }
  return order
}

describe('the potential of a session', () => {
  it('[B9] starts at 2, and falls by a tenth with each duplicate once one in five of eight arrivals is one, down to 1', () => {
    const potential = new Potential()
    expect(potential.value).toBe(2)
    expect(values(potential, 7, () => potential.arrived(true))).toEqual([2, 2, 2, 2, 2, 2, 2])
    expect(values(potential, 8, () => potential.arrived(true))).toEqual([1.8, 1.62, 1.458, 1.3122, 1.18098, 1.062882, 1, 1])
  })

  it('[B9] rises by an eighth with each timeout and each second of idleness where nothing comes twice, up to 4', () => {
    const potential = new Potential()
    expect(values(potential, 18, () => potential.lacked())).toEqual([...Array.from({ length: 16 }, (_, i) => 2 + (i + 1) / 8), 4, 4])
  })

  it('[B9] leaves a few duplicates alone, and does not rise while more than one in twenty comes twice', () => {
    const potential = new Potential()
    for (let i = 0; i < 12; i++) potential.arrived(i >= 10)
    // Two of twelve: not one in five, but more than one in twenty.
    expect(potential.value).toBe(2)
    potential.lacked()
    expect(potential.value).toBe(2)
  })

  it('[B9] rises for a timeout of before once duplicates are one in twenty of the last 64 arrivals', () => {
    const potential = new Potential()
    for (let i = 0; i < 8; i++) potential.arrived(true)
    potential.lacked()
    expect(potential.value).toBe(1.8)
    // 56 good ones fill the 64; the five after them push five duplicates out, and 3 of 64 are few enough.
    expect(values(potential, 60, () => potential.arrived(false)).every((value) => value === 1.8)).toBe(true)
    expect(values(potential, 2, () => potential.arrived(false))).toEqual([1.925, 1.925])
  })
})

describe('the potential of a want', () => {
  it('[B10] is P − sent + timeouts: an ask takes one, and its timeout or answer gives it back', () => {
    const wanted = block(1)
    const of = want(wanted)
    const course: [string, number][] = []
    const note = (what: string): unknown => course.push([what, potentialOf(of, 2)])
    note('new')
    wanted.inFlight = 1
    note('a want-block sent')
    wanted.havesAsked = 2
    note('two want-haves sent')
    wanted.havesAsked = 1
    note('one of them answered with DONT_HAVE')
    wanted.inFlight = 0
    note('the want-block timed out')
    of.deferred = true
    note('left to a partner')
    expect(course).toEqual([
      ['new', 2],
      ['a want-block sent', 1],
      ['two want-haves sent', -1],
      ['one of them answered with DONT_HAVE', 0],
      ['the want-block timed out', 1],
      ['left to a partner', 0]
    ])
    expect(asksOut(of)).toBe(2)
  })
})

describe('the order of wants', () => {
  it('[B8] is by potential, greatest first, then first in, first out', () => {
    const { wants, blocks, all } = wantsOf(6)
    blocks[0]!.havesAsked = 2
    blocks[1]!.havesAsked = 1
    all[3]!.deferred = true
    expect(takeAll(wants)).toEqual([2, 4, 5, 1, 3, 0])
  })

  it('[B8] follows a potential that rises again', () => {
    const { wants, blocks, all } = wantsOf(4)
    blocks[0]!.havesAsked = 1
    expect(wants.top()).toBe(all[1])
    blocks[0]!.havesAsked = 0
    wants.setReady(all[0]!)
    expect(takeAll(wants)).toEqual([0, 1, 2, 3])
  })

  it('[B19] a want whose block another session has in flight is in flight here, too, and costs this one a potential', () => {
    const wants = new Wants()
    const wanted = block(1)
    wanted.inFlight = 1
    stand(wanted, peer('A'), 'in-flight')
    const attached = want(wanted)
    wants.add(attached)
    expect([wants.top(), attached.state.phase, potentialOf(attached, 2)]).toEqual([undefined, 'in-flight', 1])
    wanted.inFlight = 0
    wants.setReady(attached)
    expect([wants.top(), potentialOf(attached, 2)]).toEqual([attached, 2])
  })
})
