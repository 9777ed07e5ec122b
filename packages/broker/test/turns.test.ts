import { describe, expect, it } from 'vitest'
import type { Broker } from '../src/index.ts'
import { A, asks, at, B, cancels, lines, queue, scene, want } from './scene.ts'

/** Sessions 0 to `sessions` − 1, for all of which A is a provider that delivered a block of 2,000 bytes. */
function shared(sessions: number, options: Parameters<typeof scene>[0] = {}): Broker {
  const c = scene({ peers: [A], ...options })
  for (let id = 0; id < sessions; id++) {
    if (id > 0) c.openSession(id, {}, 0)
    c.providerFound(id, A, 0)
    want(c, 1000 + id, 1001 + id, 0, id)
  }
  settle(c, 0)
  for (let id = 0; id < sessions; id++) c.receiveBlock(A, at(1000 + id).key, 2000, 1)
  settle(c, 1)
  return c
}

function settle(c: Broker, nowMs: number): void {
  do c.decide(nowMs)
  while (c.wakeAtMs() === 0)
}

describe('the turns of sessions', () => {
  it('[B24][C1] go round: one want of each session after the other, in the order in which they came', () => {
    const c = shared(3)
    want(c, 200, 204, 2, 2)
    want(c, 0, 4, 2, 0)
    want(c, 100, 102, 2, 1)
    const order = [200, 0, 100, 201, 1, 101, 202, 2, 203, 3]
    expect(asks(c.decide(2))).toEqual(order.map((i) => `block ${i} A`))
  })

  it('[B24] go round for the places of a full queue, too, however many wants each of them has', () => {
    const c = shared(3, { limits: { queueWantsStart: 3 } })
    want(c, 0, 50, 2, 0)
    want(c, 100, 105, 2, 1)
    want(c, 200, 250, 2, 2)
    expect(asks(c.decide(2))).toEqual([0, 100, 200].map((i) => `block ${i} A`))
    const order: string[] = []
    for (let ms = 3; ms < 15; ms++) {
      c.receiveBlock(A, c.standingAt(A)[0]!.key, 2000, ms)
      order.push(...asks(c.decide(ms)))
    }
    const expected = [1, 101, 201, 2, 102, 202, 3, 103, 203, 4, 104, 204]
    expect(order).toEqual(expected.map((i) => `block ${i} A`))
  })

  it('[B24] a session that comes late to a full queue waits one round, no more', () => {
    const c = shared(2, { limits: { queueWantsStart: 2 } })
    want(c, 0, 50, 2, 0)
    c.decide(2)
    want(c, 100, 103, 3, 1)
    c.decide(3)
    const order = [4, 5, 6, 7, 8, 9, 10].flatMap((ms) => {
      c.receiveBlock(A, c.standingAt(A)[0]!.key, 2000, ms)
      return asks(c.decide(ms))
    })
    // The first session was in line already; from then on they take turns, until the second has nothing more.
    expect(order).toEqual([2, 100, 3, 101, 4, 102, 5].map((i) => `block ${i} A`))
  })

  it('[B23] nothing is sent without an event or a time that is due, however often it is asked', () => {
    const c = shared(2)
    want(c, 0, 40, 2, 0)
    want(c, 100, 140, 2, 1)
    c.decide(2)
    expect(c.decide(2)).toEqual([])
    const dueMs = c.wakeAtMs()!
    for (let ms = 2; ms < dueMs; ms += 0.5) expect([c.decide(ms), c.tick(ms), c.wakeAtMs()]).toEqual([[], [], dueMs])
  })

  it('[B23] matches when a session gets wants and a peer has space, or a peer gets space and a session has wants', () => {
    const c = scene()
    want(c, 0, 20)
    expect(asks(c.decide(0))).toEqual([])
    c.connectPeer(A, true, 10)
    expect(asks(c.decide(10))).toEqual(Array.from({ length: 8 }, (_, i) => `block ${i} A`))
    c.receiveBlock(A, at(0).key, 2000, 20)
    expect(asks(c.decide(20))).toEqual([8, 9, 10, 11, 12, 13, 14, 15, 16].map((i) => `block ${i} A`))
    c.receivePresence(A, at(1).key, 'dont-have', 30)
    expect(asks(c.decide(30))).toEqual(['block 17 A'])
    want(c, 20, 30, 40)
    expect(asks(c.decide(40))).toEqual([])
    // With the wants all gone nothing is left to wake for.
    for (let i = 0; i < 30; i++) c.dropWant(0, at(i).key, 50)
    expect(cancels(c.decide(50))).toHaveLength(17)
    c.tick(60_000)
    expect(c.wakeAtMs()).toBeUndefined()
  })

  it('[B19] sends a want once, whoever else wants it: the second session attaches and is served with the first', () => {
    const c = shared(2, { peers: [A, B] })
    c.providerFound(1, B, 1)
    want(c, 0, 1, 2, 0)
    expect(asks(c.decide(2)).filter((line) => line.startsWith('block'))).toEqual(['block 0 A'])
    want(c, 0, 2, 3, 1)
    const sent = asks(c.decide(3))
    // Its other want goes out; this one waits for the copy that is on its way.
    expect(sent.filter((line) => line.includes(' 0 '))).toEqual([])
    expect(sent.filter((line) => line.startsWith('block 1'))).toHaveLength(1)
    expect(c.receiveBlock(A, at(0).key, 2000, 4)).toMatchObject({ kind: 'wanted', sessions: [0, 1] })
    expect([c.session(0)?.figures.blocks, c.session(1)?.figures.blocks, c.total.wantBlocksSent]).toEqual([2, 2, 4])
  })

  it('[B19] leaves the copy to the session that attached when the first one drops its want', () => {
    const c = shared(2)
    want(c, 0, 1, 2, 0)
    want(c, 0, 1, 2, 1)
    expect(asks(c.decide(2))).toEqual(['block 0 A'])
    expect([c.session(0)?.inFlight, c.session(1)?.inFlight]).toEqual([1, 0])
    c.dropWant(0, at(0).key, 3)
    expect(c.decide(3)).toEqual([])
    expect([c.session(0)?.inFlight, c.session(1)?.inFlight, queue(c, A).inFlight]).toEqual([0, 1, 1])
    c.dropWant(1, at(0).key, 4)
    expect(lines(c.decide(4))).toEqual(['cancel 0 A'])
    expect([c.session(1)?.inFlight, queue(c, A).inFlight]).toEqual([0, 0])
  })

  it('[B26] a call takes so many answers of sessions and no more, and says that it has more to do', () => {
    const c = shared(1, { limits: { decisionsMax: 10, queueWantsStart: 1024, wantsInFlightStart: 1024, holdMs: 0 } })
    want(c, 0, 25, 2)
    const calls: [number, number | undefined][] = []
    do calls.push([asks(c.decide(2)).length, c.wakeAtMs()])
    while (c.wakeAtMs() === 0)
    expect(calls.map(([sent]) => sent)).toEqual([10, 10, 5])
    expect(calls.map(([, wakeAtMs]) => wakeAtMs === 0)).toEqual([true, true, false])
  })

  it('[B26] says that it has more to do where only sessions in line are left', () => {
    const c = shared(2, { limits: { decisionsMax: 1, queueWantsStart: 2, holdMs: 0 } })
    want(c, 0, 4, 2, 0)
    want(c, 100, 104, 2, 1)
    settle(c, 2)
    for (const { key } of c.standingAt(A)) c.receiveBlock(A, key, 2000, 3)
    settle(c, 3)
    expect(queue(c, A).inFlight).toBe(2)
  })
})

