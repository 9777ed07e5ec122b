/** Field reports of crashes, hangs and double connections, with their numbers. */
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { identify } from '@libp2p/identify'
import type { PeerId } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { tcp } from '@libp2p/tcp'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Peer, Provider, Routing } from '../../src/index.ts'
import { connect, rawBlock, rawBlocks, until } from '../support.ts'
import { address } from '../wire/cast.ts'
import { PeerChild } from '../wire/peer-child.ts'
import { rawCid, seeded } from '../wire/bytes.ts'
import { openStream, write } from '../wire/raw.ts'
import { CID } from '@shardswap/interface'
import { cidsOf, Outcome, Scene, turns } from './scene.ts'

const scene = new Scene()
afterEach(async () => await scene.stop())

/** Promises that were rejected and nobody heard of it, until the test is over. */
function unheard(): unknown[] {
  const all: unknown[] = []
  const onUnheard = (reason: unknown): void => {
    all.push(reason)
  }
  process.on('unhandledRejection', onUnheard)
  onTestFinished(() => {
    process.off('unhandledRejection', onUnheard)
  })
  return all
}

async function child(): Promise<PeerChild> {
  const peer = await PeerChild.start()
  onTestFinished(async () => {
    peer.signal('SIGCONT')
    await peer.stop()
  })
  return peer
}

