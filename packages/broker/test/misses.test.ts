import { peerKey } from '@shardswap/interface'
import { describe, expect, it } from 'vitest'
import { A, asks, at, B, cancels, count, lines, queue, scene, want } from './scene.ts'

const C = peerKey('C')

describe('a want that gets nowhere at a peer', () => {
  it('[B15] is cancelled there before it is sent elsewhere', () => {
    const c = scene({ peers: [A, B] })
    want(c, 0, 1)
    c.decide(0)
    for (const peer of [A, B]) c.receivePresence(peer, at(0).key, 'have', 10)
    const first = asks(c.decide(10))[0]!.slice(-1)
    const other = first === 'A' ? 'B' : 'A'
    expect(lines(c.tick(10 + 50 + 500))).toEqual([`cancel 0 ${first}`, `block 0 ${other}`])
  })

  it('[B15] halves the limit of that peer: 4 after one timeout of 8, 2 after two, 1 after three', () => {
    const limits = [1, 2, 3, 4].map((timeouts) => {
      const c = scene({ peers: [A] })
      c.providerFound(0, A, 0)
      want(c, 0, 8)
      c.decide(0)
      // One deadline after another: 256 KiB more are ahead of each.
      for (let n = 1; n <= timeouts; n++) expect(count(c.tick(1000 + 500 * n), 'timed-out')).toBe(1)
      for (let i = 0; i < 8; i++) c.dropWant(0, at(i).key, 4000)
      want(c, 100, 150, 10_000)
      return asks(c.tick(10_000)).length
    })
    expect(limits).toEqual([4, 2, 1, 1])
  })

  it('[B10] goes elsewhere at once where the peer says DONT_HAVE, which is no failure of the peer', () => {
    const c = scene({ peers: [A, B] })
    for (const peer of [A, B]) c.providerFound(0, peer, 0)
    want(c, 0, 1)
    const first = asks(c.decide(0))
      .find((line) => line.startsWith('block'))!
      .endsWith('A')
      ? A
      : B
    const other = first === A ? B : A
    c.receivePresence(other, at(0).key, 'have', 5)
    c.receivePresence(first, at(0).key, 'dont-have', 6)
    expect(asks(c.decide(6))).toEqual([`block 0 ${other}`])
    expect(queue(c, first).figures).toMatchObject({ timeouts: 0, dontHaves: 1 })
    // It keeps the want, should it get the block: that is taken back before another is asked.
    expect(c.standingAt(first)).toEqual([])
  })

  it('[B10] while a copy is in flight the potential that is left buys want-haves: one at a P of 2', () => {
    const c = scene({ peers: [A, B, C] })
    for (const peer of [A, B, C]) c.providerFound(0, peer, 0)
    want(c, 0, 1)
    const sent = asks(c.decide(0))
    expect(['block', 'have'].map((type) => sent.filter((line) => line.startsWith(type)).length)).toEqual([1, 1])
    expect(new Set(sent.map((line) => line.slice(-1))).size).toBe(2)
    expect(c.decide(1)).toEqual([])
    // The answer to the want-have gives its potential back; the copy in flight keeps the rest of it.
    const asked = sent.find((line) => line.startsWith('have'))!.slice(-1)
    c.receivePresence(peerKey(asked), at(0).key, 'have', 2)
    expect(asks(c.decide(2))).toEqual([])
  })

  it('[B20] is asked of that peer again after T by chance, and with full weight after 5 T', () => {
    const c = scene({ peers: [A], session: { fixedPeers: new Set([A]) } })
    want(c, 0, 1)
    c.decide(0)
    c.receivePresence(A, at(0).key, 'dont-have', 10)
    // T is five times a latency of 10 ms.
    want(c, 1, 2, 20)
    expect(asks(c.decide(20))).toEqual(['block 1 A'])
    const dueMs = 20 + 50 + 500
    expect(cancels(c.tick(dueMs))).toEqual(['cancel 1 A'])
    const again: number[] = []
    for (let ms = dueMs; again.length === 0 && ms < dueMs + 1000; ms++) if (asks(c.tick(ms)).includes('block 1 A')) again.push(ms - dueMs)
    expect(again).toEqual([51])
  })

  it('[B15] of a peer that trickles 16 KiB a second is left there, of one that trickles less it is not', () => {
    const timeouts = [1700, 1500].map((bytes) => {
      const c = scene({ peers: [A] })
      c.providerFound(0, A, 0)
      want(c, 0, 1)
      c.decide(0)
      const commands = []
      for (let ms = 100; ms <= 6000; ms += 100) {
        c.receiveBytes(A, bytes, ms)
        commands.push(...c.tick(ms))
      }
      return count(commands, 'timed-out')
    })
    expect(timeouts).toEqual([0, 1])
  })
})

