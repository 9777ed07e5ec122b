import type { AbortOptions, BlockSink, CID } from '@shardswap/interface'
import * as limits from '../limits.ts'
import { throwIfAborted } from '../local.ts'

/**
 * Puts blocks into a sink, several at once within bounds of count and bytes.
 * The first failure is kept and thrown by the next `put` or by `drain`.
 */
export class BoundedSink {
  readonly #sink: BlockSink
  readonly #options: AbortOptions
  #blocks = 0
  #bytes = 0
  readonly #running = new Set<Promise<void>>()
  #failure: { readonly error: unknown } | undefined
  #wake: (() => void) | undefined

  constructor(sink: BlockSink, options: AbortOptions = {}) {
    this.#sink = sink
    this.#options = { signal: options.signal }
  }

  /** Starts a put once there is room for it. Errors: of earlier puts, AbortError. */
  async put(cid: CID, bytes: Uint8Array): Promise<void> {
    while (this.#blocks > 0 && (this.#blocks >= limits.sinkBlocksMax || this.#bytes + bytes.byteLength > limits.sinkBytesMax))
      await this.#settled()
    this.throwIfFailed()
    throwIfAborted(this.#options.signal)
    this.#blocks++
    this.#bytes += bytes.byteLength
    const running = this.#sink
      .put(cid, bytes, this.#options)
      .catch((error: unknown) => {
        this.#failure ??= { error }
      })
      .finally(() => {
        this.#blocks--
        this.#bytes -= bytes.byteLength
        this.#running.delete(running)
        this.#wake?.()
      })
    this.#running.add(running)
  }

  /** Resolves once every put so far has, whatever came of it. */
  async mark(): Promise<void> {
    await Promise.allSettled(this.#running)
  }

  /** Throws what an earlier put failed with. */
  throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }

  /** Resolves once every put has. Errors: of the puts. */
  async drain(): Promise<void> {
    await this.settle()
    this.throwIfFailed()
  }

  /** As drain, whatever came of the puts. */
  async settle(): Promise<void> {
    while (this.#blocks > 0) await this.#settled()
  }

  #settled(): Promise<void> {
    return new Promise((resolve) => {
      const earlier = this.#wake
      this.#wake = () => {
        earlier?.()
        this.#wake = undefined
        resolve()
      }
    })
  }
}
