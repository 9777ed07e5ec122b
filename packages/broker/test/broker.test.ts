import { CID } from '@shardswap/interface'
import { peerKey } from '@shardswap/interface'
import { describe, expect, it } from 'vitest'
import { A, asks, at, B, cancels, count, limits, lines, queue, scene, want } from './scene.ts'

/** Two peers, a first block from A before B has answered, and 39 more wants; then what is sent 50 ms later. */
function afterOvertaking(answersSoon: boolean): string[] {
  const c = scene({ peers: [A, B] })
  want(c, 0, 1)
  c.decide(0)
  c.receiveBlock(A, at(0).key, 5000, 5)
  const sent = [...cancels(c.decide(5))]
  want(c, 1, 40, 5)
  sent.push(...lines(c.decide(5)))
  c.receiveBlock(A, at(1).key, 5000, 54)
  sent.push(...lines(c.decide(54)))
  expect(sent.filter((line) => !line.endsWith('A'))).toEqual(['cancel 0 B'])
  if (answersSoon) c.receivePresence(B, at(0).key, 'have', 55)
  c.receiveBlock(A, at(2).key, 5000, 56)
  return asks(c.decide(56)).filter((ask) => !ask.endsWith('A'))
}

describe('the broker with our sessions', () => {
  it('asks a lone peer for the block itself', () => {
    const c = scene({ peers: [A] })
    want(c, 0, 1)
    expect(asks(c.decide(0))).toEqual(['block 0 A'])
    expect(c.decide(0)).toEqual([])
  })

  it('[B4] asks several peers with want-haves, and the first to say HAVE for the block', () => {
    const c = scene({ peers: [A, B] })
    want(c, 0, 2)
    expect(asks(c.decide(0)).toSorted()).toEqual(['have 0 A', 'have 0 B'])
    c.receivePresence(B, at(0).key, 'have', 10)
    // The second want goes at once to the peer that is known to have the DAG.
    expect(asks(c.decide(10)).toSorted()).toEqual(['block 0 B', 'block 1 B'])
    expect(c.receiveBlock(B, at(0).key, 100, 20)).toMatchObject({ kind: 'wanted' })
    expect(cancels(c.decide(20))).toEqual(['cancel 0 A'])
  })

  it('[B4] asks peers of older protocols for the first block itself, since they know no want-have', () => {
    const c = scene()
    c.connectPeer(A, false, 0)
    c.connectPeer(B, false, 0)
    want(c, 0, 2)
    expect(asks(c.decide(0)).toSorted()).toEqual(['block 0 A', 'block 0 B'])
    expect(c.receiveBlock(A, at(0).key, 100, 10)).toMatchObject({ kind: 'wanted' })
    expect(lines(c.decide(10))).toEqual(['cancel 0 B', 'block 1 A'])
  })

  it('[B11][B12][B13] lets a peer have 8 wants in flight, 16 after its first block, 32 after 8, 64 after 16', () => {
    const c = scene({ peers: [A] })
    want(c, 0, 200)
    const inFlight: number[] = []
    c.decide(0)
    inFlight.push(queue(c, A).inFlight)
    for (let i = 0; i < 40; i++) {
      c.receiveBlock(A, at(i).key, 1000, 10)
      c.decide(10)
      if ([1, 7, 8, 15, 16, 31, 32].includes(i + 1)) inFlight.push(queue(c, A).inFlight)
    }
    expect(inFlight).toEqual([8, 16, 16, 32, 32, 64, 64, 128])
  })

  it('keeps the bytes in flight at one peer, and over all, under their limits', () => {
    const c = scene({ peers: [A], limits: { inFlightBytesMax: 700 * 1024 }, session: {} })
    c.providerFound(0, A, 0)
    want(c, 0, 20)
    // Blocks are taken for 256 KiB until one has come: two fit into 700 KiB.
    expect(asks(c.decide(0))).toHaveLength(2)
  })

  it('moves a want on when a peer says DONT_HAVE, and says so in no error', () => {
    const c = scene({ peers: [A, B] })
    want(c, 0, 1)
    c.decide(0)
    c.receivePresence(A, at(0).key, 'dont-have', 5)
    c.receivePresence(B, at(0).key, 'have', 6)
    expect(asks(c.decide(6))).toEqual(['block 0 B'])
    c.receivePresence(B, at(0).key, 'dont-have', 8)
    expect(asks(c.decide(8))).toEqual([])
    // Both said no: B broke its promise and rests five latencies, A is asked again after a while.
    expect(asks(c.tick(5100)).toSorted()).toEqual(['block 0 B', 'have 0 A'])
  })

  it('[B10][B15] cancels a want that had its time, halves the limit, asks another, and takes the late block', () => {
    const c = scene({ peers: [A, B] })
    want(c, 0, 1)
    c.decide(0)
    c.receivePresence(A, at(0).key, 'have', 2)
    c.receivePresence(B, at(0).key, 'have', 2)
    const first = asks(c.decide(2))[0]?.endsWith('A') === true ? A : B
    const other = first === A ? B : A
    // Nothing is known of rates: a block taken for 256 KiB has half a second.
    const dueMs = 2 + limits.timeoutMinMs + 500
    expect(c.wakeAtMs()).toBe(dueMs)
    const commands = c.tick(dueMs)
    expect(cancels(commands)).toEqual([`cancel 0 ${first}`])
    expect(asks(commands)).toEqual([`block 0 ${other}`])
    expect(queue(c, first)).toMatchObject({ inFlight: 0, inFlightBytes: 0, figures: { timeouts: 1 } })
    expect(c.receiveBlock(first, at(0).key, 10, 700)).toMatchObject({ kind: 'wanted' })
    expect(cancels(c.decide(700))).toEqual([`cancel 0 ${other}`])
    expect(c.receiveBlock(other, at(0).key, 10, 720)).toEqual({ kind: 'duplicate', isAgain: false })
    expect(c.total).toMatchObject({ blocks: 1, duplicateBlocks: 1, duplicateBytes: 10, timeouts: 1, unaskedBlocks: 0 })
  })

  it('[B15] lets the deadline stand still while bytes arrive, and not for a block that was passed over', () => {
    const c = scene({ peers: [A] })
    c.providerFound(0, A, 0)
    want(c, 0, 100)
    c.decide(0)
    for (let ms = 100; ms <= 5000; ms += 100) c.receiveBytes(A, 5000, ms)
    expect(count(c.tick(5000), 'timed-out')).toBe(0)
    let now = 5000
    for (let i = 1; i < 60; i++) {
      now += 10
      c.receiveBytes(A, 5000, now)
      c.receiveBlock(A, at(i).key, 5000, now)
      c.decide(now)
    }
    const late = c.tick(now + 100).filter((command) => command.type === 'timed-out')
    expect(late).toMatchObject([{ key: at(0).key }])
  })

  it('[B20] does not ask a peer again for a want that timed out there before five latencies are over', () => {
    const c = scene({ peers: [A, B] })
    want(c, 0, 1)
    c.decide(0)
    c.receivePresence(A, at(0).key, 'have', 20)
    c.receivePresence(B, at(0).key, 'dont-have', 20)
    expect(asks(c.decide(20))).toEqual(['block 0 A'])
    // 20 ms, four times its half, and half a second for 256 KiB at a rate that is not known.
    expect(cancels(c.tick(579))).toEqual([])
    expect(cancels(c.tick(580))).toEqual(['cancel 0 A'])
    expect(asks(c.tick(679))).toEqual([])
    expect(asks(c.tick(682))).toEqual(['block 0 A'])
  })

  it('loses no want when a peer goes and comes back', () => {
    const c = scene({ peers: [A] })
    c.providerFound(0, A, 0)
    want(c, 0, 5)
    expect(asks(c.decide(0))).toHaveLength(5)
    c.disconnectPeer(A, 1)
    expect(asks(c.decide(1))).toEqual([])
    c.connectPeer(A, true, 2)
    c.providerFound(0, A, 2)
    expect(asks(c.decide(2))).toHaveLength(5)
    expect(c.standingAt(A)).toHaveLength(5)
  })

  it('[B7] asks a peer that had nothing again, so that it can join', () => {
    const c = scene({ peers: [A, B] })
    want(c, 0, 1)
    c.decide(0)
    c.receivePresence(A, at(0).key, 'have', 1)
    c.receivePresence(B, at(0).key, 'dont-have', 1)
    c.decide(1)
    want(c, 1, 30, 2)
    c.decide(2)
    expect(asks(c.tick(1100))).toContain('have 29 B')
    c.receivePresence(B, at(29).key, 'have', 1101)
    expect(asks(c.decide(1101)).some((ask) => ask.startsWith('block') && ask.endsWith('B'))).toBe(true)
  })

  it('takes every peer that sends a small first block in place of HAVE for a provider, though its copy is a duplicate', () => {
    const c = scene({ peers: [A, B] })
    want(c, 0, 1)
    c.decide(0)
    expect(c.receiveBlock(A, at(0).key, 100, 5)).toMatchObject({ kind: 'wanted' })
    expect(c.receiveBlock(B, at(0).key, 100, 6)).toEqual({ kind: 'duplicate', isAgain: false })
    want(c, 1, 17, 7)
    const sent = asks(c.decide(7))
    expect(sent.filter((ask) => ask.endsWith('A')).length).toBeGreaterThan(4)
    expect(sent.filter((ask) => ask.endsWith('B')).length).toBeGreaterThan(4)
  })

  it('[B4] asks a peer for another block whose answer the first one overtook, unless it answers soon', () => {
    expect(afterOvertaking(false)).toEqual(['have 39 B'])
    expect(afterOvertaking(true).filter((ask) => ask.startsWith('block')).length).toBeGreaterThan(4)
  })

  it('[B15] takes leaves for 256 KiB after a small root, so that their deadlines are not those of a root', () => {
    const c = scene({ peers: [A] })
    const root = CID.createV1(0x70, at(0).cid.multihash)
    c.addWant(0, root, at(0).key, 0)
    c.decide(0)
    c.receiveBlock(A, at(0).key, 110, 5)
    want(c, 1, 20, 5)
    expect(asks(c.decide(5))).toHaveLength(16)
    expect(queue(c, A).inFlightBytes).toBe(16 * 256 * 1024)
    // Half a second each, where the rate is not known.
    expect(c.wakeAtMs()).toBe(5 + limits.timeoutMinMs + 500)
    // Raw blocks tell of raw blocks at once.
    c.receiveBlock(A, at(1).key, 1000, 10)
    c.decide(10)
    expect(queue(c, A)).toMatchObject({ inFlight: 16, inFlightBytes: 15 * 256 * 1024 + 1000 })
  })

  it('[F41] shuts a peer out at the third block that nobody asked it for, and moves its wants', () => {
    const c = scene({ peers: [A, B] })
    want(c, 0, 1)
    c.decide(0)
    c.receivePresence(A, at(0).key, 'have', 1)
    expect(asks(c.decide(1))).toEqual(['block 0 A'])
    expect(c.receiveBlock(A, at(60).key, 9, 2)).toEqual({ kind: 'unasked', shutOut: false })
    expect(c.receiveUnasked(A, 3)).toBe(false)
    expect(c.receiveBlock(A, at(61).key, 9, 4)).toEqual({ kind: 'unasked', shutOut: true })
    expect(cancels(c.decide(4))).toEqual(['cancel 0 A'])
    c.receivePresence(B, at(0).key, 'have', 5)
    expect(asks(c.decide(5))).toEqual(['block 0 B'])
  })

  it('leaves at most a bounded number of wants standing at a peer that lacks them', () => {
    const c = scene({ peers: [A], limits: { standingWantsMax: 4 } })
    c.providerFound(0, A, 0)
    want(c, 0, 40)
    for (let round = 0; round < 40; round++) {
      c.decide(round)
      for (const { key, wantType } of c.standingAt(A)) if (wantType === 'block') c.receivePresence(A, key, 'dont-have', round)
    }
    c.decide(40)
    expect(c.standingAt(A).length).toBeLessThanOrEqual(4 + limits.wantsInFlightStart)
  })

  it('gives up where nothing goes on, and says why', () => {
    const c = scene({ peers: [A] })
    want(c, 0, 1)
    c.decide(0)
    c.receivePresence(A, at(0).key, 'dont-have', 1)
    c.decide(1)
    expect(count(c.tick(59_000), 'give-up')).toBe(0)
    const given = c.tick(60_001).find((command) => command.type === 'give-up')
    expect(given).toMatchObject({ key: at(0).key })
    expect(given?.type === 'give-up' ? given.reason : '').toContain('1 connected')
  })

  it('[B5] searches for providers once a session has nobody to ask, spaced out', () => {
    const c = scene()
    want(c, 0, 2)
    const first = c.decide(0).filter((command) => command.type === 'find-providers')
    expect(first).toEqual([{ type: 'find-providers', session: 0, cid: at(0).cid }])
    let searches = 0
    for (let ms = 0; ms < 120_000; ms += 1000) searches += count(c.tick(ms), 'find-providers')
    expect(searches).toBeGreaterThan(3)
    expect(searches).toBeLessThanOrEqual(9)
  })

  it('[F41] makes no provider of a peer that is shut out, when it comes back, is found, answers late or repeats itself', () => {
    const c = scene({ peers: [A, B] })
    want(c, 0, 1)
    c.decide(0)
    expect(c.receiveBlock(A, at(0).key, 100, 1)).toMatchObject({ kind: 'wanted' })
    for (let ms = 2; ms < 5; ms++) c.receiveUnasked(A, ms)
    c.disconnectPeer(A, 6)
    c.connectPeer(A, true, 7)
    c.providerFound(0, A, 8)
    expect(c.receiveBlock(A, at(0).key, 100, 9)).toMatchObject({ kind: 'duplicate' })
    c.receivePresence(A, at(0).key, 'have', 10)
    want(c, 1, 20, 11)
    expect(asks(c.decide(11)).filter((line) => line.endsWith('A'))).toEqual([])
    // The other one is asked: nobody waits for the one that gets nothing.
    expect(queue(c, B).inFlight + queue(c, B).haves).toBeGreaterThan(0)
  })

  it('[B22] remembers no more peers than it may, also of those that never connect', () => {
    const c = scene({ limits: { peersRememberedMax: 10 } })
    for (let i = 0; i < 100; i++) c.receiveUnasked(peerKey(`stranger ${i}`), i)
    expect(c.gauges().peers).toBeLessThanOrEqual(11)
  })

  it('brings its sums of bytes back to nothing, whatever sizes the blocks had', () => {
    const c = scene({ peers: [A] })
    want(c, 0, 30)
    for (let i = 0; i < 30; i++) {
      c.decide(i)
      c.receiveBlock(A, at(i).key, 1000 + 7 * i, i)
    }
    expect(c.gauges()).toMatchObject({ inFlight: 0, inFlightBytes: 0 })
  })
})