describe('finding peers', () => {
  it('[B4] asks 600 connected peers for the first CID in waves of 16, 32, 64, 128, 256 and the rest', () => {
    const names = Array.from({ length: 600 }, (_, i) => peerKey(`P${i}`))
    const c = scene({ peers: names })
    want(c, 0, 1)
    const waves: number[] = []
    for (let ms = 0; ms < 8; ms++) {
      const sent = asks(c.decide(ms))
      waves.push(sent.length)
      expect(sent.every((line) => line.startsWith('have 0 '))).toBe(true)
      for (const line of sent) c.receivePresence(peerKey(line.split(' ')[2]!), at(0).key, 'dont-have', ms)
    }
    expect(waves).toEqual([16, 32, 64, 128, 256, 104, 0, 0])
  })

  it('[B4] asks the next wave only while more providers would help: none where the first ones have space', () => {
    const names = Array.from({ length: 100 }, (_, i) => peerKey(`P${i}`))
    const c = scene({ peers: names })
    want(c, 0, 1)
    const first = asks(c.decide(0))
    const provider = peerKey(first[0]!.split(' ')[2]!)
    c.receivePresence(provider, at(0).key, 'have', 1)
    expect(asks(c.decide(1))).toEqual([`block 0 ${provider}`])
    want(c, 1, 8, 2)
    const within = asks(c.decide(2))
    expect(within.filter((line) => line.startsWith('have'))).toEqual([])
    // The ninth want finds it full: who else has the DAG is asked, sixteen to begin with, for the newest want.
    want(c, 8, 10, 3)
    expect(asks(c.decide(3))).toHaveLength(16)
  })

  it('[B5][B6] looks the first CID up after a second, though a provider is connected, and a random one each minute', () => {
    const c = scene({ peers: [A] })
    c.providerFound(0, A, 0)
    want(c, 0, 30)
    const found: [number, string][] = []
    for (let ms = 0; ms <= 121_000; ms += 100) {
      if (ms % 20_000 === 0) c.receiveBlock(A, c.standingAt(A)[0]?.key ?? at(99).key, 2000, ms)
      for (const command of c.tick(ms)) if (command.type === 'find-providers') found.push([ms, command.cid.toString()])
    }
    expect(found[0]).toEqual([1000, at(0).cid.toString()])
    // A session with wants is looked at once a second, whatever happens.
    for (const dueMs of [60_000, 120_000]) expect(found.some(([ms]) => ms >= dueMs && ms <= dueMs + 1000)).toBe(true)
  })

  it('[B7] a downloader that asks us for a block of our DAG is told which of its blocks we want, and those have a later turn', () => {
    const c = scene({ peers: [A, B] })
    want(c, 0, 1)
    c.decide(0)
    c.receivePresence(A, at(0).key, 'have', 1)
    c.receivePresence(B, at(0).key, 'dont-have', 1)
    c.decide(1)
    want(c, 1, 41, 2)
    c.peerWants(B, at(1).key, 2)
    const sent = asks(c.decide(2))
    const told = sent.filter((line) => line.startsWith('have') && line.endsWith('B')).map((line) => Number(line.split(' ')[1]))
    const asked = sent.filter((line) => line.startsWith('block') && line.endsWith('A')).map((line) => Number(line.split(' ')[1]))
    expect(asked).toHaveLength(7)
    // What the partner is to fetch first is not among what the provider is asked for first.
    expect(asked.filter((i) => told.includes(i))).toEqual([])
    // As soon as the partner has one, it is asked for it.
    c.receivePresence(B, at(told[0]!).key, 'have', 10)
    expect(asks(c.decide(10)).filter((line) => line.startsWith('block'))).toContain(`block ${told[0]} B`)
  })

  it('[B7] a peer that connects during the session is asked at once', () => {
    const c = scene({ peers: [A] })
    c.providerFound(0, A, 0)
    want(c, 0, 30)
    c.decide(0)
    c.connectPeer(B, true, 10)
    expect(asks(c.decide(10)).filter((line) => line.endsWith('B'))).toEqual(['have 29 B'])
  })

  it('[C3][B21] a provider that routing names takes part at once', () => {
    const c = scene({ peers: [A] })
    c.providerFound(0, A, 0)
    want(c, 0, 30)
    c.decide(0)
    c.connectPeer(C, true, 10)
    c.providerFound(0, C, 10)
    expect(asks(c.decide(10)).filter((line) => line.startsWith('block') && line.endsWith('C'))).toHaveLength(8)
  })

  it('[B15] is due sooner where blocks turn out smaller than it was taken for, at a peer that never delivered', () => {
    const c = scene({ peers: [A, B] })
    for (const peer of [A, B]) c.providerFound(0, peer, 0)
    want(c, 0, 16)
    const sent = asks(c.decide(0)).filter((line) => line.startsWith('block'))
    const ofA = sent.filter((line) => line.endsWith('A')).map((line) => Number(line.split(' ')[1]))
    expect([ofA.length, sent.length]).toEqual([8, 16])
    for (const i of ofA) c.receiveBlock(A, at(i).key, 20_000, 60)
    c.decide(60)
    // Eight blocks of 256 KiB would have 1 s, and half a second more for each that is ahead; of 20 kB they are all due with the first.
    expect(count(c.tick(1499), 'timed-out')).toBe(0)
    const timedOut = count(c.tick(1501), 'timed-out') + count(c.tick(1502), 'timed-out')
    expect(timedOut).toBe(8)
  })
})
