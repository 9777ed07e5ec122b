/** What Helia asks of a block broker, and what an app sees of the exchange behind it. Everything runs in this process. */
import { unixfs } from '@helia/unixfs'
import { multiaddr } from '@multiformats/multiaddr'
import type { HeliaProgress, Peer } from '@shardswap/peer'
import { CID } from '@shardswap/interface'
import { describe, expect, test, vi } from 'vitest'
import { blockOf, bytesOf, contentOf, mebibyte, sha256Of, type FileSpec } from '../src/content.ts'
import { quietHelia } from '../src/helia-node.ts'
import { addFile } from '../src/ours-content.ts'
import { connected, ours, raw, type SwappedHelia, swapped } from '../src/helia-scene.ts'

const waitMs = 20_000

async function get(
  helia: { readonly blockstore: Pick<SwappedHelia['blockstore'], 'get'> },
  cid: CID,
  options?: Parameters<SwappedHelia['blockstore']['get']>[1]
): Promise<Uint8Array> {
  return new Uint8Array(Buffer.concat(await Array.fromAsync(helia.blockstore.get(cid, options))))
}

/** A provider as Helia's routing names it. */
function named(of: Peer, more: object): object {
  return {
    id: of.peerId.toCID(),
    multiaddrs: of.libp2p.getMultiaddrs(),
    router: 'test',
    ...more
  }
}

const idle = { blocksAwaited: 0, wants: 0, wantsAtPeers: 0, searches: 0, storeBacklogBytes: 0, clientWants: 0, clientBytes: 0 }

