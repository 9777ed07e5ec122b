import type { Libp2p } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import { multiaddr } from '@multiformats/multiaddr'
import type { AbortOptions, CID, PeerKey } from '@shardswap/interface'
import { afterEach, describe, expect, it } from 'vitest'
import { Search } from '../../src/fetch/search.ts'
import type { Provider } from '../../src/index.ts'
import { createNode } from '../../src/libp2p-node.ts'
import { defaultLimits, type PeerLimits } from '../../src/limits.ts'
import { rawBlock, until } from '../support.ts'

const nodes: Libp2p[] = []
const searches: Search[] = []
afterEach(async () => {
  for (const search of searches.splice(0)) search.stop()
  await Promise.all(nodes.splice(0).map(async (node) => await node.stop()))
})

async function node(): Promise<Libp2p> {
  const made = await createNode({})
  nodes.push(made)
  await made.start()
  return made
}

/** Routing that names providers when it is told to, and counts who asks. */
class SlowRouting {
  asked: string[] = []
  names: Provider[] = []
  #gate = Promise.withResolvers<void>()

  open(): void {
    this.#gate.resolve()
  }

  async *findProviders(cid: CID, _options?: AbortOptions): AsyncGenerator<Provider> {
    this.asked.push(cid.toString())
    await this.#gate.promise
    yield* this.names
  }
}

async function scene(limits: Partial<PeerLimits> = {}): Promise<{ routing: SlowRouting; search: Search; libp2p: Libp2p }> {
  const routing = new SlowRouting()
  const libp2p = await node()
  const search = new Search(libp2p, routing, { ...defaultLimits, ...limits }, defaultLogger().forComponent('search'))
  searches.push(search)
  return { routing, search, libp2p }
}

function named(libp2p: Libp2p): Provider {
  return { id: libp2p.peerId, multiaddrs: libp2p.getMultiaddrs() }
}

describe('searches in routing', () => {
  it('of one block at once are one, and the next begins once it has ended', async () => {
    const { routing, search } = await scene()
    const { cid } = rawBlock('sought')
    for (let i = 0; i < 5; i++) search.start(cid, () => undefined)
    expect(routing.asked).toHaveLength(1)
    expect(search.running).toBe(1)
    routing.open()
    await until('it has ended', () => search.running === 0)
    search.start(cid, () => undefined)
    expect(routing.asked).toHaveLength(2)
  })

  it('are eight at once, of however many blocks', async () => {
    const { routing, search } = await scene()
    for (let i = 0; i < 100; i++) search.start(rawBlock(i).cid, () => undefined)
    expect(search.running).toBe(8)
    expect(new Set(routing.asked).size).toBe(8)
    routing.open()
    await until('they have ended', () => search.running === 0)
    search.start(rawBlock('one more').cid, () => undefined)
    expect(search.running).toBe(1)
  })

  it('connect to no more providers than they may, name each that is connected already, and pass over who cannot be reached', async () => {
    const { routing, search, libp2p } = await scene({ providersMax: 3 })
    const others = [await node(), await node(), await node(), await node()] as const
    await libp2p.dial(others[0].getMultiaddrs())
    const nobody = await createNode({})
    routing.names = [
      { id: nobody.peerId, multiaddrs: [multiaddr('/ip4/127.0.0.1/tcp/1')] },
      ...others.map((other) => named(other)),
      ...others.map((other) => named(other))
    ]
    routing.open()
    const found: PeerKey[] = []
    search.start(rawBlock('sought').cid, (peer) => found.push(peer))
    await until('it has ended', () => search.running === 0)
    expect(found).toEqual([others[0].peerId.toString()])
    // Three were taken: who cannot be reached, who is here already, and one more.
    expect(libp2p.getPeers().map(String).sort()).toEqual([others[0], others[1]].map(({ peerId }) => peerId.toString()).sort())
  })

  it('end with their peer, whether routing hears of it or not', async () => {
    const { routing, search } = await scene()
    search.start(rawBlock('sought').cid, () => undefined)
    expect(routing.asked).toHaveLength(1)
    search.stop()
    await until('it has ended', () => search.running === 0)
  })
})
