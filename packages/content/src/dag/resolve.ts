/** Paths through any DAG: names of UnixFS, links of dag-pb, keys of values. */
import * as dagPb from '@ipld/dag-pb'
import { type BlockSource, CID, type GetBlockOptions, NotFoundError } from '@shardswap/interface'
import { NotUnixFSError, UnsupportedCodecError } from '../errors.ts'
import { getBlock } from '../local.ts'
import { formatPath, parseDagPath } from '../path.ts'
import { isUnixFSCodec } from '../read/node.ts'
import { namedLink } from '../read/resolve.ts'
import { decodeValue, isNodeCodec } from './codecs.ts'

/** The block that a path ends in, and the keys of it that are left. */
export interface ResolvedNode {
  readonly cid: CID
  readonly bytes: Uint8Array
  /** Keys within the block; none where the path ends at the block itself. */
  readonly rest: readonly string[]
  /** What stands there. Errors: UnsupportedCodecError, MalformedError. */
  readonly value: () => unknown
}

/**
 * Walks `CID/path`, `/ipfs/CID/path` or `/ipld/CID/path` as far as it leads. In a block of dag-pb the names are those of
 * UnixFS or, where it is none, of its links; under `/ipld/` they are its fields (`Links/0/Hash`). Elsewhere they are keys.
 * Errors: InvalidCidError, NotFoundError naming what is missing, NotADirectoryError, UnsupportedCodecError,
 * MalformedError, the source's.
 */
export async function resolveNode(source: BlockSource, text: string, options?: GetBlockOptions): Promise<ResolvedNode> {
  const { root, segments, byFields } = parseDagPath(text)
  let cid = root
  let rest: readonly string[] = segments
  for (;;) {
    const bytes = await getBlock(source, cid, options)
    if (rest.length === 0) return found(cid, bytes, [], () => valueOf(cid, bytes))
    const step = isUnixFSCodec(cid) && !byFields ? await nameStep(source, cid, bytes, rest, options) : keyStep(cid, bytes, rest)
    if (step.link === undefined) return found(cid, bytes, rest, () => step.value)
    cid = step.link
    rest = step.rest
  }
}

function found(cid: CID, bytes: Uint8Array, rest: readonly string[], value: () => unknown): ResolvedNode {
  return { cid, bytes, rest, value }
}

function valueOf(cid: CID, bytes: Uint8Array): unknown {
  if (!isNodeCodec(cid.code)) throw new UnsupportedCodecError(cid)
  return decodeValue(cid.code, bytes)
}

interface Step {
  /** Where the path goes on; undefined where it ends within this block. */
  readonly link: CID | undefined
  readonly rest: readonly string[]
  readonly value: unknown
}

async function nameStep(
  source: BlockSource,
  cid: CID,
  bytes: Uint8Array,
  rest: readonly string[],
  options: GetBlockOptions | undefined
): Promise<Step> {
  const [name = '', ...others] = rest
  try {
    return { link: await namedLink(source, cid, bytes, name, options), rest: others, value: undefined }
  } catch (error) {
    if (!(error instanceof NotUnixFSError)) throw error
  }
  const link = (decodeValue(cid.code, bytes) as dagPb.PBNode).Links.find((each) => each.Name === name)
  if (link === undefined) throw new NotFoundError(`no link named "${name}" under ${cid.toString()}`)
  return { link: link.Hash, rest: others, value: undefined }
}

function keyStep(cid: CID, bytes: Uint8Array, rest: readonly string[]): Step {
  let here = valueOf(cid, bytes)
  for (const [at, key] of rest.entries()) {
    here = valueAt(here, key, () => formatPath(cid, rest.slice(0, at)))
    const link = CID.asCID(here)
    if (link !== null) return { link, rest: rest.slice(at + 1), value: undefined }
  }
  return { link: undefined, rest, value: here }
}

function valueAt(value: unknown, key: string, where: () => string): unknown {
  const isMap = typeof value === 'object' && value !== null && !(value instanceof Uint8Array)
  if (isMap && Object.hasOwn(value, key) && !(Array.isArray(value) && !/^\d+$/.test(key))) return (value as Record<string, unknown>)[key]
  throw new NotFoundError(`no link named "${key}" under ${where()}`)
}
