/** The commands on DAGs, on an open repo. */
import {
  type DagSizes,
  dagStat,
  decodeValue,
  encodeValue,
  isNodeCodec,
  nodeCodecNames,
  parseDagPath,
  refs,
  resolveNode
} from '@shardswap/content'
import { type AbortOptions, type BlockSource, CID, InvalidParametersError } from '@shardswap/interface'
import type { Repo } from '@shardswap/repo'
import type { DagGetOptions, DagPlace, DagPutOptions, DagRefsOptions, DagSizeOptions, NodeDag } from '../api/dag.ts'
import { codecNamed } from '../codecs.ts'
import type { BlockPutOptions, BlockStat, FetchOptions } from '../node.ts'

/** What the commands need of their node. */
export interface LocalDagInit {
  readonly repo: Repo
  /** Runs a read against whatever blocks the options allow. */
  reading<T>(options: FetchOptions, use: (source: BlockSource) => AsyncIterable<T>, roots: readonly CID[]): AsyncGenerator<T>
  /** Collections of garbage that begin meanwhile spare what is below the roots. */
  read<T>(options: FetchOptions, use: (source: BlockSource) => Promise<T>, roots: readonly CID[]): Promise<T>
  blockPut(bytes: Uint8Array, options: BlockPutOptions): Promise<BlockStat>
}

const rawCode = 0x55

export class LocalDag implements NodeDag {
  readonly #init: LocalDagInit

  constructor(init: LocalDagInit) {
    this.#init = init
  }

  async get(path: string, options: DagGetOptions = {}): Promise<Uint8Array> {
    const output = nodeCodec(options.outputCodec ?? 'dag-json')
    return await this.#init.read(
      options,
      async (source) => {
        const { cid, bytes, rest, value } = await resolveNode(source, path, options)
        // The block itself is what was asked for: written anew it could differ in a byte.
        if (rest.length === 0 && cid.code === output) return bytes
        return encodeValue(output, value())
      },
      rootsOf(path)
    )
  }

  async put(bytes: Uint8Array, options: DagPutOptions = {}): Promise<CID> {
    const { inputCodec = 'dag-json', storeCodec = 'dag-cbor', hash, allowBigBlock = false, pin = false, signal } = options
    const input = nodeCodec(inputCodec)
    const store = nodeCodec(storeCodec)
    // Also where both are the same: what does not follow its codec is not stored, and each node has one form only.
    const block = encodeValue(store, decodeValue(input, bytes))
    const put = { codec: storeCodec, allowBigBlock, pin, signal, ...(hash === undefined ? {} : { mhtype: hash }) }
    return (await this.#init.blockPut(block, put)).cid
  }

  async resolve(path: string, options: FetchOptions = {}): Promise<DagPlace> {
    return await this.#init.read(
      options,
      async (source) => {
        const { cid, rest } = await resolveNode(source, path, options)
        return { cid, rest: rest.map((key) => `/${key}`).join('') }
      },
      rootsOf(path)
    )
  }

  async stat(paths: readonly string[], options: DagSizeOptions = {}): Promise<DagSizes> {
    return await this.#init.read(options, async (source) => await dagStat(source, paths, options), rootsOf(...paths))
  }

  async *refs(paths: readonly string[], options: DagRefsOptions = {}): AsyncGenerator<string> {
    const { format = '<dst>' } = options
    const texts = async function* (source: BlockSource): AsyncGenerator<string> {
      for await (const { from, to, name } of refs(source, paths, options)) {
        const parts: Record<string, string> = { '<src>': from.toString(), '<dst>': to.toString(), '<linkname>': name }
        yield format.replace(/<(?:src|dst|linkname)>/g, (token) => parts[token] ?? token)
      }
    }
    yield* this.#init.reading(options, texts, rootsOf(...paths))
  }

  async *localRefs({ signal }: AbortOptions = {}): AsyncGenerator<CID> {
    for await (const { cid } of this.#init.repo.blocks.getAll()) {
      signal?.throwIfAborted()
      yield CID.createV1(rawCode, cid.multihash)
    }
  }
}

/** Where reads of these paths begin. Errors: InvalidCidError. */
function rootsOf(...paths: readonly string[]): CID[] {
  return paths.map((path) => parseDagPath(path).root)
}

/** Code of a codec that values can be read and written in. Errors: InvalidParametersError. */
function nodeCodec(name: string): number {
  const code = codecNamed(name)
  if (isNodeCodec(code)) return code
  throw new InvalidParametersError(`nodes cannot be read or written as ${name}: use one of ${nodeCodecNames().join(', ')}`)
}