describe('messages', () => {
  it('[B25] leave as one for each peer once no session has a want for it', () => {
    const c = shared(3)
    for (const id of [0, 1, 2]) want(c, 100 * id, 100 * id + 5, 2, id)
    const sends = c.decide(2)
    expect(sends).toHaveLength(1)
    expect(asks(sends)).toHaveLength(15)
  })

  it('[B25] leave when the queue is full, though sessions have more', () => {
    const c = shared(1, { limits: { queueWantsStart: 4, decisionsMax: 4 } })
    want(c, 0, 20, 2)
    expect(asks(c.decide(2))).toEqual([0, 1, 2, 3].map((i) => `block ${i} A`))
    expect(c.wakeAtMs()).toBe(0)
  })

  it('[B25] wait for more while sessions go on, and no longer than 5 ms', () => {
    const c = shared(1, { limits: { decisionsMax: 2, queueWantsStart: 1024, wantsInFlightStart: 1024 } })
    want(c, 0, 100, 2)
    const at5 = [2, 3, 4, 5, 6, 7, 8].map((ms) => asks(c.decide(ms)).length)
    expect(at5).toEqual([0, 0, 0, 0, 0, 12, 0])
  })

  it('[B25] of one line are not held, and neither are the last ones', () => {
    const c = shared(1, { limits: { decisionsMax: 1, queueWantsStart: 1024, wantsInFlightStart: 1024 } })
    want(c, 0, 3, 2)
    expect([2, 2, 2, 2].map(() => asks(c.decide(2)))).toEqual([['block 0 A'], ['block 1 A'], ['block 2 A'], []])
    const two = shared(1, { limits: { decisionsMax: 4 } })
    want(two, 0, 2, 2)
    expect(asks(two.decide(2))).toEqual(['block 0 A', 'block 1 A'])
  })

  it('[B25] hold a want and its cancel apart, and take back a want that has not left', () => {
    const c = shared(1, { limits: { decisionsMax: 2, queueWantsStart: 1024, wantsInFlightStart: 1024 } })
    want(c, 0, 10, 2)
    expect(c.decide(2)).toEqual([])
    c.dropWant(0, at(0).key, 3)
    settle(c, 3)
    c.dropWant(0, at(1).key, 4)
    want(c, 1, 2, 4)
    expect(lines(c.decide(4))).toEqual(['cancel 1 A', 'block 1 A'])
    expect(c.standingAt(A).map(({ key }) => key)).not.toContain(at(0).key)
  })
})
