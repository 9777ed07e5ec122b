import type { PeerKey } from '@shardswap/interface'
import { describe, expect, it } from 'vitest'
import { Candidates, type Choice, type Rest } from '../src/candidates.ts'
import type { BlockView, PeerView } from '../src/views.ts'
import { block, chiSquare, fixed, limits, peer, peers, seeded, stand } from './scene.ts'

const hasSpace = (): boolean => true
const rest = { bytes: 1e9, blockBytes: 1000, inFlight: 1 }
const left = (blocks: number): Rest => ({ bytes: blocks * 250_000, blockBytes: 250_000, inFlight: 1 })

function candidatesOf(all: readonly PeerView[], seed = 1, hit = 1): Candidates {
  const candidates = new Candidates({ ...limits, candidatesMax: 20_000 }, seeded(seed))
  for (const each of all) candidates.add(each, hit)
  return candidates
}

function chosen(choice: Choice): PeerKey | string {
  return choice.kind === 'peer' ? choice.candidate.peer.key : choice.kind
}

/** How often each peer is drawn for a block. */
function draws(candidates: Candidates, of: BlockView, all: readonly PeerView[], count = 100_000): number[] {
  const counts = new Map<string, number>()
  for (let i = 0; i < count; i++) {
    const key = chosen(candidates.choose(of, rest, hasSpace, 0))
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return all.map(({ key }) => counts.get(key) ?? 0)
}

/** Who is drawn while so many blocks are left. */
function drawn(blocks: number, all: readonly PeerView[]): Set<string> {
  const candidates = candidatesOf(all)
  const seen = new Set<string>()
  for (let i = 0; i < 200; i++) seen.add(chosen(candidates.choose(block(i), left(blocks), hasSpace, 0)))
  return seen
}

// Bounds that chance alone passes once in a thousand times, by degrees of freedom.
const chiSquareMax = [0, 10.83, 13.82, 16.27, 18.47]

describe('the choice of a peer', () => {
  it('[C3] with all other factors equal the shares are the scores: 100 : 50 : 1', () => {
    const all = [peer('A', { score: 100 }), peer('B', { score: 50 }), peer('C', { score: 1 })]
    const counts = draws(candidatesOf(all), block(1), all)
    const shares = [100 / 151, 50 / 151, 1 / 151]
    expect(chiSquare(counts, shares)).toBeLessThan(chiSquareMax[2]!)
    for (const [i, count] of counts.entries()) expect(Math.abs(count / 100_000 - shares[i]!)).toBeLessThan(0.005)
  })

  it('[C3][B16] the shares are the weights of blocks delivered: 1, 2, 2.5 and 3.25 for 0, 4, 8 and 24 of them', () => {
    const all = peers(4)
    const candidates = candidatesOf(all)
    for (const [i, blocks] of [0, 4, 8, 24].entries()) {
      const candidate = candidates.get(all[i]!.key)!
      for (let n = 0; n < blocks; n++) candidates.receive(candidate)
    }
    const weights = [1, 2, 2.5, 3.25]
    const sum = weights.reduce((a, b) => a + b, 0)
    expect(
      chiSquare(
        draws(candidates, block(1), all),
        weights.map((weight) => weight / sum)
      )
    ).toBeLessThan(chiSquareMax[3]!)
  })

  it('[C3][B17] a peer with one timeout gets half of what the others get, one with two a quarter', () => {
    const all = peers(3)
    const candidates = candidatesOf(all)
    for (const each of candidates) candidates.receive(each)
    for (const [i, timeouts] of [0, 1, 2].entries()) {
      const candidate = candidates.get(all[i]!.key)!
      for (let n = 0; n < timeouts; n++) candidates.timeOut(candidate, 0, 100)
    }
    expect(chiSquare(draws(candidates, block(1), all), [4 / 7, 2 / 7, 1 / 7])).toBeLessThan(chiSquareMax[2]!)
  })

  it('[C3][B18] a queue that is half full is drawn 0.55 times as often as an empty one, a full one a tenth', () => {
    const all = [peer('A'), peer('B', { depth: 0.5 }), peer('C', { depth: 1 })]
    const candidates = candidatesOf(all)
    for (const each of candidates) {
      candidates.receive(each)
    }
    const shares = [1, 0.55, 0.1].map((weight) => weight / 1.65)
    expect(chiSquare(draws(candidates, block(1), all), shares)).toBeLessThan(chiSquareMax[2]!)
  })

  it('[C3] a peer that said HAVE counts in full, others by their hit rate, one that said DONT_HAVE not at all', () => {
    const all = peers(4)
    const candidates = candidatesOf(all)
    for (const each of candidates) {
      candidates.receive(each)
    }
    const [have, half, denied, full] = all.map(({ key }) => candidates.get(key)!)
    for (const each of [have!, half!]) while (each.hit > 0.6) candidates.answer(each, false)
    const wanted = block(1)
    stand(wanted, have!.peer, 'have')
    stand(wanted, denied!.peer, 'dont-have')
    const hit = half!.hit
    expect(hit).toBe(0.5625)
    const shares = [1, hit, 0, 1].map((weight) => weight / (2 + hit))
    const counts = draws(candidates, wanted, all)
    expect(counts[2]).toBe(0)
    expect(chiSquare(counts.toSpliced(2, 1), shares.toSpliced(2, 1))).toBeLessThan(chiSquareMax[2]!)
    expect(full!.weight(1)).toBe(have!.weight(1))
  })

  it('[B20] draws a peer after its timeout by what of the rest is over: 0, then a quarter, then all', () => {
    const all = peers(2)
    const wanted = block(1)
    stand(wanted, all[0]!, 'timed-out', { sinceMs: 1000, restMs: 100, promised: true })
    const at = (nowMs: number): number => {
      const candidates = candidatesOf(all, 5)
      for (const each of candidates) {
        candidates.receive(each)
      }
      let first = 0
      for (let i = 0; i < 40_000; i++) if (chosen(candidates.choose(wanted, rest, hasSpace, nowMs)) === all[0]!.key) first += 1
      return first
    }
    expect([at(1000), at(1100)]).toEqual([0, 0])
    for (const [ms, share] of [
      [1200, 0.25 / 1.25],
      [1300, 0.5 / 1.5],
      [1500, 0.5]
    ] as const) {
      const first = at(ms)
      expect(chiSquare([first, 40_000 - first], [share, 1 - share])).toBeLessThan(chiSquareMax[1]!)
    }
  })

  it('[B21] gives a newcomer 1.5 × the median of those that were tried, however many come at once', () => {
    const candidates = candidatesOf(peers(5))
    // Before anybody was tried all compete alike.
    expect(Array.from(candidates, (each) => each.weight(1))).toEqual([1, 1, 1, 1, 1])
    for (const [i, blocks] of [4, 8, 24].entries()) for (let n = 0; n < blocks; n++) candidates.at(i)!.receive()
    const newcomers = Array.from({ length: 40 }, (_, i) => candidates.add(peer(`new ${i}`), 1)!.weight(1))
    expect(newcomers).toEqual(Array.from({ length: 40 }, () => 1.5 * 2.5))
  })

  it('tells a peer without space from one that may not be asked', () => {
    const all = peers(2)
    const candidates = candidatesOf(all)
    const wanted = block(1)
    expect(chosen(candidates.choose(wanted, rest, () => false, 0))).toBe('full')
    for (const each of all) stand(wanted, each, 'dont-have')
    expect(chosen(candidates.choose(wanted, rest, hasSpace, 0))).toBe('nobody')
    stand(wanted, all[0]!, 'timed-out', { sinceMs: 0, restMs: 100, promised: true })
    expect(chosen(candidates.choose(wanted, rest, hasSpace, 50))).toBe('nobody')
    expect(chosen(candidates.choose(wanted, rest, hasSpace, 101))).toBe('P0')
    expect(chosen(candidatesOf([]).choose(wanted, rest, hasSpace, 0))).toBe('nobody')
  })

  it('[B22] leaves a peer on hold out of the draw, and takes it in again with its space', () => {
    const all = peers(3)
    const candidates = candidatesOf(all)
    const asked = new Set<string>()
    const onHold = candidates.get(all[1]!.key)!
    const space = (candidate: { readonly peer: PeerView }): boolean => {
      if (candidate.peer.key !== all[1]!.key) return true
      asked.add(candidate.peer.key)
      return false
    }
    for (let i = 0; i < 1000; i++) expect(chosen(candidates.choose(block(i), rest, space, 0))).not.toBe(all[1]!.key)
    expect(asked.size).toBe(1)
    candidates.refresh(onHold)
    const counts = draws(candidates, block(1), all, 30_000)
    expect(chiSquare(counts, [1 / 3, 1 / 3, 1 / 3])).toBeLessThan(chiSquareMax[2]!)
  })

  it('[B11] leaves a peer out whose limit in this session is reached', () => {
    const all = peers(2)
    const candidates = candidatesOf(all)
    const busy = candidates.get(all[0]!.key)!
    busy.inFlight = busy.limit
    candidates.refresh(busy)
    expect(draws(candidates, block(1), all, 500)).toEqual([0, 500])
    const wanted = block(2)
    stand(wanted, busy.peer, 'have')
    expect(draws(candidates, wanted, all, 500)).toEqual([0, 500])
  })

  it('leaves a peer that rests out, promised or not, until its time is over or a block of it comes', () => {
    const all = peers(2)
    // The die of the rest's length stands in the middle.
    const candidates = new Candidates(limits, fixed(0.5))
    for (const each of all) candidates.add(each, 1)
    const silent = candidates.get(all[0]!.key)!
    candidates.timeOut(silent, 0, 100)
    candidates.timeOut(silent, 100, 200)
    const wanted = block(1)
    stand(wanted, all[0]!, 'have')
    stand(wanted, all[1]!, 'dont-have')
    expect([candidates.restedAtMs, chosen(candidates.choose(wanted, rest, hasSpace, 300))]).toEqual([700, 'nobody'])
    expect([candidates.wakeRested(699), candidates.wakeRested(700)]).toEqual([false, true])
    expect(chosen(candidates.choose(wanted, rest, hasSpace, 700))).toBe('P0')
    candidates.timeOut(silent, 700, 800)
    expect(chosen(candidates.choose(wanted, rest, hasSpace, 800))).toBe('nobody')
    expect(candidates.receive(silent)).toBe(true)
    expect([candidates.restedAtMs, chosen(candidates.choose(wanted, rest, hasSpace, 800))]).toEqual([Number.POSITIVE_INFINITY, 'P0'])
  })

  it('asks no peer unseen that mostly lacks what it is asked for, unless it said HAVE', () => {
    const all = peers(2)
    const candidates = candidatesOf(all)
    const poor = candidates.get(all[0]!.key)!
    for (let i = 0; i < 6; i++) candidates.answer(poor, i === 0)
    expect(poor.hit).toBe(0.75 ** 5)
    expect(draws(candidates, block(1), all, 500)).toEqual([0, 500])
    const wanted = block(2)
    stand(wanted, poor.peer, 'have')
    stand(wanted, all[1]!, 'dont-have')
    expect(draws(candidates, wanted, all, 500)).toEqual([500, 0])
  })

  it('keeps its tree right while peers come and go', () => {
    const candidates = candidatesOf([], 3)
    const random = seeded(9)
    const present = new Map<string, PeerView>()
    for (let i = 0; i < 2000; i++) {
      const name = `P${Math.floor(random.next() * 30)}`
      const known = present.get(name)
      if (known === undefined) {
        const fresh = peer(name)
        present.set(name, fresh)
        candidates.add(fresh, 1)
      } else {
        candidates.remove(candidates.get(known.key)!)
        present.delete(name)
      }
      expect(candidates.size).toBe(present.size)
      const choice = candidates.choose(block(i), rest, hasSpace, 0)
      expect(present.size === 0 ? choice.kind === 'nobody' : present.has(chosen(choice))).toBe(true)
    }
  })

  it('keeps no more than its limit: the least of those with nothing to do makes room, and nobody else', () => {
    const candidates = new Candidates({ ...limits, candidatesMax: 2 }, fixed(0))
    const [first, second, third, fourth] = peers(4)
    const busy = candidates.add(first!, 1)!
    busy.inFlight = 1
    candidates.add(second!, 1)
    expect(candidates.add(third!, 1)?.peer).toBe(third)
    expect([first, second, third].map((each) => candidates.get(each!.key) !== undefined)).toEqual([true, false, true])
    candidates.get(third!.key)!.inFlight = 1
    expect(candidates.add(fourth!, 1)).toBe(undefined)
    expect(candidates.size).toBe(2)
    // What is out there must count, else its peer's limit would not hold.
    expect(candidates.add(fourth!, 0, true)?.peer).toBe(fourth)
  })

  it('holds nobody back for those who are not at work', () => {
    const [slow, quick] = [peer('slow', { bytesPerMs: 10 }), peer('quick', { bytesPerMs: 10_000 })]
    const candidates = candidatesOf([slow, quick])
    const wanted = block(1)
    stand(wanted, quick, 'dont-have')
    const choice = (inFlight: number): string => chosen(candidates.choose(wanted, { ...left(1), inFlight }, hasSpace, 0))
    expect([choice(1), choice(0)]).toEqual(['full', 'slow'])
  })

  it('holds nobody back for those who hardly ever have what they are asked for', () => {
    const [slow, quick] = [peer('slow', { bytesPerMs: 10 }), peer('quick', { bytesPerMs: 10_000 })]
    const candidates = candidatesOf([slow, quick])
    for (let i = 0; i < 10; i++) candidates.answer(candidates.get(quick.key)!, false)
    expect(chosen(candidates.choose(block(1), left(1), hasSpace, 0))).toBe('slow')
  })

  it('keeps the last blocks from a slow peer that happens to have space, as long as another is sooner done', () => {
    const slow = peer('slow', { bytesPerMs: 1000 })
    const quick = peer('quick', { bytesPerMs: 10_000 })
    // A block takes the slow one 250 ms, a quarter more at worst; 11 take the other 275 ms, and 50 ms do not matter.
    expect(drawn(11, [slow, quick])).toEqual(new Set(['slow', 'quick']))
    expect(drawn(10, [slow, quick])).toEqual(new Set(['quick']))
    // Alone, or beside those of whom nothing is known, it gets them all the same.
    expect(drawn(1, [slow])).toEqual(new Set(['slow']))
    expect(drawn(1, [slow, peer('new')])).toEqual(new Set(['slow', 'new']))
    // What counts is when each is done with what it has: one that is quicker, and busier, would be later.
    expect(drawn(1, [slow, peer('busy', { bytesPerMs: 10_000, inFlightBytes: 5e6 })])).toEqual(new Set(['slow']))
  })
})
