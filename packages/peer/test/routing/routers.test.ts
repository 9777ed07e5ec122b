/** Several routers as one, without a network: what is passed on, what is left out, what ends. */
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { PeerId } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import type { CID } from '@shardswap/interface'
import { describe, expect, test, vi } from 'vitest'
import { providersNamedMax } from '../../src/routing/limits.ts'
import { Routers } from '../../src/routing/routers.ts'
import type { Router } from '../../src/routing/types.ts'
import { collect, rawBlock } from '../support.ts'

const log = defaultLogger().forComponent('test')
const { cid } = rawBlock('searched')
const address = multiaddr('/ip4/192.0.2.1/tcp/4001')
const peers = await Promise.all([1, 2, 3].map(async () => peerIdFromPrivateKey(await generateKeyPair('Ed25519'))))
const [one, two, three] = peers as [PeerId, PeerId, PeerId]

/** A router that names nobody, and waits until it hears that nobody listens any more. */
function endless(): Router & { readonly heard: () => boolean } {
  let hasHeard = false
  return {
    name: 'endless',
    heard: () => hasHeard,
    findProviders: async function* (_cid, { signal }) {
      await new Promise((resolve) => signal?.addEventListener('abort', resolve, { once: true }))
      hasHeard = true
      yield* []
    }
  }
}

function naming(name: string, ids: readonly PeerId[]): Router {
  return {
    name,
    findProviders: async function* () {
      for (const id of ids) yield { id, multiaddrs: [address] }
    }
  }
}

/** Nearly as many as a search names. What a router names need only look like an id. */
function many(from: number): PeerId[] {
  return Array.from({ length: providersNamedMax - 1 }, (_, at) => ({ toString: () => `peer ${from + at}` }) as PeerId)
}

function failing(why: string): Router {
  return {
    name: why,
    provide: async () => {
      throw new Error(why)
    }
  }
}

const silent = async (): Promise<never> => await new Promise(() => undefined)

describe('routers', () => {
  test('each provider is named once, whoever else names it, and a search that is left ends at all of them', async () => {
    const waiting = endless()
    const routers = new Routers([naming('a', [one, two, two]), waiting, { name: 'mute' }, naming('b', [three, one])], log)
    const found: string[] = []
    for await (const { id } of routers.findProviders(cid)) {
      found.push(id.toString())
      if (found.length === 3) break
    }
    expect(found.toSorted()).toEqual(peers.map(String).toSorted())
    await vi.waitFor(() => expect(waiting.heard()).toBe(true))
  })

  test(`a search names ${providersNamedMax} providers at most, over all routers`, async () => {
    const routers = new Routers([naming('a', many(0)), naming('b', many(providersNamedMax))], log)
    expect(await collect(routers.findProviders(cid))).toHaveLength(providersNamedMax)
  })

  test('a peer is where the first router with an address says; one without is no answer', async () => {
    const answer = (multiaddrs: (typeof address)[]): Router => ({ name: 'r', findPeer: async (id) => ({ id, multiaddrs }) })
    const routers = new Routers([answer([]), { name: 'hung', findPeer: silent }, answer([address])], log)
    expect((await routers.findPeer(one)).multiaddrs).toEqual([address])
    await expect(new Routers([answer([])], log).findPeer(one)).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
  })

  test('one router that takes an announcement is enough; where none does, the first says why', async () => {
    const told: string[] = []
    const taking: Router = { name: 'taking', provide: async (given: CID) => void told.push(given.toString()) }
    await new Routers([failing('first'), taking], log).provide(cid)
    expect(told).toEqual([cid.toString()])
    await expect(new Routers([failing('first'), failing('second')], log).provide(cid)).rejects.toThrow('first')
    await expect(new Routers([naming('a', [])], log).provide(cid)).rejects.toMatchObject({ code: 'ERR_NO_ROUTER' })
  })

  test('a caller that gives up, or the end of the node, ends a router that hears of nothing', async () => {
    const hung = new Routers([{ name: 'hung', provide: silent, findPeer: silent }], log)
    const given = new AbortController()
    const ended = Promise.allSettled([hung.provide(cid, { signal: given.signal }), hung.findPeer(one, { signal: given.signal })])
    given.abort(new Error('enough'))
    expect((await ended).map((result) => result.status === 'rejected' && (result.reason as Error).message)).toEqual(['enough', 'enough'])
    const stopped = Promise.allSettled([hung.provide(cid), hung.findPeer(one)])
    hung.stop()
    expect((await stopped).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })
})
