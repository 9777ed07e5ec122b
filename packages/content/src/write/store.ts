import * as dagPb from '@ipld/dag-pb'
import { assert, type CID } from '@shardswap/interface'
import { Node } from 'ipfs-unixfs'
import type { WritableStorage } from 'ipfs-unixfs-importer'
import { type Data, encodeData } from './data.ts'
import { type Attributes, type Child, cidOf, type Format } from './format.ts'
import type { BoundedSink } from './sink.ts'

interface Made {
  readonly cid: CID
  readonly block: Uint8Array
}

/** A block under its right hash, and how many links to it are still to be made. */
interface Renamed extends Child {
  uses: number
}

/**
 * What the importer writes one file, directory or symlink into. It does the two
 * things that the importer cannot: it names blocks by another hash than
 * sha2-256, and it gives the root a mode and a time as Kubo does (the importer
 * leaves out a mode of 0644 or 0755). For that the newest block is held back:
 * the last one is the root.
 */
export class ImporterStore implements WritableStorage {
  readonly #sink: BoundedSink
  readonly #hash: Format['hash']
  /** By the importer's CID; holds only blocks that no node links to yet. */
  readonly #renamed = new Map<string, Renamed>()
  #last: Made | undefined

  constructor(sink: BoundedSink, format: Format) {
    this.#sink = sink
    this.#hash = format.hash
  }

  /** Takes a block under the importer's CID. Errors: the sink's. */
  async put(cid: CID, block: Uint8Array): Promise<CID> {
    const earlier = this.#last
    this.#last = this.#hash === undefined ? { cid, block } : this.#rename(cid, block)
    if (earlier !== undefined) await this.#sink.put(earlier.cid, earlier.block)
    return cid
  }

  /** Writes the root with its attributes. Errors: the sink's. */
  async finish(attributes: Attributes): Promise<Child> {
    assert(this.#last !== undefined, 'the importer wrote a root')
    const root = hasAttributes(attributes) ? withAttributes(this.#last, attributes, this.#hash) : this.#last
    await this.#sink.put(root.cid, root.block)
    return { cid: root.cid, dagBytes: dagBytesOf(root) }
  }

  #rename(cid: CID, bytes: Uint8Array): Made {
    const block = cid.code === dagPb.code ? this.#relink(bytes) : bytes
    const made = { cid: cidOf(cid.version, cid.code, block, this.#hash), block }
    const uses = (this.#renamed.get(cid.toString())?.uses ?? 0) + 1
    this.#renamed.set(cid.toString(), { cid: made.cid, dagBytes: dagBytesOf(made), uses })
    return made
  }

  /** A node whose links lead to the renamed blocks. */
  #relink(bytes: Uint8Array): Uint8Array {
    const { Data, Links } = dagPb.decode(bytes)
    if (Links.length === 0) return bytes
    const links = Links.map((link) => {
      const to = this.#take(link.Hash)
      return to === undefined ? link : { Name: link.Name ?? '', Hash: to.cid, Tsize: to.dagBytes }
    })
    return dagPb.encode({ ...(Data === undefined ? {} : { Data }), Links: links })
  }

  #take(cid: CID): Renamed | undefined {
    const renamed = this.#renamed.get(cid.toString())
    if (renamed !== undefined && --renamed.uses === 0) this.#renamed.delete(cid.toString())
    return renamed
  }
}

function dagBytesOf({ cid, block }: Made): number {
  let bytes = block.byteLength
  if (cid.code === dagPb.code) for (const link of dagPb.decode(block).Links) bytes += link.Tsize ?? 0
  return bytes
}

function hasAttributes({ mode, mtime }: Attributes): boolean {
  return mode !== undefined || mtime !== undefined
}

function withAttributes({ cid, block }: Made, { mode, mtime }: Attributes, hash: Format['hash']): Made {
  const { data } = Node.decode(block)
  assert(data !== undefined, 'what has attributes is no raw block')
  const stamped: Data = {
    ...data,
    ...(mode === undefined ? {} : { mode: mode & 0o7777 }),
    ...(mtime === undefined
      ? {}
      : {
          mtime: { seconds: mtime.secs, ...(mtime.nsecs === undefined || mtime.nsecs === 0 ? {} : { fractionalNanoseconds: mtime.nsecs }) }
        })
  }
  const made = dagPb.encode({ Data: encodeData(stamped), Links: dagPb.decode(block).Links })
  return { cid: cidOf(cid.version, cid.code, made, hash), block: made }
}
