import { afterEach, describe, expect, test } from 'vitest'
import type { Peer, PeerInit } from '../../src/index.ts'
import { collect, Peers, rawBlock, until } from '../support.ts'
import { type Answer, asJson, asLines, recordOf, startRouter } from './router-server.ts'

const peers = new Peers()
afterEach(async () => await peers.stop())

const block = rawBlock('delegated')

function sendForEver(response: Parameters<Answer>[0], text: string): void {
  const more = (): void => {
    while (!response.destroyed && response.write(text));
  }
  response.on('drain', more)
  more()
}

async function providerAndAsker(
  answers: (provider: Peer) => readonly Answer[],
  init: PeerInit = {}
): Promise<{ asker: Peer; asked: () => string[] }> {
  const provider = await peers.provider([block])
  const routers = await Promise.all(answers(provider).map(startRouter))
  const asker = await peers.create({ delegatedRouters: routers.map(({ url }) => url), ...init })
  return { asker, asked: () => routers.flatMap(({ asked }) => asked) }
}

describe('delegated routing over HTTP', () => {
  test.each([
    ['a document', (provider: Peer) => asJson('Providers', recordOf(provider))],
    ['lines', (provider: Peer) => asLines(recordOf(provider))]
  ])('[B5] a block comes from a provider that a router names in %s', async (_how, answer) => {
    const { asker, asked } = await providerAndAsker((provider) => [answer(provider)])
    expect(await asker.get(block.cid)).toEqual(block.bytes)
    expect(asked()[0]).toBe(`/routing/v1/providers/${block.cid.toString()}?filter-protocols=unknown,transport-bitswap`)
  })

  const bad: readonly (readonly [string, Answer])[] = [
    ['hangs', () => undefined],
    ['says 500', (response) => response.writeHead(500).end()],
    ['says 404', (response) => response.writeHead(404).end()],
    ['sends no JSON', (response) => response.setHeader('Content-Type', 'application/json').end('<html>')],
    ['names nothing that is a peer', asLines({ Schema: 'peer', ID: 'nobody', Addrs: ['/ip4/1.2.3.4/tcp/1'] }, null, 7, { ID: 9 })],
    [
      'breaks off',
      (response) =>
        response.writeHead(200, { 'Content-Type': 'application/x-ndjson', 'Content-Length': 100 }).write('{"ID":', () => response.destroy())
    ],
    ['sends a line without end', (response) => sendForEver(response.setHeader('Content-Type', 'application/x-ndjson'), 'x'.repeat(65_536))],
    ['sends a document without end', (response) => sendForEver(response.setHeader('Content-Type', 'application/json'), ' '.repeat(65_536))]
  ]

  test('routers that hang, fail, lie or never end harm nobody: the one that knows is heard', async () => {
    const { asker } = await providerAndAsker((provider) => [...bad.map(([, answer]) => answer), asLines(recordOf(provider))])
    expect(await asker.get(block.cid)).toEqual(block.bytes)
  })

  test.each(bad.slice(1))('where the only router %s, the search ends with nobody', async (_how, answer) => {
    const { asker } = await providerAndAsker(() => [answer])
    expect(await collect(asker.routing.findProviders(block.cid))).toEqual([])
  })

  test('a search that is given up takes its request back', async () => {
    const router = await startRouter(() => undefined)
    const asker = await peers.create({ delegatedRouters: [router.url] })
    const ending = new AbortController()
    const searching = collect(asker.routing.findProviders(block.cid, { signal: ending.signal }))
    await until('the router is asked', () => router.asked.length > 0)
    ending.abort(new Error('enough'))
    await expect(searching).rejects.toThrow('enough')
    await until('the router sees that nobody waits', () => router.givenUp() === 1)
  })

  test('peers that serve no Bitswap are left out, addresses of unknown kinds too, and each peer is named once', async () => {
    const { asker } = await providerAndAsker((provider) => {
      const ours = recordOf(provider, { Addrs: ['/nonsense/1', ...recordOf(provider).Addrs] })
      const gateway = { ...ours, ID: '12D3KooWKnDdG3iXw9eTFijk3EWSunZcFi54Zka4wmtqtt6rPxc8', Protocols: ['transport-ipfs-gateway-http'] }
      return [asLines(gateway, ours, { ...ours, Protocols: [] }), asJson('Providers', ours)]
    })
    const found = await collect(asker.routing.findProviders(block.cid))
    expect(found).toHaveLength(1)
    expect(found[0]?.multiaddrs).toHaveLength(1)
  })

  test('a peer is found by its id, and one that nobody knows is not found', async () => {
    const { asker } = await providerAndAsker((provider) => [asJson('Peers', recordOf(provider))])
    const [provider] = await collect(asker.routing.findProviders(block.cid))
    expect(provider).toBeUndefined()
    const other = await peers.create()
    const known = await startRouter(asJson('Peers', recordOf(other)))
    const second = await peers.create({ delegatedRouters: [known.url] })
    expect((await second.routing.findPeer(other.peerId)).multiaddrs?.map(String)).toEqual(recordOf(other).Addrs)
    expect(known.asked).toEqual([`/routing/v1/peers/${other.peerId.toCID().toString()}`])
    await expect(asker.routing.findPeer(other.peerId)).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
  })

  test('where no router takes announcements, that is said', async () => {
    const { asker } = await providerAndAsker(() => [asLines()])
    await expect(asker.routing.provide(block.cid)).rejects.toMatchObject({ name: 'NoRouterError', code: 'ERR_NO_ROUTER' })
    await expect(peers.create({ delegatedRouters: ['nonsense'] })).rejects.toMatchObject({ code: 'ERR_INVALID_PARAMETERS' })
  })
})
