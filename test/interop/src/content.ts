/** Deterministic content that every side of a transfer can name by a few numbers. */
import { createCipheriv, createHash } from 'node:crypto'
import * as dagCbor from '@ipld/dag-cbor'
import { CID } from 'multiformats/cid'
import { sha256 } from 'multiformats/hashes/sha2'

export const mebibyte = 1024 * 1024

/** Bytes of a leaf in every file here: what Kubo cuts by default. */
export const leafBytes = 256 * 1024

/** One file, and the options that decide its root CID. */
export interface FileSpec {
  readonly bytes: number
  /** Files of different seeds share no leaf. */
  readonly seed: number
  readonly cidVersion: 0 | 1
  readonly rawLeaves: boolean
}

/** Which names a directory holds: mostly plain ones, or those that broke sharded directories before. */
type NameSet = 'plain' | 'odd'

export interface DirectorySpec {
  readonly names: NameSet
  readonly count: number
}

export interface BlockSpec {
  readonly cid: CID
  readonly bytes: Uint8Array
}

/** The first `bytes` bytes of AES-128-CTR over zeros: key 0, the counter starting at `seed`. */
export function* contentOf(spec: { readonly bytes: number; readonly seed: number }): Generator<Uint8Array> {
  const iv = Buffer.alloc(16)
  iv.writeUInt32BE(spec.seed, 12)
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16), iv)
  const zeros = Buffer.alloc(Math.min(spec.bytes, mebibyte))
  for (let left = spec.bytes; left > 0; left -= zeros.byteLength) {
    yield cipher.update(left < zeros.byteLength ? zeros.subarray(0, left) : zeros)
  }
}

/** As `contentOf`, in one array. */
export function bytesOf(bytes: number, seed: number): Uint8Array {
  return new Uint8Array(Buffer.concat([...contentOf({ bytes, seed })]))
}

/** The sha256 of some bytes, in hexadecimal. */
export function sha256Of(content: Iterable<Uint8Array | string>): string {
  const hash = createHash('sha256')
  for (const part of content) hash.update(part)
  return hash.digest('hex')
}

function plainName(index: number): string {
  const kind = index % 10
  if (kind === 7) return `żółć-${index}.txt`
  if (kind === 8) return `日本語-${index}`
  if (kind === 9) return `🙂 ${index}`
  return `file-${index}.txt`
}

const hexDigits = '0123456789abcdefABCDEF'

/** Two characters that a reader of shards may take for a slot's prefix, then letters of many scripts. */
function oddName(index: number): string {
  const pairs = hexDigits.length ** 2
  if (index < pairs) return `${hexDigits[Math.floor(index / hexDigits.length)]}${hexDigits[index % hexDigits.length]}`
  const hex = (index % 256).toString(16).toUpperCase().padStart(2, '0')
  const kind = index % 5
  if (kind === 0) return `${hex}${index}`
  if (kind === 1) return `ключ ${index}`
  if (kind === 2) return `🧊🔥${index}`
  if (kind === 3) return `é e\u0301 ${index}`
  return `مفتاح-${index}`
}

/** The names of a directory, each once. */
export function namesOf(spec: DirectorySpec): string[] {
  const name = spec.names === 'plain' ? plainName : oddName
  return Array.from({ length: spec.count }, (_, index) => name(index))
}

/** What each name of a directory holds: its number, in decimal. */
export function* filesOf(spec: DirectorySpec): Generator<{ name: string; content: Uint8Array }> {
  const encoder = new TextEncoder()
  for (const [index, name] of namesOf(spec).entries()) yield { name, content: encoder.encode(String(index)) }
}

/** Every `step`th file of a directory. */
export function sampleOf(spec: DirectorySpec, step: number): { name: string; content: Uint8Array }[] {
  return [...filesOf(spec)].filter((_, index) => index % step === 0)
}

/** One figure for a list of names, whatever their order. */
export function digestOfNames(names: readonly string[]): string {
  return sha256Of(names.toSorted().map((name) => `${name}\0`))
}

/** One figure for the files of a directory, whatever their order. */
export function digestOfFiles(files: ReadonlyMap<string, Uint8Array>): string {
  const names = [...files.keys()].sort()
  return sha256Of(names.flatMap((name) => [name, '\0', files.get(name) ?? '', '\0']))
}

/** What `digestOfFiles` gives for a directory that arrived whole. */
export function expectedDigestOfFiles(spec: DirectorySpec): string {
  return digestOfFiles(new Map([...filesOf(spec)].map(({ name, content }) => [name, content])))
}

/** The block of `bytes` under sha2-256 and a codec. */
export async function blockOf(bytes: Uint8Array, codec: number): Promise<BlockSpec> {
  return { cid: CID.createV1(codec, await sha256.digest(bytes)), bytes }
}

/** A dag-cbor root over two dag-cbor nodes and a raw block; the root comes last. */
export async function cborBlocks(): Promise<BlockSpec[]> {
  const raw = await blockOf(bytesOf(3000, 900), 0x55)
  const left = await blockOf(dagCbor.encode({ side: 'left', raw: raw.cid, big: 2n ** 60n }), dagCbor.code)
  const right = await blockOf(dagCbor.encode({ side: 'right', bytes: bytesOf(64, 901), none: null }), dagCbor.code)
  const root = await blockOf(dagCbor.encode({ links: [left.cid, right.cid, left.cid], n: -1.5 }), dagCbor.code)
  return [raw, left, right, root]
}
