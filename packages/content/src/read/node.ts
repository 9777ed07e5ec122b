import * as dagPb from '@ipld/dag-pb'
import { type CID, messageOf } from '@shardswap/interface'
import { Node } from 'ipfs-unixfs'
import * as raw from 'multiformats/codecs/raw'
import { NotUnixFSError, SizeMismatchError } from '../errors.ts'
import { shardFanoutMax } from '../limits.ts'
import type { UnixTime } from '../types.ts'

const none = new Uint8Array(0)
const murmur3x64 = 0x22n

interface FileLink {
  readonly cid: CID
  /** Bytes of the file below this link, as its parent states them. */
  readonly size: number
  /** Bytes of the blocks below this link, as its parent states them. */
  readonly dagBytes: number
}

export interface NameLink {
  readonly cid: CID
  readonly name: string
  readonly dagBytes: number
}

interface Attributes {
  readonly mode?: number
  readonly mtime?: UnixTime
}

/** What a block is in UnixFS. */
export type UnixFSNode =
  | ({
      readonly kind: 'file'
      readonly raw: boolean
      readonly data: Uint8Array
      readonly links: readonly FileLink[]
      readonly size: number
    } & Attributes)
  | ({ readonly kind: 'directory'; readonly links: readonly NameLink[] } & Attributes)
  | ({ readonly kind: 'shard'; readonly fanout: number; readonly links: readonly NameLink[] } & Attributes)
  | ({ readonly kind: 'symlink'; readonly target: string } & Attributes)

type Data = NonNullable<Node['data']>

/** Whether a block of this codec may be a part of UnixFS. */
export function isUnixFSCodec(cid: CID): boolean {
  return cid.code === dagPb.code || cid.code === raw.code
}

/**
 * Reads a block as UnixFS and checks what can be checked within it: sizes that
 * add up, shards whose links fit their bit field. Errors name the CID:
 * NotUnixFSError, SizeMismatchError.
 */
export function decodeNode(cid: CID, bytes: Uint8Array): UnixFSNode {
  if (cid.code === raw.code) return { kind: 'file', raw: true, data: bytes, links: [], size: bytes.byteLength }
  if (cid.code !== dagPb.code) throw new NotUnixFSError(`${cid.toString()} is not UnixFS: its codec is 0x${cid.code.toString(16)}`)
  const { node, data } = parse(cid, bytes)
  const attributes = attributesOf(data)
  switch (String(data.type)) {
    case 'RAW':
    case 'FILE':
      return { ...fileOf(cid, node, data), ...attributes }
    case 'DIRECTORY':
      checkNames(cid, node, bytes)
      return { kind: 'directory', links: node.Links.map(nameLink), ...attributes }
    case 'HAMT_SHARD':
      checkNames(cid, node, bytes)
      return { ...shardOf(cid, node, data), ...attributes }
    case 'SYMLINK':
      return { kind: 'symlink', target: decodeText(cid, data.data ?? none), ...attributes }
    default:
      throw new NotUnixFSError(`${cid.toString()} is of a UnixFS type that nobody uses: ${String(data.type)}`)
  }
}

function parse(cid: CID, bytes: Uint8Array): { node: dagPb.PBNode; data: Data } {
  try {
    const node = dagPb.decode(bytes)
    const data = node.Data === undefined ? undefined : Node.decode(bytes).data
    if (data !== undefined) return { node, data }
  } catch (cause) {
    throw new NotUnixFSError(`${cid.toString()} is not UnixFS: ${messageOf(cause)}`, { cause })
  }
  throw new NotUnixFSError(`${cid.toString()} is not UnixFS: it is a dag-pb node without data`)
}

function attributesOf(data: Data): Attributes {
  const { mode, mtime } = data
  const nsecs = mtime?.fractionalNanoseconds
  return {
    // Kubo writes permission bits only; what else may stand in this field means nothing here.
    ...(mode === undefined ? {} : { mode: mode & 0o7777 }),
    ...(mtime === undefined ? {} : { mtime: { secs: mtime.seconds ?? 0n, ...(nsecs === undefined ? {} : { nsecs }) } })
  }
}

