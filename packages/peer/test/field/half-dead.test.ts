import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { defaultLogger } from '@libp2p/logger'
import { multiaddr } from '@multiformats/multiaddr'
import { type Block, peerKey } from '@shardswap/interface'
import { afterEach, describe, expect, it } from 'vitest'
import type { Peer, PeerInit, PeerLimits } from '../../src/index.ts'
import { createNode } from '../../src/libp2p-node.ts'
import { Redials } from '../../src/network/redials.ts'
import { rawBlocks, until } from '../support.ts'
import { address, blocks } from '../wire/cast.ts'
import { PeerChild } from '../wire/peer-child.ts'
import type { Pair, Relay } from './relay.ts'
import { cidsOf, Outcome, Scene } from './scene.ts'

const scene = new Scene()
const children: PeerChild[] = []
afterEach(async () => {
  await scene.stop()
  for (const child of children) child.signal('SIGCONT')
  await Promise.all(children.splice(0).map(async (child) => await child.stop()))
})

/** The defaults, some thirty times quicker: what is dead is known to be so after a good second instead of forty. */
const quick: Partial<PeerLimits> = { silentMs: 300, openStreamTimeoutMs: 300, redialDelayMs: 50, timeoutMaxMs: 500, timeoutStartMs: 500 }

/** Reads all blocks in a session, and calls back after a quarter of them. */
async function readAll(ours: Peer, all: readonly Pick<Block, 'cid'>[], onQuarter: () => void): Promise<number> {
  let read = 0
  for await (const _ of ours.getMany(cidsOf(all), { signal: AbortSignal.timeout(50_000) })) {
    read += 1
    if (read === all.length / 4) onQuarter()
  }
  return read
}

/** Of itself it would not notice in ten minutes that a connection is dead: neither by silence nor by a send that takes long. */
const unaware: PeerInit = { limits: { silentMs: 600_000 }, serveLimits: { sendTimeoutMinMs: 600_000, sendTimeoutMaxMs: 600_000 } }

async function provide(all: readonly Block[], init: PeerInit): Promise<{ provider: Peer; relay: Relay }> {
  const provider = await scene.ours(init)
  for (const { cid, bytes } of all) await provider.put(cid, bytes)
  return { provider, relay: await scene.relay(provider) }
}

describe('connections that stay open and carry nothing', () => {
  it.each([
    ['to the provider', (pair: Pair): boolean => (pair.up.swallows = true)],
    ['from the provider', (pair: Pair): boolean => (pair.down.swallows = true)],
    ['in both directions', (pair: Pair): void => pair.freeze()]
  ] as const)(
    '[F14] one that loses everything %s is closed, the peer dialled again, and the fetch ends',
    async (_, lose) => {
      const all = rawBlocks(200, 16 * 1024, 'half-dead')
      const { provider, relay } = await provide(all, unaware)
      const ours = await scene.ours({ limits: { ...quick, getManyBytesMax: 512 * 1024 } })
      await ours.connect(relay.address)
      const dead = relay.last
      expect(await readAll(ours, all, () => lose(dead))).toBe(200)
      expect(ours.libp2p.getConnections()).toHaveLength(1)
      // The provider is far from knowing that the old connection is dead: it answered on the new one all the same.
      expect(provider.stat().connectedPeers).toBe(1)
      expect(dead.near.destroyed).toBe(true)
    },
    60_000
  )

  it('[F14] where another connection to the peer is alive, the fetch goes on by it', async () => {
    const all = rawBlocks(200, 16 * 1024, 'other way')
    const { relay } = await provide(all, { limits: quick })
    const ours = await scene.ours({ limits: { ...quick, getManyBytesMax: 512 * 1024 } })
    await ours.connect(relay.address)
    const dead = relay.last
    await ours.libp2p.dial(multiaddr(relay.address), { force: true })
    await until('there are two connections', () => ours.libp2p.getConnections().length === 2)
    expect(await readAll(ours, all, () => dead.freeze())).toBe(200)
    expect(relay.pairs).toHaveLength(2)
  }, 60_000)

  it('[F14] a peer that was stopped for longer than any patience, and goes on, is fetched from again', async () => {
    const child = await PeerChild.start()
    children.push(child)
    const all = blocks(200, 16 * 1024)
    await child.tell({ type: 'put', seed: 0, size: 16 * 1024, count: 200 }, 'done')
    const ours = await scene.ours({ limits: { ...quick, getManyBytesMax: 512 * 1024 } })
    await ours.connect(child.address)
    const read = new Outcome(readAll(ours, all, () => child.signal('SIGSTOP')))
    await until('the connection is given up', () => ours.libp2p.getConnections().length === 0, 25_000)
    expect(read.state).toBe('open')
    child.signal('SIGCONT')
    await read.done
    expect(read.value).toBe(200)
  }, 60_000)

  it('[F14] a peer that reads and says nothing is silent, not dead: its connection stays', async () => {
    const ours = await scene.ours({ limits: { silentMs: 100 } })
    const raw = await scene.raw()
    await raw.dial(address(ours))
    const got = new Outcome(ours.get(blocks(1)[0]!.cid, { timeoutMs: 2000 }))
    await got.done
    expect(got.error).toMatchObject({ name: 'TimeoutError' })
    // It was tried, more than once, and answered each time.
    expect(raw.inbound.length).toBeGreaterThan(1)
    expect(ours.stat().connectedPeers).toBe(1)
    expect(raw.connections).toHaveLength(1)
  })

  it('[F14] a peer that is gone for good is dialled so often and no more, and not at all once nothing is wanted', async () => {
    let dials = 0
    const gone = createServer((socket) => {
      dials += 1
      socket.destroy()
    })
    gone.listen(0, '127.0.0.1')
    await once(gone, 'listening')
    const ours = await scene.ours()
    const [{ peerId }, other] = [await createNode({}), await createNode({})]
    const addr = multiaddr(`/ip4/127.0.0.1/tcp/${(gone.address() as AddressInfo).port}`)
    let isWanting = true
    const limits = { redialTriesMax: 4, redialDelayMs: 5 }
    const redials = new Redials(ours.libp2p, limits, defaultLogger().forComponent('test'), () => isWanting)
    redials.lost(peerId, addr)
    await until('all tries are used', () => redials.size === 0)
    expect(dials).toBe(4)
    isWanting = false
    redials.lost(other.peerId, addr)
    await until('it was not dialled', () => redials.size === 0)
    expect(dials).toBe(4)
    // One that comes back only to be lost again goes on where it stood.
    isWanting = true
    for (let loss = 0; loss < 4; loss++) {
      redials.lost(peerId, addr)
      redials.found(peerKey(peerId))
      expect(redials.size).toBe(1)
    }
    redials.lost(peerId, addr)
    expect(redials.size).toBe(0)
    redials.stop()
    gone.close()
  })
})
