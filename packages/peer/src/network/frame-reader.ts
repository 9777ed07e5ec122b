import { asError } from '@shardswap/interface'
import { FrameDecoder } from '@shardswap/protocol'
import type { Stream } from '@libp2p/interface'
import { openWindow, streamWindowBytesMax } from './open-window.ts'
import { spendCopied } from './spent-memory.ts'

export interface FrameReaderPorts {
  /** Bytes arrived, of whole messages or parts of one; told after those messages. */
  onBytes(bytes: number): void
  /** A whole message without its length prefix. A promise holds this stream's reading back until it settles. */
  onFrame(frame: Uint8Array): Promise<void> | undefined
  /** The stream ended, was reset, or broke the format (then `error` is set). Called once. */
  onEnd(error?: Error): void
}

/** Frames wait unread for so many bytes: more than the window of Yamux lets in, else pausing resets the stream. */
export const readBufferBytesMax = streamWindowBytesMax + 1024 * 1024

/** Reads Bitswap frames off one incoming stream, with back-pressure: it pauses the stream while frames are being taken in. */
export class FrameReader {
  readonly #stream: Stream
  readonly #ports: FrameReaderPorts
  readonly #decoder: FrameDecoder
  #frameSinceMs: number | undefined
  #holds = 0
  /** Nothing has come on it yet. */
  #silent = true
  #ended = false

  constructor(stream: Stream, ports: FrameReaderPorts) {
    this.#stream = stream
    this.#ports = ports
    this.#decoder = new FrameDecoder({ onSpent: spendCopied })
    stream.maxReadBufferLength = Math.max(stream.maxReadBufferLength, readBufferBytesMax)
    openWindow(stream)
    stream.addEventListener('close', this.#onClose)
    stream.addEventListener('end', this.#onEnd)
    // Last, for what arrived before is handed out as soon as somebody listens.
    stream.addEventListener('message', this.#onMessage)
  }

  /** Bytes of an incomplete frame that are held. */
  get partialBytes(): number {
    return this.#decoder.bufferedBytes + (this.#holds > 0 ? this.#stream.readBufferLength : 0)
  }

  /** Whether an incomplete frame has taken longer than its bytes excuse, or the first one does not begin. */
  isOverdue(nowMs: number, messageTimeoutMs: number, slowBytesPerS: number): boolean {
    if (this.#decoder.bufferedBytes === 0 && !this.#silent) this.#frameSinceMs = undefined
    else this.#frameSinceMs ??= nowMs
    if (this.#frameSinceMs === undefined || this.#holds > 0) return false
    return nowMs - this.#frameSinceMs > messageTimeoutMs + (1000 * this.#decoder.bufferedBytes) / slowBytesPerS
  }

  /** Resets the stream. */
  reset(error: Error): void {
    if (this.#ended) return
    this.#finish(error)
    this.#stream.abort(error)
  }

  readonly #onMessage = (event: { data: Uint8Array | (Iterable<Uint8Array> & { byteLength: number }) }): void => {
    this.#silent = false
    const bytes = event.data.byteLength
    if (!this.#ended) {
      this.#decoder.push(event.data)
      this.#takeFrames()
    }
    // After the messages in them: what turned out to be mere talk is discounted before it is counted.
    this.#ports.onBytes(bytes)
  }

  #takeFrames(): void {
    if (this.#holds > 0) return
    try {
      for (const frame of this.#decoder.frames()) {
        this.#frameSinceMs = undefined
        const taken = this.#ports.onFrame(frame)
        if (this.#ended) return
        if (taken !== undefined) {
          this.#hold(taken)
          return
        }
      }
    } catch (error) {
      this.reset(asError(error))
    }
  }

  #hold(taken: Promise<void>): void {
    this.#holds += 1
    if (this.#stream.readStatus === 'readable') this.#stream.pause()
    const release = (error?: unknown): void => {
      this.#holds -= 1
      if (this.#ended) return
      if (error !== undefined) {
        this.reset(asError(error))
        return
      }
      this.#takeFrames()
      if (this.#holds > 0 || this.#ended || this.#stream.readStatus !== 'paused') return
      try {
        this.#stream.resume()
      } catch (failure) {
        // The transport went between the pause and now; what was buffered has been handed out.
        this.#finish(failure instanceof Error ? failure : undefined)
      }
    }
    taken.then(() => release(), release)
  }

  /** A reset ends it at once; after an orderly end what is buffered is still read, until `end`. */
  readonly #onClose = (event: { error?: Error | undefined }): void => {
    if (event.error !== undefined || this.#stream.readableEnded) this.#finish(event.error)
  }

  readonly #onEnd = (): void => {
    // The remote writes no more: our own end is closed too, so that the stream goes.
    this.#stream.close().catch(() => undefined)
    this.#finish()
  }

  #finish(error?: Error): void {
    if (this.#ended) return
    this.#ended = true
    this.#stream.removeEventListener('close', this.#onClose)
    this.#stream.removeEventListener('end', this.#onEnd)
    this.#stream.removeEventListener('message', this.#onMessage)
    this.#ports.onEnd(error)
  }
}
