import { describe, expect, it } from 'vitest'
import { A, asks, at, B, cancels, judge, queue, scene, want } from './scene.ts'

const busyMs = 5000

describe('a peer that says that it is busy', () => {
  it('[B18] counts as full for so long, and as empty again afterwards or when it comes back', () => {
    const c = scene({ peers: [A, B] })
    c.receiveBusy(A, busyMs, 10)
    expect([queue(c, A).depth, queue(c, B).depth]).toEqual([1, 0])
    c.receiveBusy(A, busyMs - 1000, 11)
    c.decide(10 + busyMs - 1)
    expect(queue(c, A).depth).toBe(1)
    c.decide(10 + busyMs)
    expect(queue(c, A).depth).toBe(0)
    c.receiveBusy(B, busyMs, 6000)
    expect(queue(c, B).depth).toBe(1)
    c.disconnectPeer(B, 6001)
    c.connectPeer(B, true, 6002)
    expect(queue(c, B).depth).toBe(0)
  })

  it('[I14] refuses for load: HAVE and then DONT_HAVE is no failure of it, and the want goes elsewhere', () => {
    const reliability = judge()
    const c = scene({ peers: [A, B], reliability })
    want(c, 0, 1)
    c.decide(0)
    for (const peer of [A, B]) c.receivePresence(peer, at(0).key, 'have', 10)
    const asked = asks(c.decide(10))
    const first = asked[0]?.endsWith('A') === true ? A : B
    const other = first === A ? B : A
    c.receiveBusy(first, busyMs, 20)
    c.receivePresence(first, at(0).key, 'dont-have', 21)
    const commands = c.decide(21)
    expect(reliability.told).toContain(`refused primary 0 ${first}`)
    expect(asks(commands)).toEqual([`block 0 ${other}`])
    expect(cancels(commands)).toEqual([`cancel 0 ${first}`])
    expect(queue(c, first).figures.timeouts).toBe(0)
  })

  it('[I14] is asked again once it may have room, where nobody else has the block', () => {
    const c = scene({ peers: [A] })
    c.providerFound(0, A, 0)
    want(c, 0, 1)
    expect(asks(c.decide(0))).toEqual(['block 0 A'])
    c.receivePresence(A, at(0).key, 'have', 5)
    c.receiveBusy(A, busyMs, 10)
    c.receivePresence(A, at(0).key, 'dont-have', 11)
    const again: number[] = []
    for (let nowMs = 11; nowMs < 30_000 && again.length === 0; nowMs = c.wakeAtMs() ?? 30_000) {
      if (asks(c.tick(nowMs)).includes('block 0 A')) again.push(nowMs)
    }
    expect(again[0]).toBeGreaterThanOrEqual(10 + busyMs)
    expect(again[0]).toBeLessThan(4 * busyMs)
  })

  it('[I14] has it held against it again once its time is over: HAVE and then DONT_HAVE is a failure', () => {
    const reliability = judge()
    const c = scene({ peers: [A], reliability })
    want(c, 0, 1)
    expect(asks(c.decide(0))).toEqual(['block 0 A'])
    c.receiveBusy(A, busyMs, 1)
    c.receivePresence(A, at(0).key, 'have', 10)
    c.receivePresence(A, at(0).key, 'dont-have', busyMs + 1)
    expect(reliability.told).toContain('broken-have primary 0 A')
  })

  it('[I14] is named where nothing came of a want', () => {
    const c = scene({ peers: [A, B] })
    want(c, 0, 1)
    c.decide(0)
    c.receiveBusy(A, busyMs, 10)
    for (const peer of [A, B]) c.receivePresence(peer, at(0).key, 'dont-have', 20)
    const reasons: string[] = []
    for (let nowMs = 100; reasons.length === 0 && nowMs < 200_000; nowMs += 500) {
      for (const command of c.tick(nowMs)) if (command.type === 'give-up') reasons.push(command.reason)
    }
    expect(reasons[0]).toMatch(/2 connected.*1 said that they are busy and refuse us/)
  })
})
