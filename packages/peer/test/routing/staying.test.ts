import { randomUUID } from 'node:crypto'
import { assert, double, nat, property } from 'fast-check'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { defaultLogger } from '@libp2p/logger'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { addressFilter, namedPeers } from '../../src/routing/addresses.ts'
import { Peering, peeringWaitMs } from '../../src/routing/peering.ts'
import { multiaddr } from '@multiformats/multiaddr'
import type { Peer } from '../../src/index.ts'
import { Peers, until } from '../support.ts'

vi.setConfig({ testTimeout: 60_000 })

const peers = new Peers()
afterEach(async () => await peers.stop())

function isConnected(from: Peer, to: Peer): boolean {
  return from.libp2p.getConnections(to.peerId).length > 0
}

describe('peers to begin with, and to stay connected to', () => {
  test('both are dialled at the start; one that is not there holds nobody back', async () => {
    const [first, second] = [await peers.create(), await peers.create()]
    const nobody = peerIdFromPrivateKey(await generateKeyPair('Ed25519'))
    const peer = await peers.create({
      bootstrap: [`/ip4/127.0.0.1/tcp/1/p2p/${nobody.toString()}`, ...first.addresses()],
      peering: second.addresses()
    })
    await until('both are connected', () => isConnected(peer, first) && isConnected(peer, second), 30_000)
    expect(peer.routing.stat()).toMatchObject({ peeringPeers: 1, peeringConnected: 1 })
  })

  test('a peer to stay connected to is dialled again when its connection ended, and after a dial in vain', async () => {
    const [peer, kept] = [await peers.create(), await peers.create()]
    const [nobody] = namedPeers(
      [`/ip4/127.0.0.1/tcp/1/p2p/${peerIdFromPrivateKey(await generateKeyPair('Ed25519')).toString()}`],
      'peering',
      1
    )
    const tried: number[] = []
    const log = defaultLogger().forComponent('test')
    const named = [...namedPeers(kept.addresses(), 'peering', 1), ...(nobody === undefined ? [] : [nobody])]
    const peering = new Peering(peer.libp2p, named, log, (tries) => {
      tried.push(tries)
      return 50
    })
    onTestFinished(() => peering.stop())
    peering.start()
    // At both ends: the one that is dialled notices later, and closes what it knows of.
    await until('it is connected', () => isConnected(peer, kept) && isConnected(kept, peer), 30_000)
    let ended = 0
    peer.libp2p.addEventListener('peer:disconnect', () => (ended += 1))
    await Promise.all(kept.libp2p.getConnections().map(async (connection) => await connection.close()))
    await until('the connection ended, and is there again', () => ended === 1 && isConnected(peer, kept), 30_000)
    await until('the other was tried again and again', () => Math.max(...tried) > 2, 30_000)
    expect([peering.peers, peering.connected]).toEqual([2, 1])
    peering.stop()
    await Promise.all(kept.libp2p.getConnections().map(async (connection) => await connection.close()))
    await until('the connection ended for good', () => ended === 2, 30_000)
  })

  test('the wait before the next dial grows by half, to ten minutes at most, and never is one that a timer cannot take', () => {
    expect([0, 1, 2, 3, 50].map((tries) => Math.round(peeringWaitMs(tries, 0.5)))).toEqual([5000, 7500, 11_250, 16_875, 600_000])
    assert(
      property(nat(1000), double({ min: 0, max: 1, noNaN: true }), (tries, random) => {
        const waitMs = peeringWaitMs(tries, random)
        expect(waitMs).toBeGreaterThanOrEqual(4_750)
        expect(waitMs).toBeLessThanOrEqual(630_000)
      })
    )
  })

  test.each([
    ['nonsense', /is no multiaddr/],
    ['/ip4/127.0.0.1/tcp/1', /names no peer/]
  ])('%s is refused before anything starts', async (address, message) => {
    for (const init of [{ bootstrap: [address] }, { peering: [address] }]) {
      await expect(peers.create(init)).rejects.toMatchObject({
        code: 'ERR_INVALID_PARAMETERS',
        message: expect.stringMatching(message) as string
      })
    }
  })

  test('addresses of one peer are taken together, and too many peers are refused', async () => {
    const id = peerIdFromPrivateKey(await generateKeyPair('Ed25519')).toString()
    const [peer, ...others] = namedPeers([`/ip4/127.0.0.1/tcp/1/p2p/${id}`, `/ip4/127.0.0.1/tcp/2/p2p/${id}`], 'peering', 1)
    expect(others).toEqual([])
    expect(peer?.addrs).toHaveLength(2)
    expect(() => namedPeers([`/ip4/127.0.0.1/tcp/1/p2p/${id}`], 'peering', 0)).toThrow(/more than the 0/)
  })
})

describe('what peers are told of us', () => {
  test('addresses that are named, and those of a range, are left out', () => {
    const left = addressFilter(['/ip4/10.0.0.0/ipcidr/8', '/ip6/fc00::/ipcidr/7', '/ip4/192.0.2.7/tcp/4001'])
    const all = [
      '/ip4/10.1.2.3/tcp/1',
      '/ip4/11.1.2.3/tcp/1',
      '/ip6/fd00::1/tcp/1',
      '/ip6/2001:db8::1/tcp/1',
      '/ip4/192.0.2.7/tcp/4001',
      '/ip4/192.0.2.7/tcp/4002'
    ]
    expect(left(all.map((text) => multiaddr(text))).map(String)).toEqual([
      '/ip4/11.1.2.3/tcp/1',
      '/ip6/2001:db8::1/tcp/1',
      '/ip4/192.0.2.7/tcp/4002'
    ])
  })

  test('a peer that announces none of loopback still listens there', async () => {
    const peer = await peers.create({ noAnnounce: ['/ip4/127.0.0.0/ipcidr/8'] })
    expect(peer.addresses()).toEqual([])
    const told = await peers.create({ announce: ['/ip4/192.0.2.9/tcp/4001'] })
    expect(told.addresses()).toEqual([`/ip4/192.0.2.9/tcp/4001/p2p/${told.peerId.toString()}`])
  })
})

test('peers of the local network find each other by mDNS, and those of another service tag do not', async () => {
  const serviceTag = `_shardswap-${randomUUID().slice(0, 8)}._udp.local`
  const [first, second, other] = await Promise.all([
    peers.create({ mdns: { serviceTag } }),
    peers.create({ mdns: { serviceTag } }),
    peers.create({ mdns: { serviceTag: `_other-${randomUUID().slice(0, 8)}._udp.local` } })
  ])
  await until('they are connected', () => isConnected(first, second), 30_000)
  expect(other.connections()).toEqual([])
})
