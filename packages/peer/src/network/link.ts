import { asError, type BlockKey, type CID } from '@shardswap/interface'
import { type BitswapVersion, encodeMessageLists, type OutgoingMessage, versionOf, type WantlistEntry } from '@shardswap/protocol'
import type { Stream } from '@libp2p/interface'
import type { Standing } from '@shardswap/broker'

export interface LinkPorts {
  /** Opens a stream to the peer on a connection that exists. Rejects where that cannot be. */
  open(signal: AbortSignal): Promise<Stream>
  /** The version that the stream was negotiated for. */
  onVersion(version: BitswapVersion): void
  /** What the peer is to know of our wants. */
  standing(): Standing[]
  /** No stream could be had, again and again, though the connection stands. */
  onUnreachable(error: Error): void
  /** Something was written to the stream that was opened last. */
  onSaid(): void
  nowMs(): number
}

export interface LinkLimits {
  readonly openStreamTimeoutMs: number
  readonly openStreamTriesMax: number
}

/** A stream that lived so long was no failure when it went. */
const healthyAfterMs = 5000
const reopenDelayMs = 100
const priorityMax = 2 ** 31 - 1

/**
 * The way out to one peer: one long-lived stream for wants and answers alike,
 * opened when there is something to say and again when the other side resets it
 * or lets it idle out. Wants are kept as a set of changes, so that a slow reader
 * costs memory for each want once; a new stream begins with the full list.
 */
export class PeerLink {
  readonly #ports: LinkPorts
  readonly #limits: LinkLimits
  readonly #changes = new Map<BlockKey, WantlistEntry>()
  readonly #closing = new AbortController()
  #stream: Stream | undefined
  /** Streams on older connections, until those close. */
  readonly #left = new Set<Stream>()
  #version: BitswapVersion = '1.2.0'
  #opening: Promise<Stream | undefined> | undefined
  #openedAtMs = 0
  #failures = 0
  /** The next wants begin a stream: they are sent as the full list. */
  #first = true
  /** Something of ours may stand at the remote. */
  #told = false
  #nextPriority = priorityMax
  #waiters: (() => void)[] = []
  #reopenTimer: NodeJS.Timeout | undefined

  constructor(ports: LinkPorts, limits: LinkLimits) {
    this.#ports = ports
    this.#limits = limits
  }

  /** Notes a want; `flush` sends it. */
  want(cid: CID, key: BlockKey, wantType: 'block' | 'have'): void {
    this.#changes.set(key, { cid, priority: this.#priority(), cancel: false, wantType, sendDontHave: true })
  }

  /** Notes a cancel; `flush` sends it. */
  cancel(cid: CID, key: BlockKey): void {
    this.#changes.set(key, { cid, priority: 0, cancel: true, wantType: 'block', sendDontHave: false })
  }

