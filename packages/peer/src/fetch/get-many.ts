import type { Block, CID } from '@shardswap/interface'
import { unknownBlockBytes } from '@shardswap/session'
import type { PeerLimits } from '../limits.ts'
import type { GetManyOptions } from '../types.ts'
import { abortError, onAbort } from './abort.ts'

type Outcome = { readonly cid: CID; readonly bytes: Uint8Array } | { readonly cid: CID; readonly error: unknown }

/**
 * Many blocks as a stream: takes CIDs as long as what is asked for and not yet
 * read stays under the limits, gives blocks in the order asked or as they come.
 * Ending it early cancels what is open. Errors: as `get`, for the block whose turn it is. Once `ended` fires no more
 * CIDs are waited for: after what is here already comes its reason, as an error.
 */
export async function* getMany(
  get: (cid: CID, signal: AbortSignal) => Promise<Uint8Array>,
  cids: Iterable<CID> | AsyncIterable<CID>,
  options: GetManyOptions,
  limits: PeerLimits,
  ended: AbortSignal
): AsyncGenerator<Block> {
  const flow = new Flow(get, options, limits, ended)
  // The flow reports what goes wrong in its turn.
  void flow.fill(cids)
  try {
    for (;;) {
      const outcome = await flow.next()
      if (outcome === undefined) return
      if ('error' in outcome) throw outcome.error
      yield outcome
    }
  } finally {
    flow.end()
  }
}

class Flow {
  readonly #get: (cid: CID, signal: AbortSignal) => Promise<Uint8Array>
  readonly #limits: PeerLimits
  readonly #inOrder: boolean
  readonly #abort = new AbortController()
  readonly #signal: AbortSignal | undefined
  #offAbort: (() => void) | undefined
  #offEnded: (() => void) | undefined
  /** Promised, in the order asked; or here, in the order of arrival. */
  readonly #ahead: { readonly outcome: Promise<Outcome> | Outcome }[] = []
  /** Asked for and not read yet. */
  #open = 0
  /** Asked for and not here yet. */
  #pending = 0
  /** Bytes that are here and not read yet. */
  #bytes = 0
  #averageBytes = unknownBlockBytes
  #taken = 0
  #sourceDone = false
  #sourceError: { readonly error: unknown } | undefined
  #wakeReader: (() => void) | undefined
  #wakeFiller: (() => void) | undefined

  constructor(
    get: (cid: CID, signal: AbortSignal) => Promise<Uint8Array>,
    options: GetManyOptions,
    limits: PeerLimits,
    ended: AbortSignal
  ) {
    this.#get = get
    this.#limits = limits
    if (ended.aborted) this.#endSource({ error: ended.reason })
    else this.#offEnded = onAbort(ended, () => this.#endSource({ error: ended.reason }))
    this.#inOrder = options.order !== 'arrival'
    this.#signal = options.signal
    if (this.#signal === undefined) return
    if (this.#signal.aborted) this.#onAbort()
    else this.#offAbort = onAbort(this.#signal, this.#onAbort)
  }

  async fill(cids: Iterable<CID> | AsyncIterable<CID>): Promise<void> {
    try {
      for await (const cid of cids) {
        while (!this.#sourceDone && !this.#hasRoom()) await new Promise<void>((resolve) => (this.#wakeFiller = resolve))
        if (this.#sourceDone) return
        this.#start(cid)
      }
      this.#endSource()
    } catch (error) {
      this.#endSource({ error })
    }
  }

  /** The next outcome, or undefined at the end. */
  async next(): Promise<Outcome | undefined> {
    for (;;) {
      if (this.#abort.signal.aborted) throw abortError(this.#signal)
      const head = this.#ahead[0]
      if (head !== undefined) {
        this.#ahead.shift()
        const outcome = await head.outcome
        this.#open -= 1
        this.#bytes -= 'bytes' in outcome ? outcome.bytes.byteLength : 0
        this.#wakeFiller?.()
        return outcome
      }
      if (this.#sourceDone && this.#open === 0) {
        if (this.#sourceError !== undefined) throw this.#sourceError.error
        return undefined
      }
      await new Promise<void>((resolve) => (this.#wakeReader = resolve))
    }
  }

  end(): void {
    this.#offAbort?.()
    this.#offEnded?.()
    this.#abort.abort()
    this.#endSource()
  }

  readonly #onAbort = (): void => {
    this.#abort.abort(this.#signal?.reason)
    this.#endSource()
  }

  /** Nothing more is taken from the source, which may be in the middle of making a CID; the first to say so says why. */
  #endSource(failure?: { readonly error: unknown }): void {
    if (!this.#sourceDone) this.#sourceError = failure
    this.#sourceDone = true
    this.#wakeReader?.()
    this.#wakeFiller?.()
  }

  /** Blocks that are here count with their bytes, those that are asked for with the average. */
  #hasRoom(): boolean {
    if (this.#open === 0) return true
    const bytes = this.#bytes + (this.#pending + 1) * this.#averageBytes
    return this.#open < this.#limits.getManyBlocksMax && bytes <= this.#limits.getManyBytesMax
  }

  #start(cid: CID): void {
    this.#open += 1
    this.#pending += 1
    const promise = this.#get(cid, this.#abort.signal).then(
      (bytes): Outcome => {
        this.#pending -= 1
        this.#taken += 1
        this.#averageBytes += (bytes.byteLength - this.#averageBytes) / Math.min(8, this.#taken)
        this.#bytes += bytes.byteLength
        return { cid, bytes }
      },
      (error: unknown): Outcome => {
        this.#pending -= 1
        return { cid, error }
      }
    )
    if (this.#inOrder) {
      this.#ahead.push({ outcome: promise })
      this.#wakeReader?.()
      return
    }
    promise.then(
      (outcome) => {
        this.#ahead.push({ outcome })
        this.#wakeReader?.()
      },
      () => undefined
    )
  }
}