/** Where somebody listens, takes connections and says nothing. */
async function blackHole(): Promise<string> {
  const sockets: { destroy(): void }[] = []
  const server = createServer((socket) => sockets.push(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `/ip4/127.0.0.1/tcp/${(server.address() as AddressInfo).port}`
}

describe('nothing is rejected that nobody hears of', () => {
  it('[F31] 100 gets that are running when the peer is stopped: each rejects, and nothing else does', async () => {
    const lost = unheard()
    const [ours, provider] = [await scene.ours(), await scene.ours()]
    await connect(ours, provider)
    const gets = rawBlocks(100).map(({ cid }) => new Outcome(ours.get(cid, { timeoutMs: 60_000 })))
    await turns(3)
    await ours.stop()
    await Promise.all(gets.map(async ({ done }) => await done))
    for (const { error } of gets) expect(error).toMatchObject({ name: 'StoppedError', code: 'ERR_STOPPED' })
    await turns(20)
    expect(lost).toEqual([])
  })

  it('[F31] a stream of three bytes that is half closed costs the process nothing', async () => {
    const peer = await child()
    const raw = await scene.raw()
    const connection = await raw.dial(peer.address)
    for (let count = 0; count < 20; count++) {
      const stream = await openStream(connection)
      await write(stream, Uint8Array.of(0x80, 0x01, 0x0a))
      if (count % 2 === 0) await stream.close()
      else stream.abort(new Error('the test resets it'))
    }
    await peer.tell({ type: 'put', seed: 1, size: 100, count: 1 }, 'done')
    expect((await peer.tell({ type: 'has', cid: rawCid(seeded(1, 100)) }, 'has')).has).toBe(true)
    expect(peer.alive).toBe(true)
    expect(connection.status).toBe('open')
  })
})

/** Names these, and then no more. */
function naming(providers: readonly Provider[]): Routing {
  return {
    async *findProviders() {
      yield* providers
    }
  }
}

/** Of nobody who runs. */
const strangers = [
  '12D3KooWGC6TvWhfapngX6wvJHMYvKpDMXPb3ZnCZ6dMoaMtimQ5',
  '12D3KooWCKCeqLPSgMnDjyFsJuWqREDtKNHx1JEBiwaMXhCLNTRb',
  '12D3KooWPfg4F9h9VnfPU3ZRcZPq9rbFmkZXHHoH4sWMXwXqj9ty'
].map((text): PeerId => peerIdFromString(text))

/** Without an address, with none that we can dial, and where nobody listens. */
async function undialable(): Promise<Provider[]> {
  const [first, second, third] = strangers as [PeerId, PeerId, PeerId]
  const gone = createServer()
  gone.listen(0, '127.0.0.1')
  await once(gone, 'listening')
  const { port } = gone.address() as AddressInfo
  gone.close()
  return [
    { id: first, multiaddrs: [] },
    { id: second, multiaddrs: [multiaddr('/ip4/127.0.0.1/udp/4001/quic-v1')] },
    { id: third, multiaddrs: [multiaddr(`/ip4/127.0.0.1/tcp/${port}`)] }
  ]
}

describe('[F32] providers that nobody can dial', () => {
  it('are passed over: the fourth, a good one, delivers', async () => {
    const lost = unheard()
    const provider = await scene.ours()
    const wanted = rawBlock('at the fourth')
    await provider.put(wanted.cid, wanted.bytes)
    const good = { id: provider.peerId, multiaddrs: [multiaddr(address(provider))] }
    const ours = await scene.ours({ routing: naming([...(await undialable()), good]) })
    expect(await ours.get(wanted.cid, { timeoutMs: 20_000 })).toEqual(wanted.bytes)
    expect(lost).toEqual([])
  })

  it('alone end a get as not found, and no process', async () => {
    const lost = unheard()
    const ours = await scene.ours({ routing: naming(await undialable()), limits: { giveUpMs: 1500 } })
    const got = new Outcome(ours.get(rawBlock('nowhere').cid))
    await got.done
    expect(got.error).toMatchObject({ name: 'NotFoundError' })
    await turns(20)
    expect(lost).toEqual([])
  })
})

it(
  '[F35] a peer stops in less than 5 s with a dial that never ends, a frozen provider and 50 open wants',
  { timeout: 60_000 },
  async () => {
    const lost = unheard()
    const provider = await child()
    await provider.tell({ type: 'put', seed: 100, size: 200_000, count: 50 }, 'done')
    const ours = await scene.ours()
    await ours.connect(provider.address)
    const cids = Array.from({ length: 50 }, (_, index) => CID.decode(rawCid(seeded(100 + index, 200_000))))
    const gets = cids.map((cid) => new Outcome(ours.get(cid, { timeoutMs: 60_000 })))
    await until('the transfer has begun', () => gets.some(({ state }) => state === 'fulfilled'))
    provider.signal('SIGSTOP')
    const more = rawBlocks(50).map(({ cid }) => new Outcome(ours.get(cid, { timeoutMs: 60_000 })))
    const dial = new Outcome(ours.connect(`${await blackHole()}/p2p/${String(strangers[0])}`))
    await turns(20)
    expect(dial.state).toBe('open')
    const startMs = performance.now()
    await ours.stop()
    expect(performance.now() - startMs).toBeLessThan(5000)
    await Promise.all([...gets, ...more, dial].map(async ({ done }) => await done))
    for (const { error } of more) expect(error).toMatchObject({ name: 'StoppedError' })
    expect(dial.state).toBe('rejected')
    expect(lost).toEqual([])
  }
)

it('[F37] a transfer outlives 20 idle peers that connect where three connections may be', { timeout: 60_000 }, async () => {
  const libp2p = await createLibp2p({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    services: { identify: identify() },
    connectionManager: { maxConnections: 3 }
  })
  onTestFinished(async () => await libp2p.stop())
  const [ours, provider] = [await scene.ours({ libp2p }), await scene.ours()]
  const all = rawBlocks(200, 64 * 1024)
  for (const { cid, bytes } of all) await provider.put(cid, bytes)
  const relay = await scene.relay(provider, 20)
  await ours.connect(relay.address)
  let cuts = 0
  libp2p.addEventListener('connection:close', ({ detail }) => {
    if (detail.remotePeer.equals(provider.peerId)) cuts += 1
  })
  const session = ours.createSession()
  const got = new Outcome(Array.fromAsync(session.getMany(cidsOf(all), { timeoutMs: 60_000 })))
  await until('the transfer has begun', () => ours.stat().fetch.blocks > 10)
  const idle = await Promise.all(Array.from({ length: 20 }, async () => await scene.raw()))
  // Half of them come by themselves, the others are dialled: those the limit does not keep out, so somebody has to go.
  const meetings = idle.map(async (raw, index) => {
    if (index % 2 === 0) await raw.dial(address(ours))
    else await libp2p.dial(multiaddr(raw.address))
  })
  await Promise.allSettled(meetings)
  await got.done
  expect(got.error).toBeUndefined()
  expect(got.value).toHaveLength(200)
  expect(cuts).toBe(0)
})

function connections(of: Peer, to: Peer): ReturnType<Peer['libp2p']['getConnections']> {
  return of.libp2p.getConnections(to.peerId)
}

it(
  '[F38] two that dial each other at once, 100 times, are one peer to each other, whichever connection goes',
  { timeout: 120_000 },
  async () => {
    const [a, b] = [await scene.ours(), await scene.ours()]
    for (let run = 0; run < 100; run++) {
      await Promise.all([a.connect(address(b)), b.connect(address(a))])
      const [first, second] = [rawBlock(`first ${run}`), rawBlock(`second ${run}`)]
      await b.put(first.cid, first.bytes)
      expect(await a.get(first.cid, { timeoutMs: 20_000 })).toEqual(first.bytes)
      expect(a.stat().peers.filter(({ peer }) => peer === b.peerId.toString()).length).toBe(1)
      expect(a.stat().connectedPeers).toBe(1)
      // Any one of them, at either end.
      const [side, other] = run % 2 === 0 ? [a, b] : [b, a]
      const all = connections(side, other)
      if (all.length > 1) await all[run % all.length]?.close()
      // A want that is out while a connection goes is told again, and may be answered twice [F05]: not so once both know.
      await until('both know what is left', () => connections(a, b).length === connections(b, a).length)
      await a.put(second.cid, second.bytes)
      expect(await b.get(second.cid, { timeoutMs: 20_000 })).toEqual(second.bytes)
      await Promise.all(connections(a, b).map(async (connection) => await connection.close()))
      await until('both have parted', () => a.stat().connectedPeers === 0 && b.stat().connectedPeers === 0)
    }
    expect(a.stat().fetch).toMatchObject({ blocks: 100, duplicateBlocks: 0 })
    expect(b.stat().fetch).toMatchObject({ blocks: 100, duplicateBlocks: 0 })
  }
)