function decodeText(cid: CID, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new NotUnixFSError(`${cid.toString()} is a symlink whose target is not UTF-8`, { cause })
  }
}

function nameLink(link: dagPb.PBLink): NameLink {
  return { cid: link.Hash, name: link.Name ?? '', dagBytes: link.Tsize ?? 0 }
}

/** The decoder puts a replacement character where a name is not UTF-8: two names could become one. */
function checkNames(cid: CID, node: dagPb.PBNode, bytes: Uint8Array): void {
  const odd = node.Links.find((link) => link.Name?.includes('\uFFFD') === true)
  if (odd === undefined || dagPb.encode(node).byteLength === bytes.byteLength) return
  throw new NotUnixFSError(`${cid.toString()} holds a name that is not UTF-8: ${JSON.stringify(odd.Name)}`)
}

function fileOf(cid: CID, node: dagPb.PBNode, data: Data): UnixFSNode & { kind: 'file' } {
  const { blockSizes } = data
  if (blockSizes.length !== node.Links.length) {
    throw new SizeMismatchError(`${cid.toString()} has ${node.Links.length} links but ${blockSizes.length} block sizes`)
  }
  const own = data.data ?? none
  let size = own.byteLength
  const links = node.Links.map((link, i) => {
    const below = Number(blockSizes[i])
    size += below
    return { cid: link.Hash, size: below, dagBytes: link.Tsize ?? 0 }
  })
  if (!Number.isSafeInteger(size)) throw new SizeMismatchError(`${cid.toString()} states a size beyond any file`)
  if (data.fileSize !== undefined && data.fileSize !== BigInt(size)) {
    throw new SizeMismatchError(`${cid.toString()} states a file size of ${data.fileSize} bytes, but its parts add up to ${size}`)
  }
  return { kind: 'file', raw: false, data: own, links, size }
}

function shardOf(cid: CID, node: dagPb.PBNode, data: Data): UnixFSNode & { kind: 'shard' } {
  const wrong = (what: string): NotUnixFSError => new NotUnixFSError(`${cid.toString()} is a malformed shard: ${what}`)
  const fanout = Number(data.fanOut ?? 0n)
  if (fanout < 8 || fanout > shardFanoutMax || (fanout & (fanout - 1)) !== 0) throw wrong(`fanout ${fanout}`)
  if (data.hashType !== murmur3x64) throw wrong(`hash function 0x${(data.hashType ?? 0n).toString(16)}`)
  const field = data.data ?? none
  if (field.byteLength > fanout / 8) throw wrong(`a bit field of ${field.byteLength} bytes for a fanout of ${fanout}`)
  const prefixLength = shardPrefixLength(fanout)
  const expected = bitsOf(field).map((bit) => shardPrefix(bit, fanout))
  if (expected.length !== node.Links.length) throw wrong(`${node.Links.length} links for ${expected.length} bits`)
  for (const [i, link] of node.Links.entries()) {
    if ((link.Name ?? '').slice(0, prefixLength) !== expected[i])
      throw wrong(`link "${link.Name ?? ''}" where prefix ${expected[i]} belongs`)
  }
  // An empty name is a sub-shard; here the prefix stays, so that lookups can find it.
  return { kind: 'shard', fanout, links: node.Links.map(nameLink) }
}

/** Length of the position that each name in a shard begins with, in hexadecimal digits. */
export function shardPrefixLength(fanout: number): number {
  return (fanout - 1).toString(16).length
}

/** The position in a shard as its names write it. */
export function shardPrefix(position: number, fanout: number): string {
  return position.toString(16).toUpperCase().padStart(shardPrefixLength(fanout), '0')
}

/** The set bits of a big-endian field, lowest first. */
function bitsOf(field: Uint8Array): number[] {
  const bits: number[] = []
  for (let i = field.byteLength - 1; i >= 0; i--) {
    const byte = field[i] ?? 0
    const base = (field.byteLength - 1 - i) * 8
    for (let bit = 0; bit < 8; bit++) if ((byte & (1 << bit)) !== 0) bits.push(base + bit)
  }
  return bits
}
