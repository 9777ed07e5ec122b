import { setTimeout as sleep } from 'node:timers/promises'
import { Socket } from 'node:net'
import { queryObjects } from 'node:v8'
import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { identify } from '@libp2p/identify'
import type { Connection, Libp2p } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import { createLibp2p } from 'libp2p'
import { createPeer, type Peer } from '../../src/index.ts'
import { connect } from '../support.ts'
import { cidOf, MadeBlockstore } from './made-blocks.ts'
import { idle, liveBytes, timers } from './measure.ts'
import type { Outcome } from './scale-process.ts'

type Constructor = Parameters<typeof queryObjects>[0]

/** What connections are made of, by the classes of one that stands. */
function kindsOf(connection: Connection): Record<string, Constructor> {
  const [stream] = connection.streams
  if (stream === undefined) throw new Error('a connection in use has a stream')
  return { connections: connection.constructor, streams: stream.constructor, sockets: Socket, signals: AbortSignal, promises: Promise }
}

/** How many objects of each kind this process has, once garbage is gone. */
function population(kinds: Record<string, Constructor>): Record<string, number> {
  return Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [name, queryObjects(kind, { format: 'count' })]))
}

function difference(after: Record<string, number>, before: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]))
}

/** Connects and lets a block come over the connection. */
async function meet(fetcher: Peer, provider: Peer, number: number): Promise<Connection> {
  await connect(fetcher, provider)
  const { byteLength } = await fetcher.get(cidOf(number), { timeoutMs: 20_000 })
  const connection = fetcher.libp2p.getConnections(provider.peerId)[0]
  if (byteLength === 0 || connection === undefined) throw new Error('no block came')
  return connection
}

/**
 * Connects, fetches a block and hangs up, `cycles` times. Live bytes: after the
 * first 20 of them, and at the end. Counts: how many more objects there are at
 * the end than after the first cycle, once what waits for a deadline had its time.
 */
export async function reconnects(init: { cycles: number }): Promise<Outcome> {
  const known = 1000
  const provider = await createPeer({ blockstore: new MadeBlockstore(known) })
  const fetcher = await createPeer({ blockstore: new MadeBlockstore() })
  const cycle = async (number: number): Promise<Record<string, Constructor>> => {
    const kinds = kindsOf(await meet(fetcher, provider, number % known))
    await fetcher.libp2p.hangUp(provider.peerId)
    return kinds
  }
  const kinds = await cycle(0)
  await liveBytes()
  const before = { population: population(kinds), timers: timers() }
  const live: number[] = []
  for (let number = 1; number <= init.cycles; number++) {
    await cycle(number)
    if (number === 20) live.push(await liveBytes())
  }
  const held = await idle([fetcher, provider])
  // Dials, streams and identify have deadlines of up to 10 s, which live on after what they were for.
  let more: Record<string, number> = {}
  for (let second = 0; second < 30; second++) {
    await sleep(1000)
    const bytes = await liveBytes()
    more = { ...difference(population(kinds), before.population), timersLeft: timers() - before.timers }
    live[1] = bytes
    if (Object.values(more).every((count) => count <= 0)) break
  }
  await Promise.all([fetcher.stop(), provider.stop()])
  return { liveBytes: live, held, counts: more }
}

async function nodeWithKeepAlive(intervalMs: number): Promise<Libp2p> {
  return await createLibp2p({
    start: false,
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux({ enableKeepAlive: true, keepAliveInterval: intervalMs })],
    services: { identify: identify() },
    connectionMonitor: { abortConnectionOnPingFailure: false }
  })
}

/** One idle connection whose two ends ping each other all the time. Live bytes and counts as above. */
export async function keepAlive(init: { intervalMs: number; warmUpMs: number; forMs: number }): Promise<Outcome> {
  const [one, other] = [await nodeWithKeepAlive(init.intervalMs), await nodeWithKeepAlive(init.intervalMs)]
  const provider = await createPeer({ libp2p: one, blockstore: new MadeBlockstore(10) })
  const fetcher = await createPeer({ libp2p: other, blockstore: new MadeBlockstore() })
  await Promise.all([one.start(), other.start()])
  const connection = await meet(fetcher, provider, 0)
  await sleep(init.warmUpMs)
  const kinds = kindsOf(connection)
  const before = { live: await liveBytes(), population: population(kinds) }
  await sleep(init.forMs)
  const after = { live: await liveBytes(), population: population(kinds) }
  const held = await idle([fetcher, provider], 1)
  const open = connection.status === 'open' ? 1 : 0
  await Promise.all([fetcher.stop(), provider.stop()])
  await Promise.all([one.stop(), other.stop()])
  return { liveBytes: [before.live, after.live], held, counts: { open, ...difference(after.population, before.population) } }
}
