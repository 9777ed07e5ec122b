/** Our own peer as provider or downloader. */
import { add, cat } from '@shardswap/content'
import { createPeer, type Session } from '@shardswap/peer'
import { serveCommands } from '@shardswap-test/cluster/child'
import { CID } from 'multiformats/cid'
import { blockBytesAt, blockCids, fileContent, type BlocksWork, type Fetched, type FileWork, type Offer } from '../work.ts'
import type { Actor } from './api.ts'
import { measures, timeBlocks, timeStream } from './measure.ts'
import { UnkeptBlockstore } from './unkept-blockstore.ts'

const unkept = process.argv.includes('unkept') ? new UnkeptBlockstore() : undefined
// A peer that knew another's address would dial past the link that lies between them.
const peer = await createPeer({
  ...(unkept === undefined ? {} : { blockstore: unkept }),
  listen: ['/ip4/127.0.0.1/tcp/0'],
  announceNothing: true,
  start: false
})
const listenedOn: string[] = []
peer.libp2p.addEventListener('transport:listening', ({ detail }) => {
  listenedOn.push(...detail.getAddrs().map((address) => `${address.toString()}/p2p/${peer.peerId.toString()}`))
})
await peer.start()

async function addFile(work: FileWork): Promise<string> {
  const source = { path: 'file', content: fileContent(work.bytes) }
  const options = { chunker: `size-${work.leafBytes}`, cidVersion: 1, rawLeaves: true } as const
  let root = ''
  for await (const entry of add([source], peer, options)) root = entry.cid.toString()
  return root
}

/** CIDs as they are asked for: a kilobyte each, all of them at once would grow with the work. */
function* parsed(texts: readonly string[]): Generator<CID> {
  for (const text of texts) yield CID.parse(text)
}

async function timeUnkept(session: Session, cids: Iterable<CID>): Promise<Fetched> {
  return await timeStream(async function* () {
    for await (const block of session.getMany(cids)) yield block.bytes
  })
}

async function fetchBlocks(session: Session, work: BlocksWork, texts: readonly string[]): Promise<Fetched> {
  if (work.unkept === true) return await timeUnkept(session, parsed(texts))
  return await timeBlocks(work, Array.from(parsed(texts)), async (cid) => await session.get(cid))
}

const actor: Actor = {
  ...measures,
  addresses: async () => listenedOn,
  connect: async (address) => {
    await peer.connect(address)
  },
  provide: async (work): Promise<Offer> => {
    if (work.kind === 'file') return { root: await addFile(work) }
    const cids: string[] = []
    for (const cid of blockCids(work)) {
      if (unkept === undefined) await peer.put(cid, blockBytesAt(cids.length, work.blockBytes))
      else unkept.promise(cid, cids.length, work.blockBytes)
      cids.push(cid.toString())
    }
    return { cids }
  },
  fetch: async (work, offer) => {
    const session = peer.createSession()
    try {
      const root = offer.root ?? ''
      const texts = offer.cids ?? []
      const fetched = work.kind === 'file' ? await timeStream(() => cat(session, root)) : await fetchBlocks(session, work, texts)
      return { ...fetched, duplicateBytes: peer.stat().fetch.duplicateBytes }
    } finally {
      session.close()
    }
  }
}

serveCommands(actor, async () => {
  await peer.stop()
})
