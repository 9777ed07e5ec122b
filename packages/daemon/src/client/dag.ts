/** The commands on DAGs, asked of a daemon. */
import type { DagSizes } from '@shardswap/content'
import { type AbortOptions, CID, MalformedError, readWhole, TooLargeError } from '@shardswap/interface'
import type { DagGetOptions, DagPlace, DagPutOptions, DagRefsOptions, DagSizeOptions, NodeDag } from '../api/dag.ts'
import { dagSizesOf, type DagSizesShape, placeOf, type PlaceShape, type PutShape, type RefShape } from '../dag-shapes.ts'
import { nodeTextBytesMax } from '../limits.ts'
import type { FetchOptions } from '../node.ts'
import { type DaemonCalls, fetchParams } from './daemon-calls.ts'
import { uploadOf } from './multipart.ts'

export class RemoteDag implements NodeDag {
  readonly #calls: DaemonCalls

  constructor(calls: DaemonCalls) {
    this.#calls = calls
  }

  async get(path: string, options: DagGetOptions = {}): Promise<Uint8Array> {
    const params = { arg: path, 'output-codec': options.outputCodec, ...fetchParams(options) }
    return await readWhole(this.#calls.bytes('dag/get', params, options), (bytes) => {
      if (bytes > nodeTextBytesMax) throw new TooLargeError(`the node takes more than ${nodeTextBytesMax} bytes (nodeTextBytesMax)`)
    })
  }

  async put(bytes: Uint8Array, options: DagPutOptions = {}): Promise<CID> {
    const { inputCodec, storeCodec, hash, allowBigBlock, pin } = options
    const params = { 'input-codec': inputCodec, 'store-codec': storeCodec, hash, 'allow-big-block': allowBigBlock, pin }
    const { Cid } = await this.#calls.json<PutShape>('dag/put', params, options, uploadOf(bytes))
    return CID.parse(Cid['/'])
  }

  async resolve(path: string, options: FetchOptions = {}): Promise<DagPlace> {
    return placeOf(await this.#calls.json<PlaceShape>('dag/resolve', { arg: path, ...fetchParams(options) }, options))
  }

  async stat(paths: readonly string[], options: DagSizeOptions = {}): Promise<DagSizes> {
    const { onProgress } = options
    const params = { arg: paths, progress: onProgress !== undefined, ...fetchParams(options) }
    let last: DagSizes | undefined
    for await (const line of this.#calls.lines<DagSizesShape>('dag/stat', params, options)) {
      last = dagSizesOf(line)
      if (line.UniqueBlocks === undefined) onProgress?.(last)
    }
    if (last === undefined) throw new MalformedError('the daemon answered "dag stat" with nothing')
    return last
  }

  async *refs(paths: readonly string[], options: DagRefsOptions = {}): AsyncGenerator<string> {
    const { recursive, unique, maxDepth, format } = options
    // Of the two ways to say "source and target" the daemon takes either.
    const params = { arg: paths, recursive, unique, 'max-depth': maxDepth, format, ...fetchParams(options) }
    for await (const { Ref } of this.#calls.lines<RefShape>('refs', params, options)) yield Ref
  }

  async *localRefs(options: AbortOptions = {}): AsyncGenerator<CID> {
    for await (const { Ref } of this.#calls.lines<RefShape>('refs/local', {}, options)) yield CID.parse(Ref)
  }
}