describe('a block that Helia asks for', () => {
  test('comes once from each of two sessions that want it together, and one who gives up takes nothing from the other', async () => {
    const [peer, helia] = [await ours(), await swapped()]
    await connected(helia, peer)
    const { cid, bytes } = await raw(1)
    const abort = new AbortController()
    const sessions = [helia.blockstore.createSession(cid), helia.blockstore.createSession(cid)] as const
    const given = get({ blockstore: sessions[0] }, cid, { signal: abort.signal }).catch((error: unknown) => error)
    const kept = get({ blockstore: sessions[1] }, cid)
    await vi.waitFor(() => expect(peer.ledger(helia.libp2p.peerId)?.wants).toHaveLength(1), waitMs)
    abort.abort()
    expect(await given).toMatchObject({ errors: [{ name: 'AbortError', code: 'ABORT_ERR' }] })
    expect(peer.ledger(helia.libp2p.peerId)?.wants).toHaveLength(1)
    await peer.put(cid, bytes)
    expect(await kept).toEqual(bytes)
    expect(helia.shardswap.stat().fetch).toMatchObject({ blocks: 1, duplicateBlocks: 0 })
    expect(helia.shardswap.gauges()).toMatchObject(idle)
  })

  test('is cancelled at the peers where its caller gives up', async () => {
    const [peer, helia] = [await ours(), await swapped()]
    await connected(helia, peer)
    const { cid } = await raw(2)
    const abort = new AbortController()
    const given = get(helia, cid, { signal: abort.signal }).catch((error: unknown) => error)
    await vi.waitFor(() => expect(peer.ledger(helia.libp2p.peerId)?.wants).toHaveLength(1), waitMs)
    expect(helia.shardswap.wantlist().map(String)).toEqual([cid.toString()])
    abort.abort()
    expect(await given).toBeInstanceOf(Error)
    await vi.waitFor(() => expect(peer.ledger(helia.libp2p.peerId)?.wants).toEqual([]), waitMs)
    expect(helia.shardswap.wantlist()).toEqual([])
  })

  test('that nobody has ends with NotFoundError within the limit, though Helia always passes a signal; a patient node waits', async () => {
    const limits = { giveUpMs: 300 }
    const [peer, helia, patient] = [await ours(), await swapped({ limits }), await swapped({ limits, patient: true })]
    await Promise.all([connected(helia, peer), connected(patient, peer)])
    const { cid, bytes } = await raw(3)
    const waiting = get(patient, cid)
    await expect(get(helia, cid)).rejects.toMatchObject({
      name: 'LoadBlockFailedError',
      errors: [{ name: 'NotFoundError', code: 'ERR_NOT_FOUND' }]
    })
    // Once more, so that the patient node has waited for longer than one limit.
    await expect(get(helia, cid)).rejects.toMatchObject({ name: 'LoadBlockFailedError' })
    await peer.put(cid, bytes)
    expect(await waiting).toEqual(bytes)
  })

  test('is not asked for offline, neither alone nor in a session', async () => {
    const [peer, helia] = [await ours(), await swapped()]
    const [missing, here] = [await raw(4), await raw(5)]
    await peer.put(missing.cid, missing.bytes)
    await helia.blockstore.put(here.cid, here.bytes)
    await connected(helia, peer)
    await expect(get(helia, missing.cid, { offline: true })).rejects.toMatchObject({ name: 'BlockNotFoundWhileOfflineError' })
    const session = helia.blockstore.createSession(missing.cid, { offline: true })
    await expect(Array.fromAsync(session.get(missing.cid))).rejects.toMatchObject({ errors: [{ name: 'NotFoundError' }] })
    expect(await Array.fromAsync(session.get(here.cid))).toEqual([here.bytes])
    expect(helia.shardswap.stat().fetch.wantsSent).toBe(0)
  })

  test('comes from providers that are given: as addresses, as a peer id, to a session that is open', async () => {
    const [first, second, third] = [await ours(), await ours(), await ours()]
    const blocks = await Promise.all([raw(6), raw(7), raw(8)])
    await Promise.all([first, second, third].map(async (peer, i) => await peer.put(blocks[i]!.cid, blocks[i]!.bytes)))
    const helia = await swapped()
    const unreachable = multiaddr(`/ip4/127.0.0.1/tcp/1/p2p/${(await ours()).peerId.toString()}`)
    const alone = await get(helia, blocks[0].cid, { providers: [unreachable, first.libp2p.getMultiaddrs()] })
    expect(alone).toEqual(blocks[0].bytes)
    const session = helia.blockstore.createSession(blocks[1].cid, { providers: [second.libp2p.getMultiaddrs()[0]!] })
    expect(await Array.fromAsync(session.get(blocks[1].cid))).toEqual([blocks[1].bytes])
    await helia.libp2p.peerStore.merge(third.peerId, { multiaddrs: third.libp2p.getMultiaddrs() })
    await session.addPeer(third.peerId.toCID())
    expect(await Array.fromAsync(session.get(blocks[2].cid))).toEqual([blocks[2].bytes])
    await expect(session.addPeer(unreachable)).rejects.toBeInstanceOf(Error)
  })

  test('comes from a provider that is given with each block of a file: it is dialled once, and one session has them all', async () => {
    const peer = await ours()
    const file: FileSpec = { bytes: 4 * mebibyte, seed: 92, cidVersion: 1, rawLeaves: true }
    const root = CID.parse(await addFile(file, peer))
    const helia = await swapped()
    let opened = 0
    helia.libp2p.addEventListener('connection:open', () => (opened += 1))
    const parts = await Array.fromAsync(unixfs(helia).cat(root, { providers: [peer.libp2p.getMultiaddrs()] }))
    expect(sha256Of(parts)).toBe(sha256Of(contentOf(file)))
    expect(opened).toBe(1)
    expect(helia.shardswap.gauges()).toMatchObject({ ...idle, sessions: 1 })
    expect(helia.shardswap.stat().fetch).toMatchObject({ wantHavesSent: 0, duplicateBlocks: 0 })
  })

  test("comes from a provider that Helia's routing names, and not from one that speaks no Bitswap", async () => {
    const [peer, silent] = [await ours(), await ours()]
    const { cid, bytes } = await raw(9)
    await Promise.all([peer.put(cid, bytes), silent.put(cid, bytes)])
    const router = {
      name: 'test',
      async *findProviders() {
        yield named(silent, { fallback: true })
        yield named(silent, { fallback: false, protocols: ['transport-ipfs-gateway-http'] })
        yield named(peer, { fallback: false, protocols: ['transport-bitswap'] })
      }
    }
    const helia = await swapped({}, quietHelia({ routers: [router as never] }))
    const events: HeliaProgress[] = []
    expect(await get(helia, cid, { onProgress: (event) => events.push(event as HeliaProgress) })).toEqual(bytes)
    expect(helia.libp2p.getPeers().map(String)).toEqual([peer.peerId.toString()])
    const provider = peer.peerId.toCID()
    const told = events.filter(({ type }) => type.startsWith('helia:block-broker:') || type.startsWith('shardswap:'))
    expect(told.map(({ type, detail }) => [type, 'provider' in detail ? detail.provider.toString() : undefined])).toEqual([
      ['shardswap:find-providers', undefined],
      ['shardswap:provider', undefined],
      ['shardswap:connect', undefined],
      ['helia:block-broker:connect', provider.toString()],
      ['shardswap:connected', undefined],
      ['helia:block-broker:connected', provider.toString()],
      ['shardswap:want', undefined],
      ['helia:block-broker:request-block', provider.toString()],
      ['shardswap:block', undefined],
      ['helia:block-broker:receive-block', provider.toString()]
    ])
    expect(told[3]?.detail).toMatchObject({ broker: 'bitswap', type: 'connect', cid })
  })

  test('is refused where it is larger than its caller takes, and not stored', async () => {
    const [peer, helia] = [await ours(), await swapped()]
    await connected(helia, peer)
    const { cid, bytes } = await blockOf(bytesOf(3 * mebibyte, 10), 0x55)
    await peer.blockstore.put(cid, bytes)
    await expect(get(helia, cid)).rejects.toMatchObject({ errors: [{ name: 'TooLargeError', code: 'ERR_TOO_LARGE' }] })
    expect(await helia.blockstore.has(cid)).toBe(false)
    expect(await get(helia, cid, { maxSize: 4 * mebibyte } as object)).toEqual(bytes)
  })
})
