/** Helia 7 as provider or downloader, with a memory store; it dials nobody unless told to. */
import { withBitswap } from '@helia/bitswap'
import { withLibp2pLight } from '@helia/libp2p'
import { unixfs } from '@helia/unixfs'
import { multiaddr } from '@multiformats/multiaddr'
import { serveCommands } from '@shardswap-test/cluster/child'
import { MemoryBlockstore } from 'blockstore-core'
import { MemoryDatastore } from 'datastore-core'
import { createHeliaLight } from 'helia'
import { fixedSize } from 'ipfs-unixfs-importer/chunker'
import { balanced } from 'ipfs-unixfs-importer/layout'
import { CID } from 'multiformats/cid'
import { blockBytesAt, blockCids, fileContent, type FileWork, type Offer } from '../work.ts'
import type { Actor } from './api.ts'
import { libp2pOptions, listenAddresses } from './libp2p-options.ts'
import { measures, timeBlocks, timeStream } from './measure.ts'

/** Children of a node in a file's tree: Kubo's, so that all contenders move one and the same DAG. */
const fileLinksMax = 174

const store = new MemoryBlockstore()
const base = createHeliaLight({ blockstore: store, datastore: new MemoryDatastore() })
const helia = await withBitswap(withLibp2pLight(base, libp2pOptions())).start()
const fs = unixfs(helia)

async function addFile(work: FileWork): Promise<CID> {
  return await fs.addByteStream(fileContent(work.bytes), {
    cidVersion: 1,
    rawLeaves: true,
    reduceSingleLeafToSelf: true,
    leafType: 'file',
    chunker: fixedSize({ chunkSize: work.leafBytes }),
    layout: balanced({ maxChildrenPerNode: fileLinksMax })
  })
}

async function readBlock(cid: CID): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const part of helia.blockstore.get(cid)) parts.push(part)
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)
}

const actor: Actor = {
  ...measures,
  addresses: async () => listenAddresses(helia.libp2p),
  connect: async (address) => {
    await helia.libp2p.dial(multiaddr(address))
  },
  provide: async (work): Promise<Offer> => {
    if (work.kind === 'file') return { root: (await addFile(work)).toString() }
    const cids = Array.from(blockCids(work))
    for (const [index, cid] of cids.entries()) await store.put(cid, blockBytesAt(index, work.blockBytes))
    return { cids: cids.map(String) }
  },
  fetch: async (work, offer) => {
    if (work.kind === 'file') return await timeStream(() => fs.cat(CID.parse(offer.root ?? '')))
    const cids = (offer.cids ?? []).map((cid) => CID.parse(cid))
    return await timeBlocks(work, cids, readBlock)
  }
}

serveCommands(actor, async () => {
  await helia.stop()
})
