/** One of our peers in a process of its own. Its options come as JSON in the first argument. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { cat } from '@shardswap/content'
import { type BlockSource, CID } from '@shardswap/interface'
import { createPeer, type Session } from '@shardswap/peer'
import { openRepo } from '@shardswap/repo'
import { serveCommands } from './child.ts'
import { addFile, blocksOf } from './content.ts'
import { Jobs } from './jobs.ts'
import type { PeerCommands, PeerOptions } from './peer-api.ts'

// For `gauges`; a flag on the command line would also be one of every other process.
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const { folder, ...options } = JSON.parse(process.argv[2] ?? '{}') as PeerOptions
const repo = folder === undefined ? undefined : await openRepo(folder, { create: true })
const stored = repo === undefined ? {} : { privateKey: repo.privateKey, blockstore: repo.blocks, datastore: repo.datastore }
const peer = await createPeer({ ...stored, ...options, listen: ['/ip4/127.0.0.1/tcp/0'], start: false })
// Of a peer that announces nothing, `addresses()` is empty.
const listenedOn: string[] = []
peer.libp2p.addEventListener('transport:listening', ({ detail }) => {
  listenedOn.push(...detail.getAddrs().map((address) => `${address.toString()}/p2p/${peer.peerId.toString()}`))
})
await peer.start()
const jobs = new Jobs()

/** Reads in a session of its own, which ends with the reading. */
async function* inSession(read: (session: Session & BlockSource) => AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const session = peer.createSession()
  try {
    yield* read(session)
  } finally {
    session.close()
  }
}

async function* blocksIn(blocks: AsyncIterable<{ readonly bytes: Uint8Array }>): AsyncGenerator<Uint8Array> {
  for await (const { bytes } of blocks) yield bytes
}

async function* inTwoParts(cids: readonly string[], first: number, going: Promise<void>): AsyncGenerator<CID> {
  for (const cid of cids.slice(0, first)) yield CID.parse(cid)
  if (first >= cids.length) return
  await going
  for (const cid of cids.slice(first)) yield CID.parse(cid)
}

function countedByKind(kinds: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

let peakBytes = 0
let sampling: NodeJS.Timeout | undefined

function sample(): void {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
}

const commands: PeerCommands = {
  id: async () => peer.peerId.toString(),
  addresses: async () => listenedOn,
  connect: async (address) => (await peer.connect(address)).toString(),
  disconnect: async (id) => {
    const connections = peer.libp2p.getConnections().filter(({ remotePeer }) => remotePeer.toString() === id)
    await Promise.all(connections.map(async (connection) => await connection.close()))
  },
  add: async (spec) => await addFile(spec, peer),
  put: async (spec) => {
    for (const { cid, bytes } of blocksOf(spec)) await peer.put(cid, bytes)
  },
  cat: async (root, { givesUp = false, ...job } = {}) =>
    await jobs.run(job, (signal) => inSession((session) => cat(session, root, givesUp ? {} : { signal }))),
  getMany: async (cids, { order = 'request', first = cids.length, ...job } = {}) =>
    await jobs.run(job, (signal, going) =>
      inSession((session) => blocksIn(session.getMany(inTwoParts(cids, first, going), { signal, order })))
    ),
  goOn: async (job) => jobs.goOn(job),
  reached: async (job, bytes) => await jobs.reached(job, bytes),
  abort: async (job) => jobs.abort(job),
  stat: async () => {
    const { wantlist, ...stat } = peer.stat()
    return { ...stat, wantlist: wantlist.map(String) }
  },
  scores: async () => peer.scores(),
  ledger: async (id) => {
    const ledger = peer.ledger(id)
    return ledger === undefined ? undefined : { ...ledger, wants: ledger.wants.map(String) }
  },
  gauges: async () => {
    collectGarbage()
    const { rss, heapUsed, external } = process.memoryUsage()
    const { user, system } = process.cpuUsage()
    return {
      rssBytes: rss,
      liveBytes: heapUsed + external,
      cpuSeconds: (user + system) / 1e6,
      resources: countedByKind(process.getActiveResourcesInfo())
    }
  },
  watchMemory: async () => {
    peakBytes = 0
    clearInterval(sampling)
    sampling = setInterval(sample, 20)
  },
  memoryPeak: async () => {
    sample()
    clearInterval(sampling)
    return peakBytes
  }
}

serveCommands(commands, async () => {
  await peer.stop()
  await repo?.close()
})
