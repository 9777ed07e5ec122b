/** Our peer in a process of its own, with UnixFS over it. */
import { cat, importCar, ls, tree } from '@shardswap/content'
import { type AdmissionSettings, createPeer, type Session } from '@shardswap/peer'
import { CID } from 'multiformats/cid'
import { serveCommands } from '@shardswap-test/cluster/child'
import { digestOfFiles, digestOfNames, sha256Of } from './content.ts'
import type { OurNode } from './node-api.ts'
import { addDirectory, addFile } from './ours-content.ts'
import { readingOf, secondsSince } from './reading.ts'

const giveUpMs = Number(process.argv[2] ?? 60_000)
const admission = JSON.parse(process.argv[3] ?? '{}') as AdmissionSettings

const peer = await createPeer({ listen: ['/ip4/127.0.0.1/tcp/0'], limits: { giveUpMs }, admission })

/** Reads in a session of its own, and ends it. */
async function inSession<T>(read: (session: Session) => Promise<T>): Promise<T> {
  const session = peer.createSession()
  try {
    return await read(session)
  } finally {
    session.close()
  }
}

async function* contentsOf(session: Session, path: string, names: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const name of names) yield* cat(session, `${path}/${name}`)
}

const commands: OurNode = {
  addresses: async () => [...peer.addresses()],
  connect: async (address) => {
    await peer.connect(address)
  },
  addFile: async (spec) => await addFile(spec, peer),
  addDirectory: async (spec) => await addDirectory(spec, peer),
  putBlock: async (text, bytes, options) => {
    const cid = CID.parse(text)
    if (options?.big === true) {
      // Above the size that `put` takes; what serves a store must still get along with what is in it.
      await peer.blockstore.put(cid, bytes)
      peer.notify(cid)
    } else {
      await peer.put(cid, bytes)
    }
  },
  getBlock: async (text, options) => await inSession(async (session) => await session.get(CID.parse(text), options)),
  readFile: async (path) => await inSession(async (session) => await readingOf(cat(session, path))),
  listNames: async (path) => {
    const startMs = performance.now()
    const names = await inSession(async (session) => (await Array.fromAsync(ls(session, path))).map((entry) => entry.name))
    return { names: names.length, sha256: digestOfNames(names), seconds: secondsSince(startMs) }
  },
  readNames: async (path, names) => await inSession(async (session) => await readingOf(contentsOf(session, path, names))),
  readDirectory: async (path) => {
    const startMs = performance.now()
    const files = new Map<string, Uint8Array>()
    await inSession(async (session) => {
      for await (const entry of tree(session, path)) {
        if (entry.content !== undefined) files.set(entry.path, Buffer.concat(await Array.fromAsync(entry.content())))
      }
    })
    return { names: files.size, sha256: digestOfFiles(files), seconds: secondsSince(startMs) }
  },
  fetched: async () => {
    const { blocks, bytes, duplicateBlocks } = peer.stat().fetch
    return { blocks, bytes, duplicateBlocks }
  },
  served: async () => ({ blocks: peer.stat().serve.blocksSent, decisions: peer.admission().decisions }),
  getBlocks: async (cids) =>
    await inSession(async (session) => {
      const blocks = await Array.fromAsync(session.getMany(cids.map((cid) => CID.parse(cid))))
      return { blocks: blocks.length, sha256: sha256Of(blocks.map(({ bytes }) => bytes)) }
    }),
  importCar: async (car) => (await importCar([car], peer)).blocks
}

serveCommands(commands, async () => await peer.stop())
