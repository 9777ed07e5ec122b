import * as dagCbor from '@ipld/dag-cbor'
import { isIdentity } from '@shardswap/hashes'
import { type BlockSource, type CID, type GetBlockOptions, joinBytes } from '@shardswap/interface'
import { cidKey } from '../cid-key.ts'
import { type Planned, readAhead } from '../read/ahead.ts'
import { type Link, linksOf } from './links.ts'

/** How an archive is written. */
export interface CarExportOptions extends GetBlockOptions {
  /** Each block as often as the walk comes to it, instead of once. */
  readonly duplicates?: boolean
  /** Bytes of blocks that may be asked for ahead of the reader; a limit with a default. */
  readonly readAheadBytesMax?: number
  /** The deepest DAG that is walked, in links from the root; a limit with a default. */
  readonly dagDepthMax?: number
}

function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
  return Uint8Array.from(bytes)
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const part of parts) length += part.byteLength
  return joinBytes(parts, length)
}

function planOf({ cid, dagBytes }: Link): Planned<undefined> {
  return { cid, span: dagBytes, context: undefined }
}

/** The header of a CAR v1. */
export function carHeader(roots: readonly CID[]): Uint8Array {
  const header = dagCbor.encode({ version: 1, roots: [...roots] })
  return join(varint(header.byteLength), header)
}

/**
 * A DAG as CAR v1, depth first from its root, each CID once (or, with
 * `duplicates`, at each visit). Identity blocks are walked and not written.
 * Blocks are asked for ahead. The archive comes in parts of a head and a
 * block's own bytes, uncopied.
 * Errors, after the blocks before them: the source's, UnsupportedCodecError,
 * MalformedError, TooDeepError.
 */
export async function* exportCar(
  source: BlockSource,
  root: CID,
  options: CarExportOptions = {}
): AsyncGenerator<Uint8Array, void, undefined> {
  yield carHeader([root])
  // Grows with the DAG's distinct blocks, about 100 bytes for each.
  const written = new Set<string>()
  const nodes = readAhead<undefined, undefined>({
    source,
    roots: [{ cid: root, span: 0, context: undefined }],
    open: (planned, bytes) => ({ value: undefined, children: linksOf(planned.cid, bytes).map(planOf) }),
    ...(options.duplicates === true ? {} : { skip: (planned) => written.has(cidKey(planned.cid)) }),
    signal: options.signal,
    patient: options.patient,
    readAheadBytesMax: options.readAheadBytesMax,
    dagDepthMax: options.dagDepthMax
  })
  for await (const { cid, bytes } of nodes) {
    if (options.duplicates !== true) written.add(cidKey(cid))
    if (isIdentity(cid)) continue
    yield join(varint(cid.byteLength + bytes.byteLength), cid.bytes)
    if (bytes.byteLength > 0) yield bytes
  }
}
