import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import type { Libp2p } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { afterEach, describe, expect, it } from 'vitest'
import { createPeer, type Peer, type Provider, type Routing } from '../../src/index.ts'
import { createNode } from '../../src/libp2p-node.ts'
import { connect, rawBlock, until } from '../support.ts'
import { address, block } from '../wire/cast.ts'
import { payload } from '../wire/bytes.ts'
import { openStream, write } from '../wire/raw.ts'
import { Outcome, Scene } from './scene.ts'

const scene = new Scene()
const nodes: Libp2p[] = []
afterEach(async () => {
  await scene.stop()
  await Promise.all(nodes.splice(0).map(async (node) => await node.stop()))
})

async function startedNode(): Promise<Libp2p> {
  const node = await createNode({})
  nodes.push(node)
  await node.start()
  return node
}

/** Names one provider without end, and counts. */
class SameProvider implements Routing {
  calls = 0
  named = 0
  readonly #provider: () => Provider

  constructor(provider: () => Provider) {
    this.#provider = provider
  }

  async *findProviders(): AsyncGenerator<Provider> {
    this.calls += 1
    for (;;) {
      this.named += 1
      yield this.#provider()
    }
  }
}

describe('who is asked', () => {
  it('[F02] a peer that was connected before the exchange started is asked', async () => {
    const provider = await scene.ours()
    const wanted = rawBlock('there before')
    await provider.put(wanted.cid, wanted.bytes)
    const libp2p = await startedNode()
    const identified = once(libp2p as unknown as EventTarget, 'peer:identify')
    await libp2p.dial(multiaddr(address(provider)))
    await identified
    const ours = await scene.patient({ libp2p })
    // Known as soon as it has started: no event of the connection is still to come.
    expect(ours.stat().connectedPeers).toBe(1)
    expect(await ours.get(wanted.cid, { timeoutMs: 20_000 })).toEqual(wanted.bytes)
    // Within the report's second on any machine that does it in one round trip: it is asked once and at once, for all
    // our pauses and deadlines are ten minutes long here.
    expect(ours.stat().fetch).toMatchObject({ wantsSent: 1, blocks: 1, timeouts: 0 })
  })

  it('[F02] a peer that is noticed twice, by its connection and by identify, is asked once', async () => {
    const raw = await scene.raw()
    const wanted = block(1)
    const libp2p = await startedNode()
    const dialled = libp2p.dial(multiaddr(raw.address))
    const ours = await scene.ours({ libp2p })
    await dialled
    await until('it is known', () => ours.stat().connectedPeers === 1)
    const got = ours.get(wanted.cid, { timeoutMs: 20_000 })
    await raw.until(() => raw.wanted().includes(wanted.hex))
    await write(await openStream(raw.connections[0]!), payload([wanted]))
    expect(await got).toEqual(wanted.data)
    expect(ours.stat().connectedPeers).toBe(1)
    expect(raw.wanted()).toEqual([wanted.hex])
  })

  it('[F11] a provider that is named without end and lacks the block: few searches, one dial, an end in time', async () => {
    const provider = await scene.ours()
    let opened = 0
    provider.libp2p.addEventListener('connection:open', () => (opened += 1))
    const routing = new SameProvider(() => ({ id: provider.peerId, multiaddrs: provider.libp2p.getMultiaddrs() }))
    const ours = await scene.ours({ routing })
    await expect(ours.get(rawBlock('nowhere').cid, { timeoutMs: 5000 })).rejects.toMatchObject({ name: 'TimeoutError' })
    // At 0 and 2 s, and what a change of the pauses might add; a loop makes thousands.
    expect(routing.calls).toBeGreaterThan(0)
    expect(routing.calls).toBeLessThanOrEqual(8)
    expect(routing.named).toBeLessThanOrEqual(200 * routing.calls)
    expect(opened).toBe(1)
  })

  it('[F11] a provider that is named without end and cannot be reached is dialled once for each search', async () => {
    const sockets: Socket[] = []
    const refusing = createServer((socket) => {
      sockets.push(socket)
      socket.destroy()
    })
    refusing.listen(0, '127.0.0.1')
    await once(refusing, 'listening')
    const { peerId: id } = await createNode({})
    const addr = multiaddr(`/ip4/127.0.0.1/tcp/${(refusing.address() as AddressInfo).port}`)
    const routing = new SameProvider(() => ({ id, multiaddrs: [addr] }))
    const ours = await scene.ours({ routing })
    await expect(ours.get(rawBlock('nowhere').cid, { timeoutMs: 3000 })).rejects.toMatchObject({ name: 'TimeoutError' })
    refusing.close()
    expect(sockets.length).toBeGreaterThan(0)
    expect(sockets.length).toBeLessThanOrEqual(routing.calls)
    expect(routing.calls).toBeLessThanOrEqual(6)
  })

  it('[F11] a search that names ourselves without end ends, and holds up nobody', async () => {
    const self: { peer?: Peer } = {}
    const routing = new SameProvider(() => ({ id: self.peer!.peerId }))
    const ours = await scene.ours({ routing })
    self.peer = ours
    const got = new Outcome(ours.get(rawBlock('nowhere').cid, { timeoutMs: 1000 }))
    await got.done
    expect(got.error).toMatchObject({ name: 'TimeoutError' })
    expect(routing.named).toBeLessThanOrEqual(200 * routing.calls)
  })

  it('[F13] with no peer at all a get ends: by its timeout, by its signal, or by itself', async () => {
    const ours = await scene.ours({ limits: { giveUpMs: 1000 } })
    const { cid } = rawBlock('nowhere')
    const session = ours.createSession()
    const startMs = performance.now()
    const ends = await Promise.allSettled([
      ours.get(cid),
      session.get(cid),
      session.getMany([cid]).next(),
      ours.get(cid, { timeoutMs: 2000 }),
      session.get(cid, { timeoutMs: 2000 }),
      session.get(cid, { signal: AbortSignal.timeout(2000) })
    ])
    expect(ends.map((end) => (end.status === 'rejected' ? (end.reason as Error).name : 'a block'))).toEqual([
      ...Array.from({ length: 3 }, () => 'NotFoundError'),
      ...Array.from({ length: 3 }, () => 'TimeoutError')
    ])
    // Those with a time of their own used it, although others had given up before.
    expect(performance.now() - startMs).toBeGreaterThan(1900)
    expect(ours.wantlist()).toEqual([])
  })

  it('[F13] a get from a peer that was stopped, or not started, is refused at once', async () => {
    const ours = await createPeer({ start: false })
    await expect(ours.get(rawBlock('nowhere').cid)).rejects.toMatchObject({ name: 'StoppedError' })
    const other = await scene.ours()
    await connect(other, await scene.ours())
    await other.stop()
    await expect(other.get(rawBlock('nowhere').cid)).rejects.toMatchObject({ name: 'StoppedError' })
  })
})