  /**
   * Opens the stream before there is anything to say: whoever speaks next is spared the round trip that
   * negotiates it. Where none can be had, that says nothing against the peer yet.
   */
  warm(): void {
    if (this.#stream !== undefined || this.#closing.signal.aborted) return
    // A rejection is impossible: outcomes are values.
    void this.#ready(true)
  }

  /** Sends what was noted, at once if the stream has room, else as soon as it has. */
  flush(): void {
    if (this.#changes.size === 0 || this.#closing.signal.aborted) return
    if (this.#first && !this.#told && this.#ports.standing().length === 0) {
      // Nothing stands there, so there is nothing to cancel.
      this.#changes.clear()
      return
    }
    if (this.#stream === undefined) {
      // A rejection is impossible: outcomes are values.
      void this.#ready()
      return
    }
    if (this.#stream.writableNeedsDrain) return
    this.#sendChanges(this.#stream)
  }

  /**
   * Sends an answer and waits until all of it is with the transport and there is
   * room again. False where it did not get there; the stream is then reset.
   */
  async send(message: OutgoingMessage, signal: AbortSignal): Promise<boolean> {
    const stream = this.#stream ?? (await Promise.race([this.#ready(), aborted(signal)]))
    if (stream === undefined || signal.aborted) return false
    if (!(await this.#room(stream, signal))) return false
    try {
      for (const frame of encodeMessageLists(message, this.#version)) {
        stream.send(frame)
        this.#ports.onSaid()
        if (!(await this.#room(stream, signal))) return false
      }
      return true
    } catch (error) {
      stream.abort(asError(error))
      return false
    }
  }

  /**
   * The peer talks on a newer connection: what we say from now on goes there, the full list
   * first, for nobody knows what the old one still carries. What is being written there is not cut off.
   */
  leave(): void {
    const stream = this.#stream
    if (stream === undefined) return
    this.#left.add(stream)
    this.#stream = undefined
    this.#first = true
    if (this.#changes.size > 0 || this.#ports.standing().length > 0) void this.#ready()
  }

  /** Something came from the peer: whatever became of streams before, it can be reached. */
  heard(): void {
    this.#failures = 0
  }

  /** A connection of the peer's went while another stays: what it had written to it is lost, and only asking again shows what. */
  retell(): void {
    if (this.#stream === undefined || this.#ports.standing().length === 0) return
    this.#first = true
    this.#sendChanges(this.#stream)
  }

  close(): void {
    this.#closing.abort()
    clearTimeout(this.#reopenTimer)
    const stream = this.#stream
    this.#forget()
    stream?.abort(new Error('the peer stops'))
    for (const each of this.#left) each.abort(new Error('the peer stops'))
  }

  #priority(): number {
    const priority = this.#nextPriority
    this.#nextPriority = priority <= 1 ? priorityMax : priority - 1
    return priority
  }

  #sendChanges(stream: Stream): void {
    let message: OutgoingMessage | undefined
    if (this.#first) message = this.#fullList()
    message ??= { entries: [...this.#changes.values()] }
    this.#changes.clear()
    try {
      for (const frame of encodeMessageLists(message, this.#version)) stream.send(frame)
      this.#told = true
      this.#ports.onSaid()
    } catch (error) {
      stream.abort(asError(error))
      this.#onClose(stream)
    }
  }

  /** All that stands, as a `full` message; undefined where that would be empty, for an empty list clears nothing. */
  #fullList(): OutgoingMessage | undefined {
    const standing = this.#ports.standing()
    if (standing.length === 0) return undefined
    this.#first = false
    const entries = standing.map(({ cid, wantType }) => ({ cid, priority: this.#priority(), cancel: false, wantType, sendDontHave: true }))
    return { full: true, entries }
  }

  async #ready(early = false): Promise<Stream | undefined> {
    if (this.#closing.signal.aborted) return undefined
    if (this.#stream !== undefined) return this.#stream
    this.#opening ??= this.#open(early).finally(() => {
      this.#opening = undefined
    })
    return await this.#opening
  }

  async #open(early: boolean): Promise<Stream | undefined> {
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(this.#limits.openStreamTimeoutMs)])
    try {
      const stream = await this.#ports.open(signal)
      if (this.#closing.signal.aborted) {
        stream.abort(new Error('the peer stops'))
        return undefined
      }
      // Its connection may have gone in the meantime: such a stream tells of no close any more.
      if (stream.status !== 'open') throw new Error(`the stream is ${stream.status} already`)
      this.#adopt(stream)
      return stream
    } catch (error) {
      if (!early || this.#changes.size > 0 || this.#ports.standing().length > 0) this.#failed(asError(error))
      return undefined
    }
  }

  #adopt(stream: Stream): void {
    this.#stream = stream
    this.#first = true
    this.#openedAtMs = this.#ports.nowMs()
    this.#version = versionOf(stream.protocol) ?? '1.2.0'
    stream.addEventListener('close', () => this.#onClose(stream), { once: true })
    stream.addEventListener('drain', this.#onDrain)
    this.#ports.onVersion(this.#version)
    if (this.#changes.size > 0 || this.#ports.standing().length > 0) this.#sendChanges(stream)
  }

  readonly #onDrain = (): void => {
    // The stream's own listener, which sends what is buffered, runs in a microtask queued before this one.
    queueMicrotask(() => {
      this.#wake()
      this.flush()
    })
  }

  #onClose(stream: Stream): void {
    stream.removeEventListener('drain', this.#onDrain)
    // Told twice of a stream, the second time changes nothing.
    if (this.#left.delete(stream)) this.#wake()
    if (this.#stream !== stream) return
    this.#forget()
    if (this.#closing.signal.aborted) return
    if (this.#ports.nowMs() - this.#openedAtMs >= healthyAfterMs) this.#failures = 0
    if (this.#ports.standing().length > 0) this.#failed(new Error('the stream was reset'))
  }

  #forget(): void {
    this.#stream = undefined
    this.#first = true
    this.#wake()
  }

  /** Tries again after a while, unless it failed too often: then the peer counts as gone. */
  #failed(error: Error): void {
    if (this.#closing.signal.aborted) return
    this.#failures += 1
    if (this.#failures >= this.#limits.openStreamTriesMax || error.name === 'UnsupportedProtocolError') {
      this.#failures = 0
      this.#changes.clear()
      this.#ports.onUnreachable(error)
      return
    }
    clearTimeout(this.#reopenTimer)
    this.#reopenTimer = setTimeout(
      () => {
        if (this.#ports.standing().length > 0) void this.#ready()
      },
      reopenDelayMs * 2 ** (this.#failures - 1)
    )
  }

  #wake(): void {
    for (const waiter of this.#waiters.splice(0)) waiter()
  }

  /** Whether there is room on the stream, waiting for it. Resets the stream where the signal fires first. */
  async #room(stream: Stream, signal: AbortSignal): Promise<boolean> {
    while (stream.status === 'open' && (stream.writableNeedsDrain || stream.writeBufferLength > 0)) {
      if (signal.aborted) {
        stream.abort(new Error('the peer takes too long to read'))
        return false
      }
      await this.#drained(signal)
    }
    return stream.status === 'open'
  }

  async #drained(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake)
        resolve()
      }
      signal.addEventListener('abort', wake, { once: true })
      this.#waiters.push(wake)
    })
  }
}

/** Resolves to nothing once the signal fires; what it raced against need not wait for it. */
async function aborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
