import { describe, expect, it } from 'vitest'
import { Candidates } from '../src/candidates.ts'
import { Discovery } from '../src/discovery.ts'
import { Search } from '../src/search.ts'
import type { Ask } from '../src/decision.ts'
import type { PeerView } from '../src/views.ts'
import { Wants } from '../src/wants.ts'
import { block, fixed, limits, peer, peers, ports, stand, want } from './scene.ts'

function discoveryOf(connected: readonly PeerView[], candidates = new Candidates(limits, fixed(0.5))): Discovery {
  return new Discovery(limits, fixed(0.5), ports(connected), candidates, undefined, 0)
}

function names(asks: readonly Ask[] | 'full'): string[] {
  return asks === 'full' ? ['full'] : asks.map(({ peer: of, type }) => `${type} ${of.key}`)
}

function searchOf(isAllowed = true): { search: Search; wants: Wants } {
  const search = new Search(limits, fixed(0.5), isAllowed, 0)
  const wants = new Wants()
  for (let i = 0; i < 10; i++) wants.add(want(block(i), i))
  search.begin(block(0).cid, 0)
  return { search, wants }
}

describe('discovery', () => {
  it('[B4] asks three vetted peers for each newcomer, however many newcomers there are', () => {
    const vetted = peers(14).map((each) => ({ ...each, isVetted: true }))
    const newcomers = Array.from({ length: 1000 }, (_, i) => peer(`new ${i}`))
    const asks = discoveryOf([...newcomers, ...vetted]).look(want(block(1)), true, () => true, 0)
    const count = names(asks).filter((name) => name.includes('new')).length
    expect([asks.length, count]).toEqual([16, 4])
    // Where few are vetted the others have the rest, and the other way round.
    const few = discoveryOf([...newcomers, ...vetted.slice(0, 3)]).look(want(block(1)), true, () => true, 0)
    expect(names(few).filter((name) => name.includes('new'))).toHaveLength(13)
    const one = discoveryOf([...vetted, ...newcomers.slice(0, 1)]).look(want(block(1)), true, () => true, 0)
    expect(names(one)).toHaveLength(15)
  })

  it('[B4] asks 16 peers with want-haves, then 32, 64, 128 and 256, and never more at once', () => {
    const all = peers(1000)
    const discovery = discoveryOf(all)
    const wanted = block(1)
    const of = want(wanted)
    const waves: number[] = []
    for (
      let asks = discovery.look(of, true, () => true, 0);
      asks !== 'full' && asks.length > 0;
      asks = discovery.look(of, true, () => true, 0)
    ) {
      waves.push(asks.length)
      expect(asks.every(({ type }) => type === 'want-have')).toBe(true)
      for (const { peer: asked } of asks) stand(wanted, asked, 'dont-have')
      of.waves += 1
    }
    expect(waves).toEqual([16, 32, 64, 128, 256, 256, 248])
    expect(wanted.stances.size).toBe(1000)
  })

  it('[B4] asks peers of older protocols for the block itself, for the first CID and no other', () => {
    const all = [peer('old', { supportsHave: false }), peer('older', { supportsHave: false }), peer('new')]
    const asks = (isFirst: boolean): string[] => names(discoveryOf(all).look(want(block(1)), isFirst, () => true, 0)).toSorted()
    expect(asks(true)).toEqual(['want-block old', 'want-block older', 'want-have new'])
    expect(asks(false)).toEqual(['want-have new'])
  })

  it('[B4] while providers are full asks the next wave once somebody of the last one had it, or after a second', () => {
    const discovery = discoveryOf(peers(300))
    const of = want(block(1))
    expect(discovery.widen(of, 0)).toHaveLength(16)
    expect(discovery.widen(of, 999)).toHaveLength(0)
    expect(discovery.widen(of, 1000)).toHaveLength(32)
    discovery.answered()
    expect(discovery.widen(of, 1000)).toHaveLength(64)
    discovery.answered()
    expect(discovery.widen(of, 1000)).toHaveLength(128)
    discovery.answered()
    expect(discovery.widen(of, 1000)).toHaveLength(60)
    discovery.answered()
    expect(discovery.widen(of, 9000)).toHaveLength(0)
  })

  it('[B7] asks those who had nothing again after 0.1, 0.2, 0.4, 0.8 … seconds, 16 at a time, at most every 30', () => {
    const all = peers(20)
    const discovery = discoveryOf(all)
    const wanted = block(1)
    for (const each of all.slice(0, 2)) stand(wanted, each, 'in-flight')
    const times: [number, number][] = []
    for (let ms = 0; ms <= 100_000; ms += 100) {
      const asks = discovery.probe(want(wanted), ms)
      if (asks.length > 0) times.push([ms, asks.length])
    }
    expect(times).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 81_200].map((ms) => [ms, 16]))
  })

  it('[B7] asks a peer that connects at once, one time', () => {
    const all = peers(3)
    const discovery = discoveryOf(all)
    discovery.peerCame(all[2]!)
    expect(names(discovery.probe(want(block(1)), 10))).toEqual(['want-have P2'])
    expect(names(discovery.probe(want(block(1)), 11))).toEqual([])
  })

  it('[B7] asks those with older protocols for the block itself, one every 10 s, where there is space', () => {
    const all = [...peers(2), ...Array.from({ length: 3 }, (_, i) => peer(`old${i}`, { supportsHave: false }))]
    const discovery = discoveryOf(all)
    const wanted = want(block(1))
    expect(discovery.older(wanted, () => false, 0)).toBe(undefined)
    expect([9999, 10_000, 19_999, 20_000].map((ms) => discovery.older(wanted, () => true, ms)?.supportsHave)).toEqual([
      undefined,
      false,
      undefined,
      false
    ])
  })

  it('asks nobody whose last word on the block is fresh', () => {
    const all = peers(4)
    const wanted = block(1)
    stand(wanted, all[0]!, 'dont-have', { sinceMs: 100 })
    stand(wanted, all[1]!, 'timed-out', { sinceMs: 100, restMs: 500 })
    stand(wanted, all[2]!, 'have-asked')
    const discovery = discoveryOf(all)
    const open = (nowMs: number): boolean[] => all.map((each) => discovery.isOpen(wanted, each, nowMs))
    expect(open(599)).toEqual([false, false, false, true])
    expect(open(600)).toEqual([false, true, false, true])
    expect(open(100 + limits.askAgainMs)).toEqual([true, true, false, true])
  })

  it('[B10] buys want-haves only at providers that are not sure to have the block', () => {
    const all = peers(6)
    const candidates = new Candidates(limits, fixed(0))
    for (const each of all.slice(0, 5)) candidates.add(each, 1)
    for (const i of [1, 2, 3]) candidates.answer(candidates.get(all[i]!.key)!, false)
    for (let n = 0; n < 10; n++) candidates.answer(candidates.get(all[4]!.key)!, true)
    const wanted = block(1)
    stand(wanted, all[2]!, 'dont-have')
    const discovery = discoveryOf(all, candidates)
    const but = candidates.get(all[0]!.key)
    expect(names(discovery.unsure(want(wanted), 9, but, 0)).toSorted()).toEqual(['want-have P1', 'want-have P3'])
    expect(discovery.unsure(want(wanted), 1, but, 0)).toHaveLength(1)
    expect(discovery.unsure(want(wanted), 0, but, 0)).toHaveLength(0)
  })
})

