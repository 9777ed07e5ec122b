import * as dagPb from '@ipld/dag-pb'
import { hashFunctionNamed, multihashOf, identityCode } from '@shardswap/hashes'
import { assert, CID, InvalidParametersError } from '@shardswap/interface'
import { Node } from 'ipfs-unixfs'
import * as raw from 'multiformats/codecs/raw'
import type { AddOptions, UnixTime } from '../types.ts'

type Data = NonNullable<Node['data']>

/** How blocks of one `add` are made into CIDs. */
export interface Format {
  readonly cidVersion: 0 | 1
  readonly rawLeaves: boolean
  readonly hashCode: number
  readonly hashBytes: number
}

/** Mode and time of a file or directory. */
export interface Attributes {
  readonly mode?: number | undefined
  readonly mtime?: UnixTime | undefined
}

/** A block that was made, and what its parent says of it. */
export interface Made {
  readonly cid: CID
  readonly block: Uint8Array
  /** Bytes of all blocks from here down. */
  readonly dagBytes: number
  /** Bytes of the file from here down. */
  readonly fileBytes: number
}

/** The CIDs' format that options ask for, with Kubo's rules of what implies what. Errors: InvalidParametersError. */
export function formatOf(options: AddOptions): Format {
  const name = options.hash ?? 'sha2-256'
  const hash = hashFunctionNamed(name)
  if (hash === undefined || hash.code === identityCode) throw new InvalidParametersError(`unsupported hash "${name}"`)
  const cidVersion = options.cidVersion ?? (name === 'sha2-256' ? 0 : 1)
  if (cidVersion !== 0 && cidVersion !== 1) throw new InvalidParametersError(`there is no CID version ${String(cidVersion)}`)
  if (cidVersion === 0 && name !== 'sha2-256') throw new InvalidParametersError(`CID version 0 has no hash but sha2-256, not ${name}`)
  return { cidVersion, rawLeaves: options.rawLeaves ?? cidVersion === 1, hashCode: hash.code, hashBytes: hash.digestBytes }
}

function cidOf(format: Format, version: 0 | 1, code: number, block: Uint8Array): CID {
  const digest = multihashOf(format.hashCode, format.hashBytes, block)
  assert(digest !== undefined, 'the hash function is registered')
  return version === 0 ? CID.createV0(digest as Parameters<typeof CID.createV0>[0]) : CID.createV1(code, digest)
}

function type(name: 'RAW' | 'FILE' | 'DIRECTORY' | 'HAMT_SHARD' | 'SYMLINK'): NonNullable<Data['type']> {
  // The library keeps its enumeration to itself; its members are these words.
  return name as unknown as NonNullable<Data['type']>
}

function attributesOf({ mode, mtime }: Attributes): Pick<Data, 'mode' | 'mtime'> {
  return {
    ...(mode === undefined ? {} : { mode: mode & 0o7777 }),
    ...(mtime === undefined
      ? {}
      : {
          mtime: { seconds: mtime.secs, ...(mtime.nsecs === undefined || mtime.nsecs === 0 ? {} : { fractionalNanoseconds: mtime.nsecs }) }
        })
  }
}

/** UnixFS data alone, without the node around it. */
function encodeData(data: Partial<Data>): Uint8Array {
  const node = Node.encode({ data: data as Data, links: [] })
  // A tag, the length, and the data.
  let at = 1
  while (((node[at] ?? 0) & 0x80) !== 0) at++
  return node.subarray(at + 1)
}

function encodeNode(format: Format, data: Partial<Data>, links: dagPb.PBLink[], fileBytes: number): Made {
  // Without links the library's own encoding is the block, and saves a copy of the data.
  const block =
    links.length === 0
      ? Node.encode({ data: data as Data, links: [] })
      : dagPb.encode(dagPb.prepare({ Data: encodeData(data), Links: links }))
  let dagBytes = block.byteLength
  for (const link of links) dagBytes += link.Tsize ?? 0
  return { cid: cidOf(format, format.cidVersion, dagPb.code, block), block, dagBytes, fileBytes }
}

/** A leaf of a file: raw, or a node of its own. */
export function makeLeaf(format: Format, bytes: Uint8Array, kind: 'RAW' | 'FILE', attributes: Attributes = {}): Made {
  if (format.rawLeaves)
    return { cid: cidOf(format, 1, raw.code, bytes), block: bytes, dagBytes: bytes.byteLength, fileBytes: bytes.byteLength }
  const data = {
    type: type(kind),
    ...(bytes.byteLength === 0 ? {} : { data: bytes as Uint8Array<ArrayBuffer> }),
    fileSize: BigInt(bytes.byteLength),
    blockSizes: []
  }
  return encodeNode(format, { ...data, ...attributesOf(attributes) }, [], bytes.byteLength)
}

/** What a parent keeps of a child. */
export type Child = Omit<Made, 'block'>

/** An inner node of a file. */
export function makeFileNode(format: Format, children: readonly Child[], attributes: Attributes = {}): Made {
  let fileBytes = 0
  for (const child of children) fileBytes += child.fileBytes
  const blockSizes = children.map((child) => BigInt(child.fileBytes))
  const links = children.map((child) => ({ Name: '', Tsize: child.dagBytes, Hash: child.cid }))
  return encodeNode(format, { type: type('FILE'), fileSize: BigInt(fileBytes), blockSizes, ...attributesOf(attributes) }, links, fileBytes)
}

/** A symlink. Kubo keeps its time, not its mode. */
export function makeSymlink(format: Format, target: string, attributes: Attributes): Made {
  const data = {
    type: type('SYMLINK'),
    data: new TextEncoder().encode(target),
    blockSizes: [],
    ...attributesOf({ mtime: attributes.mtime })
  }
  return encodeNode(format, data, [], 0)
}

/** A name in a directory, and what it leads to. */
export interface Named {
  readonly name: string
  readonly cid: CID
  readonly dagBytes: number
}

function nameLinks(entries: readonly Named[]): dagPb.PBLink[] {
  return entries.map(({ name, cid, dagBytes }) => ({ Name: name, Tsize: dagBytes, Hash: cid }))
}

/** A directory within one block. */
export function makeDirectory(format: Format, entries: readonly Named[], attributes: Attributes): Made {
  return encodeNode(format, { type: type('DIRECTORY'), blockSizes: [], ...attributesOf(attributes) }, nameLinks(entries), 0)
}

/** A node of a sharded directory: `field` has a bit for each place that `entries` take. */
export function makeShard(format: Format, entries: readonly Named[], field: Uint8Array, fanout: number, attributes: Attributes): Made {
  const data = {
    type: type('HAMT_SHARD'),
    data: field as Uint8Array<ArrayBuffer>,
    blockSizes: [],
    hashType: 0x22n,
    fanOut: BigInt(fanout),
    ...attributesOf(attributes)
  }
  return encodeNode(format, data, nameLinks(entries), 0)
}
