/** One direction of one connection: a lane between two sockets. */
import type { Socket } from 'node:net'
import type { Lane } from './lane.ts'

/** Bytes that are given to a socket at once. */
const writeBytesMax = 1024 * 1024

/** Bytes that passed one direction of a link, over all its connections so far. */
export interface Passed {
  /** Read from the sender. */
  readonly inBytes: number
  /** Given to the receiver. */
  readonly outBytes: number
  /** Read and swallowed. */
  readonly swallowedBytes: number
  /** Read, and no longer wanted: the receiver had gone, or the link was cut. */
  readonly lostBytes: number
}

type PassedCount = { -readonly [K in keyof Passed]: number }

/** What a direction of a link has for all its connections. */
export interface FlowRules {
  readonly passed: PassedCount
  swallowing: boolean
}

export interface FlowInit {
  readonly source: Socket
  readonly sink: Socket
  readonly lane: Lane
  readonly rules: FlowRules
  nowMs(): number
  random(): number
  /** Told when the flow has something to do later: it wants `pump` to be called at `wakeMs`. */
  onWait(flow: Flow): void
}

/** Reads when the lane lets it, writes what is due, and passes the sender's end on behind its last byte. */
export class Flow {
  readonly #init: FlowInit
  #ended = false
  #broken = false
  #sinkGone = false
  #wakeMs = Number.POSITIVE_INFINITY

  constructor(init: FlowInit) {
    this.#init = init
    const { source, sink } = init
    source.on('data', (bytes: Buffer) => this.#onBytes(bytes))
    source.on('end', () => {
      this.#ended = true
      this.pump(init.nowMs())
    })
    source.on('close', () => {
      this.#broken = true
      this.pump(init.nowMs())
    })
    sink.on('drain', () => this.pump(init.nowMs()))
    sink.on('close', () => {
      this.#sinkGone = true
      this.clear()
      // Nothing holds the source back now: its own end has to be read.
      source.resume()
    })
  }

  get lane(): Lane {
    return this.#init.lane
  }

  /** When there is something to do next that no socket tells of; Infinity: nothing. */
  get wakeMs(): number {
    return this.#wakeMs
  }

  #onBytes(bytes: Buffer): void {
    const { lane, rules } = this.#init
    const { passed } = rules
    passed.inBytes += bytes.byteLength
    if (rules.swallowing) {
      passed.swallowedBytes += bytes.byteLength
    } else if (this.#sinkGone) {
      passed.lostBytes += bytes.byteLength
    } else {
      const now = this.#init.nowMs()
      lane.put(bytes, now, this.#init.random())
      this.pump(now)
    }
  }

  /** Does what is due at `nowMs`. */
  pump(nowMs: number): void {
    const { source, sink, lane } = this.#init
    this.#wakeMs = Number.POSITIVE_INFINITY
    if (this.#sinkGone || sink.destroyed) return
    while (!sink.writableNeedDrain) {
      const parts = lane.take(nowMs, writeBytesMax)
      if (parts.length === 0) break
      this.#write(parts)
    }
    if (lane.empty) this.#passEnd()
    if (lane.mayRead(nowMs, sink.writableLength)) {
      if (source.isPaused()) source.resume()
    } else if (!source.isPaused()) source.pause()
    this.#wakeMs = this.#wakeMsAfter(nowMs)
    if (this.#wakeMs < Number.POSITIVE_INFINITY) this.#init.onWait(this)
  }

  #write(parts: readonly Uint8Array[]): void {
    const { sink, rules } = this.#init
    sink.cork()
    for (const part of parts) {
      sink.write(part)
      rules.passed.outBytes += part.byteLength
    }
    sink.uncork()
  }

  #passEnd(): void {
    const { sink } = this.#init
    if (this.#ended && !sink.writableEnded) sink.end()
    // A socket that was reset is an end of both its directions.
    if (this.#broken && !this.#ended) sink.resetAndDestroy()
    else if (this.#broken) sink.destroySoon()
  }

  #wakeMsAfter(nowMs: number): number {
    const { source, sink, lane } = this.#init
    const dueMs = sink.writableNeedDrain ? Number.POSITIVE_INFINITY : lane.dueMs
    // Where it waits for a receiver and not for a line, what the receiver takes wakes it.
    const readMs = source.isPaused() && lane.readMs > nowMs ? lane.readMs : Number.POSITIVE_INFINITY
    return Math.min(dueMs, readMs)
  }

  /** Forgets what is on its way. */
  clear(): void {
    this.#init.rules.passed.lostBytes += this.#init.lane.clear()
  }
}