describe('the search in routing', () => {
  it('[B5] looks the first CID up once the session lasts a second, even where providers are known', () => {
    const { search, wants } = searchOf()
    expect(search.next(wants, 3, 999)).toBeUndefined()
    expect(search.next(wants, 3, 1000)?.toString()).toBe(block(0).cid.toString())
    for (let ms = 1000; ms < limits.searchAnyMs; ms += 1000) expect(search.next(wants, 3, ms)).toBeUndefined()
  })

  it('[B5] looks up at once where nobody is left to ask, then after 1, 2, 4 … seconds, at most each minute', () => {
    const { search, wants } = searchOf()
    const times: number[] = []
    for (let ms = 0; ms < 59_000; ms += 500) {
      search.exhausted()
      if (search.next(wants, 0, ms) !== undefined) times.push(ms)
    }
    expect(times).toEqual([0, 1000, 3000, 7000, 15_000, 31_000])
    search.restart(59_000)
    search.exhausted()
    // What was due last stays due: blocks that arrive shorten the waits after it.
    expect(search.next(wants, 0, 59_500)).toBeUndefined()
  })

  it('[B6] looks up a random open want each minute', () => {
    const { search, wants } = searchOf()
    search.next(wants, 1, 1000)
    const found: [number, string | undefined][] = []
    for (let ms = 2000; ms <= 200_000; ms += 1000) {
      const cid = search.next(wants, 1, ms)
      if (cid !== undefined) found.push([ms, cid.toString()])
    }
    const middle = block(5).cid.toString()
    expect(found).toEqual([60_000, 120_000, 180_000].map((ms) => [ms, middle]))
  })

  it('is not for sessions of fixed peers, nor for those that want nothing', () => {
    const { search, wants } = searchOf(false)
    search.exhausted()
    expect(search.next(wants, 0, 100_000)).toBeUndefined()
    const idle = new Search(limits, fixed(0.5), true, 0)
    expect(idle.next(new Wants(), 0, 100_000)).toBeUndefined()
  })
})
