/** Helia 7 in a process of its own. It dials nobody unless told to. */
import { withBitswap } from '@helia/bitswap'
import { unixfs } from '@helia/unixfs'
import { multiaddr } from '@multiformats/multiaddr'
import { fixedSize } from 'ipfs-unixfs-importer/chunker'
import { balanced } from 'ipfs-unixfs-importer/layout'
import { CID } from 'multiformats/cid'
import { serveCommands } from '@shardswap-test/cluster/child'
import { contentOf, digestOfFiles, digestOfNames, filesOf, leafBytes } from './content.ts'
import { quietHelia } from './helia-node.ts'
import type { BitswapNode } from './node-api.ts'
import { readingOf, secondsSince, splitPath } from './reading.ts'

/** Children of a node in a file's tree, as Kubo's balanced layout has them. */
const fileLinksMax = 174

/** Bytes of links above which a directory is sharded: Kubo's threshold. */
const shardBytes = 256 * 1024

const helia = await withBitswap(quietHelia()).start()
const fs = unixfs(helia)

async function resolve(path: string): Promise<CID> {
  const { root, segments } = splitPath(path)
  return segments.length === 0 ? root : (await fs.stat(root, { path: segments.join('/') })).cid
}

async function bytesAt(cid: CID): Promise<Uint8Array> {
  return new Uint8Array(Buffer.concat(await Array.fromAsync(fs.cat(cid))))
}

/** Each name's content in order, all asked for together, as an application would: Helia takes 18 ms for a lone block. */
async function* contentsOf(path: string, names: readonly string[]): AsyncGenerator<Uint8Array> {
  yield* await Promise.all(names.map(async (name) => await bytesAt(await resolve(`${path}/${name}`))))
}

const commands: BitswapNode = {
  addresses: async () => helia.libp2p.getMultiaddrs().map(String),
  connect: async (address) => {
    await helia.libp2p.dial(multiaddr(address))
  },
  addFile: async (spec) => {
    const cid = await fs.addByteStream(contentOf(spec), {
      cidVersion: spec.cidVersion,
      rawLeaves: spec.rawLeaves,
      reduceSingleLeafToSelf: true,
      leafType: 'file',
      chunker: fixedSize({ chunkSize: leafBytes }),
      layout: balanced({ maxChildrenPerNode: fileLinksMax })
    })
    return cid.toString()
  },
  addDirectory: async (spec) => {
    const sources = filesOf(spec).map(({ name, content }) => ({ path: name, content }))
    let root: CID | undefined
    for await (const entry of fs.addAll(sources, {
      cidVersion: 1,
      rawLeaves: true,
      reduceSingleLeafToSelf: true,
      wrapWithDirectory: true,
      shardSplitThresholdBytes: shardBytes
    })) {
      root = entry.cid
    }
    if (root === undefined) throw new Error('the importer gave no root')
    return root.toString()
  },
  putBlock: async (cid, bytes) => {
    await helia.blockstore.put(CID.parse(cid), bytes)
  },
  getBlock: async (cid, options) => {
    const signal = options?.timeoutMs === undefined ? undefined : AbortSignal.timeout(options.timeoutMs)
    const parts = await Array.fromAsync(helia.blockstore.get(CID.parse(cid), signal === undefined ? {} : { signal }))
    return new Uint8Array(Buffer.concat(parts))
  },
  readFile: async (path) => await readingOf(fs.cat(await resolve(path))),
  listNames: async (path) => {
    const startMs = performance.now()
    const names: string[] = []
    for await (const entry of fs.ls(await resolve(path))) names.push(entry.name)
    return { names: names.length, sha256: digestOfNames(names), seconds: secondsSince(startMs) }
  },
  readNames: async (path, names) => await readingOf(contentsOf(path, names)),
  readDirectory: async (path) => {
    const startMs = performance.now()
    const files = new Map<string, Uint8Array>()
    const entries = await Array.fromAsync(fs.ls(await resolve(path)))
    await Promise.all(entries.map(async (entry) => files.set(entry.name, await bytesAt(entry.cid))))
    return { names: files.size, sha256: digestOfFiles(files), seconds: secondsSince(startMs) }
  }
}

serveCommands(commands, async () => {
  await helia.stop()
})
