import { peerKey } from '@shardswap/interface'
import { describe, expect, it } from 'vitest'
import type { Broker, Command } from '../src/index.ts'
import { A, asks, at, B, lines, queue, scene, want } from './scene.ts'

const KiB = 1024
const C = peerKey('C')

/** A knows the DAG of each session by routing; blocks are small, so that bytes bound nothing. */
function shared(sessions: number, options: Parameters<typeof scene>[0] = {}): Broker {
  const c = scene({ peers: [A], ...options })
  for (let id = 0; id < sessions; id++) {
    if (id > 0) c.openSession(id, {}, 0)
    c.providerFound(id, A, 0)
    want(c, 1000 + id, 1001 + id, 0, id)
  }
  c.decide(0)
  for (let id = 0; id < sessions; id++) c.receiveBlock(A, at(1000 + id).key, 2000, 1)
  c.decide(1)
  return c
}

function blocksOf(commands: readonly Command[]): number {
  return asks(commands).filter((line) => line.startsWith('block')).length
}

describe('want queues', () => {
  it('[B1][C2] limits a peer over all sessions together: 128, however many sessions want more', () => {
    const c = shared(20)
    for (let id = 0; id < 20; id++) want(c, 20 * id, 20 * id + 20, 2, id)
    expect(blocksOf(c.decide(2))).toBe(128)
    expect(queue(c, A)).toMatchObject({ inFlight: 128, limitWants: 128 })
    // One more leaves as one comes in, and not before.
    expect(c.decide(3)).toEqual([])
    const inFlight = c.standingAt(A)[0]!
    c.receiveBlock(A, inFlight.key, 2000, 4)
    expect(blocksOf(c.decide(4))).toBe(1)
    expect(queue(c, A).inFlight).toBe(128)
  })

  it('[B1] the limit of one peer is none of another: two of them take twice as many', () => {
    const c = shared(20, { peers: [A, B] })
    for (let id = 0; id < 20; id++) {
      c.providerFound(id, B, 1)
      want(c, 20 * id, 20 * id + 20, 2, id)
    }
    expect(blocksOf(c.decide(2))).toBe(256)
    expect([queue(c, A).inFlight, queue(c, B).inFlight]).toEqual([128, 128])
  })

  it('[B2] handles wants one by one: each block that comes in opens one place, which one want takes', () => {
    const c = shared(1)
    want(c, 0, 40, 2)
    expect(asks(c.decide(2))).toEqual(Array.from({ length: 16 }, (_, i) => `block ${i} A`))
    const sent = [0, 1, 2, 3, 4, 5].map((i) => {
      c.receiveBlock(A, at(i).key, 2000, 3 + i)
      return asks(c.decide(3 + i))
    })
    expect(sent).toEqual([16, 17, 18, 19, 20, 21].map((i) => [`block ${i} A`]))
  })

  it('[B14] spreads twenty children over A, who answers first, and B', () => {
    const c = scene({ peers: [A, B] })
    want(c, 0, 1)
    c.decide(0)
    c.receivePresence(A, at(0).key, 'have', 100)
    c.decide(100)
    c.receiveBlock(A, at(0).key, 2000, 110)
    want(c, 1, 21, 110)
    const toA = asks(c.decide(110)).filter((line) => line.startsWith('block'))
    expect(toA).toEqual(Array.from({ length: 16 }, (_, i) => `block ${i + 1} A`))
    c.receivePresence(B, at(0).key, 'have', 200)
    expect(asks(c.decide(200)).filter((line) => line.startsWith('block'))).toEqual([17, 18, 19, 20].map((i) => `block ${i} B`))
  })

  it('[B14] gives the first answerer no more than N of twenty before the second has answered, where no block has come', () => {
    const c = scene({ peers: [A, B] })
    want(c, 0, 21)
    c.decide(0)
    c.receivePresence(A, at(0).key, 'have', 100)
    expect(asks(c.decide(100)).filter((line) => line.startsWith('block'))).toHaveLength(8)
    c.receivePresence(B, at(0).key, 'have', 200)
    const toB = asks(c.decide(200)).filter((line) => line.startsWith('block'))
    expect([toB.length, toB.every((line) => line.endsWith('B'))]).toEqual([8, true])
  })

  it('[B15] a peer begins with 128 wants, follows bandwidth × delay, and never has more than 1,024', () => {
    const c = scene({ peers: [A], limits: { wantsInFlightStart: 1024 } })
    c.providerFound(0, A, 0)
    want(c, 0, 3000)
    // A block is taken for 256 KiB until one has come: 4 MiB hold sixteen.
    expect(blocksOf(c.decide(0))).toBe(16)
    c.receiveBlock(A, at(0).key, 2000, 100)
    expect(blocksOf(c.decide(100))).toBe(128 - 15)
    expect(queue(c, A)).toMatchObject({ inFlight: 128, limitWants: 128, latencyMs: 100 })
    for (let i = 1; i < 8; i++) c.receiveBlock(A, at(i).key, 2000, 100)
    // Until blocks have shown more, 4 MiB may be in flight: they hold 2,097 of 2,000 bytes.
    c.receiveBytes(A, 1, 100)
    c.receiveBytes(A, 1_000_000, 200)
    expect(queue(c, A)).toMatchObject({ bytesPerS: 10_000_000, windowBytes: 4 * 1024 * 1024, limitWants: 1024 })
    c.decide(200)
    expect(queue(c, A).inFlight).toBe(1024)
    expect(c.standingAt(A)).toHaveLength(1024)
  })

  it('[B15] a window that holds 300 blocks lets 300 be in flight', () => {
    const c = scene({ peers: [A], limits: { wantsInFlightStart: 1024, windowMaxBytes: 600_000 } })
    c.providerFound(0, A, 0)
    want(c, 0, 1000)
    c.decide(0)
    c.receiveBlock(A, at(0).key, 2000, 85)
    c.decide(85)
    c.receiveBytes(A, 1, 85)
    c.receiveBytes(A, 300_000, 185)
    expect(queue(c, A)).toMatchObject({ windowBytes: 600_000, limitWants: 300 })
  })

  it.each([
    { haves: 500, inFlight: 128 },
    { haves: 900, inFlight: 124 }
  ])('[B15] want-haves count to the 1,024 only: beside $haves of them $inFlight want-blocks fit', ({ haves, inFlight }) => {
    const c = shared(1, { peers: [A, B, peerKey('C')], limits: { discoveriesMax: 2000, queueHavesMax: 900, wantsInFlightStart: 256 } })
    want(c, 0, haves, 2)
    c.decide(2)
    for (let round = 3; queue(c, A).inFlight > 0; round++) {
      for (const { key, wantType } of c.standingAt(A)) if (wantType === 'block') c.receivePresence(A, key, 'dont-have', round)
      c.decide(round)
    }
    // The one provider denied them all, so the others are asked whether they have them.
    expect(queue(c, B)).toMatchObject({ inFlight: 0, haves })
    c.openSession(1, { fixedPeers: new Set([B]) }, 10)
    want(c, 2000, 2001, 10, 1)
    c.decide(10)
    c.receiveBlock(B, at(2000).key, 2000, 11)
    want(c, 3000, 3300, 11, 1)
    c.decide(11)
    expect(queue(c, B)).toMatchObject({ inFlight, haves, limitWants: 128 })
    expect(c.standingAt(B)).toHaveLength(haves + inFlight)
  })

  it('[B15] gives a peer twice the window to begin with while nobody else is connected', () => {
    const c = scene({ peers: [A, B, C] })
    const windows = (): number[] => c.queues().map(({ windowBytes }) => windowBytes / (1024 * KiB))
    expect(windows()).toEqual([2, 2, 2])
    c.disconnectPeer(A, 1)
    c.disconnectPeer(C, 1)
    expect(windows()).toEqual([2, 4, 2])
    c.connectPeer(C, true, 2)
    c.connectPeer(A, true, 2)
    expect(windows()).toEqual([2, 2, 2])
  })

  it('[B15] takes a block for the average of the session, 256 KiB before the first', () => {
    const c = scene({ peers: [A] })
    c.providerFound(0, A, 0)
    want(c, 0, 100)
    c.decide(0)
    expect(queue(c, A)).toMatchObject({ inFlight: 8, inFlightBytes: 8 * 256 * KiB })
    c.receiveBlock(A, at(0).key, 10_000, 10)
    c.decide(10)
    // Seven at 256 KiB, and nine at 10,000 bytes up to the limit of 16.
    expect(queue(c, A)).toMatchObject({ inFlight: 16, inFlightBytes: 7 * 256 * KiB + 9 * 10_000 })
    c.receiveBlock(A, at(1).key, 20_000, 11)
    c.decide(11)
    expect(queue(c, A)).toMatchObject({ inFlight: 16, inFlightBytes: 6 * 256 * KiB + 9 * 10_000 + 15_000 })
  })

  it('[B18] is as deep as what is in flight or what the peer says it has queued, whichever is more of its window, and no more than full', () => {
    const c = scene({ peers: [A, B] })
    const depths = (): number[] => [A, B].map((peer) => queue(c, peer).depth)
    expect(depths()).toEqual([0, 0])
    c.providerFound(0, A, 0)
    want(c, 0, 4)
    c.decide(0)
    // Four blocks, taken for 256 KiB each, of a window of 2 MiB.
    expect(queue(c, A)).toMatchObject({ inFlight: 4, inFlightBytes: 1024 * KiB, windowBytes: 2048 * KiB })
    expect(depths()).toEqual([0.5, 0])
    // What it has queued is a part of what is in flight: not added to it.
    for (const [pendingKiB, depth] of [
      [512, 0.5],
      [1024, 0.5],
      [1536, 0.75],
      [2048, 1],
      [9000, 1],
      [1280, 0.625],
      [0, 0.5]
    ] as const) {
      c.receivePendingBytes(A, pendingKiB * KiB, 1)
      expect(depths()).toEqual([depth, 0])
    }
  })

  it('[B18] forgets what a peer had queued for us when it goes: it comes back with an empty queue', () => {
    const c = scene({ peers: [A, B] })
    c.receivePendingBytes(A, 1536 * KiB, 1)
    c.receivePendingBytes(B, 512 * KiB, 1)
    expect([queue(c, A).depth, queue(c, B).depth]).toEqual([0.75, 0.25])
    c.disconnectPeer(A, 2)
    c.connectPeer(A, true, 3)
    expect([queue(c, A).depth, queue(c, B).depth]).toEqual([0, 0.25])
  })

  it('[B18] a peer that says its queue for us is full gets a tenth of the chance of one that says nothing', () => {
    const c = scene({ peers: [A, B] })
    for (let id = 1; id <= 400; id++) c.openSession(id, {}, 0)
    const toA = (): number => {
      let asked = 0
      for (let id = 1; id <= 400; id++) {
        for (const peer of [A, B]) c.providerFound(id, peer, 1)
        want(c, id, id + 1, 1, id)
        asked += asks(c.decide(1)).filter((line) => line === `block ${id} A`).length
        c.dropWant(id, at(id).key, 1)
        c.decide(1)
      }
      return asked
    }
    const even = toA()
    c.receivePendingBytes(A, 2048 * KiB, 2)
    const full = toA()
    // Of 400 draws by chances of 1 : 1 and 1 : 10, within four standard deviations.
    expect([Math.abs(even - 200) < 40, Math.abs(full - 400 / 11) < 23]).toEqual([true, true])
  })

  it('[B22] puts a peer without a free slot on hold, and sends again as soon as one opens', () => {
    const c = shared(2, { limits: { queueWantsStart: 4 } })
    want(c, 0, 10, 2)
    expect(asks(c.decide(2))).toEqual([0, 1, 2, 3].map((i) => `block ${i} A`))
    want(c, 10, 12, 3, 1)
    expect(c.decide(3)).toEqual([])
    c.receivePresence(A, at(0).key, 'dont-have', 4)
    expect(asks(c.decide(4))).toEqual(['block 4 A'])
    c.receiveBlock(A, at(1).key, 2000, 5)
    // The other session waited longer than the second want of the first.
    expect(asks(c.decide(5))).toEqual(['block 10 A'])
    c.dropWant(0, at(2).key, 6)
    expect(lines(c.decide(6))).toEqual(['cancel 2 A', 'block 5 A'])
    expect(queue(c, A).inFlight).toBe(4)
  })

  it('[B22] while one peer is on hold the others get its wants', () => {
    const c = shared(1, { peers: [A, B], limits: { queueWantsStart: 4 } })
    c.providerFound(0, B, 1)
    want(c, 0, 20, 2)
    for (const line of asks(c.decide(2)).filter((each) => each.startsWith('have'))) {
      const [, i, name] = line.split(' ')
      c.receivePresence(name === 'A' ? A : B, at(Number(i)).key, 'have', 2)
    }
    c.decide(2)
    expect([queue(c, A).inFlight, queue(c, B).inFlight]).toEqual([4, 4])
    for (let i = 0; i < 5; i++) {
      const next = c.standingAt(B).find(({ wantType }) => wantType === 'block')!
      c.receiveBlock(B, next.key, 2000, 3 + i)
      const sent = asks(c.decide(3 + i)).filter((line) => line.startsWith('block'))
      expect([sent.length, sent[0]?.endsWith('B')]).toEqual([1, true])
    }
    expect([queue(c, A).inFlight, queue(c, B).inFlight]).toEqual([4, 4])
  })

  it('builds the queue anew when a peer goes and comes back: all it had is asked of it again, no more', () => {
    const c = shared(1)
    want(c, 0, 10, 2)
    c.decide(2)
    expect(queue(c, A).inFlight).toBe(10)
    c.disconnectPeer(A, 3)
    expect([queue(c, A).inFlight, c.standingAt(A).length, lines(c.decide(3))]).toEqual([0, 0, []])
    c.connectPeer(A, true, 4)
    // It delivered before it went, so it comes back as what it was, with the limit of one that is new.
    expect(asks(c.decide(4))).toEqual(Array.from({ length: 8 }, (_, i) => `block ${i} A`))
    c.receiveBlock(A, at(0).key, 2000, 5)
    expect(asks(c.decide(5))).toEqual(['block 8 A', 'block 9 A'])
  })

  it('asks none but its peers in a session of fixed peers, and looks nobody up', () => {
    const c = scene({ peers: [A, B], session: { fixedPeers: new Set([B]) } })
    want(c, 0, 3)
    c.providerFound(0, A, 0)
    c.peerWants(A, at(0).key, 0)
    const sent = c.decide(0)
    for (let ms = 0; ms < 200_000; ms += 500) sent.push(...c.tick(ms))
    const told = sent.filter(({ type }) => type !== 'timed-out' && type !== 'give-up')
    expect(told.every((command) => command.type === 'send' && command.peer === B)).toBe(true)
    expect(asks(told).filter((line) => line === 'block 0 B').length).toBeGreaterThan(1)
  })
})
