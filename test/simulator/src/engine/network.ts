import type { Random } from '@shardswap/interface'
import type { VirtualClock } from './clock.ts'
import { type Distribution, sample } from './random.ts'
import { type Trace, traceKinds } from './trace.ts'

/** One direction between two nodes. */
export interface LinkQuality {
  /** One way, drawn once for this direction. */
  readonly delayMs: number
  /** Drawn for each message and added; order on the link is kept all the same. */
  readonly jitterMs?: Distribution | undefined
  /** Infinity where nothing limits it. */
  readonly bytesPerS: number
  /** Bytes that may pass at once after as long a silence: a token bucket's cap. 0 is a wire. */
  readonly burstBytes: number
  /** Share of messages that vanish, from 0 to 1. */
  readonly lossShare: number
}

export interface NetworkOptions<Message> {
  readonly clock: VirtualClock
  readonly trace: Trace
  readonly random: Random
  /** Asked once for each direction, when it is first used. */
  quality(from: number, to: number): LinkQuality
  /** What all links out of a node share; Infinity where nothing limits them. */
  uplinkBytesPerS(node: number): number
  /** Part of a message, or all of it, came; `isLast` where `onMessage` follows at once. */
  readonly onBytes: (to: number, from: number, bytes: number) => void
  readonly onMessage: (to: number, from: number, message: Message, bytes: number) => void
}

/** Long messages arrive in parts of what a link carries in so many milliseconds, within these bounds: a receiver sees even a slow one come. */
const segmentMs = 25
const segmentMinBytes = 4 * 1024
const segmentMaxBytes = 64 * 1024
/** What a sender may have under way before it counts as waiting: a socket's buffer. */
const sendBufferBytes = 256 * 1024

interface Flight<Message> {
  readonly message: Message
  readonly bytes: number
  /** Bytes that have not left yet. */
  leftBytes: number
  readonly isLost: boolean
  readonly jitterMs: number
  written: ((ok: boolean) => void) | undefined
}

class Link<Message> {
  readonly from: number
  readonly to: number
  readonly quality: LinkQuality
  /** The wire is taken until then; in the past, the allowance of a bucket. */
  busyUntilMs: number
  lastArrivalMs = 0
  /** Messages that have not left yet, in order; only where the uplink is shared. */
  waiting: Flight<Message>[] = []
  waitingBytes = 0
  /** Goes up when the connection goes: what is under way belongs to the past then. */
  epoch = 0
  /** Of messages handed over and not told about yet. */
  readonly unwritten = new Set<Flight<Message>>()

  constructor(from: number, to: number, quality: LinkQuality, nowMs: number) {
    this.from = from
    this.to = to
    this.quality = quality
    this.busyUntilMs = nowMs
  }

  /** When the last of so many bytes that are ready at `readyMs` has left. */
  pass(bytes: number, readyMs: number): number {
    const { bytesPerS, burstBytes } = this.quality
    if (bytesPerS === Infinity) return readyMs
    const earliestMs = readyMs - (burstBytes / bytesPerS) * 1000
    this.busyUntilMs = Math.max(this.busyUntilMs, earliestMs) + (bytes / bytesPerS) * 1000
    return Math.max(readyMs, this.busyUntilMs)
  }
}

interface Uplink<Message> {
  readonly bytesPerS: number
  freeAtMs: number
  /** Links with something to send, in turn. */
  readonly ring: Set<Link<Message>>
  isPumpPlanned: boolean
}

/**
 * Carries messages between numbered nodes. A message leaves through its node's
 * uplink (shared in turns of a segment), passes its link's rate, and arrives
 * after the link's delay, long ones part by part. Messages of one link keep their
 * order. State exists only for directions that were used.
 */
export class VirtualNetwork<Message> {
  readonly #options: NetworkOptions<Message>
  readonly #links = new Map<number, Map<number, Link<Message>>>()
  readonly #uplinks = new Map<number, Uplink<Message>>()
  readonly #cut = new Set<string>()
  #messagesLost = 0

  constructor(options: NetworkOptions<Message>) {
    this.#options = options
  }

  get messagesLost(): number {
    return this.#messagesLost
  }

  quality(from: number, to: number): LinkQuality {
    return this.#link(from, to).quality
  }

  /**
   * Sends a message of so many bytes. `written` is told once no more than
   * `sendBufferBytes` of the link's messages are left to send (true), or that the
   * connection went first (false); never before `send` returns.
   */
  send(from: number, to: number, message: Message, bytes: number, written?: (ok: boolean) => void): void {
    const { clock, trace, random } = this.#options
    const link = this.#link(from, to)
    const { lossShare, jitterMs } = link.quality
    const isLost = (lossShare > 0 && random.next() < lossShare) || this.#cut.has(pairOf(from, to))
    const flight: Flight<Message> = {
      message,
      bytes,
      leftBytes: bytes,
      isLost,
      jitterMs: jitterMs === undefined ? 0 : sample(jitterMs, random),
      written
    }
    if (isLost) this.#messagesLost += 1
    trace.add(isLost ? traceKinds.lost : traceKinds.send, clock.nowMs(), from, to, bytes, 0)
    if (written !== undefined) link.unwritten.add(flight)
    const uplink = this.#uplink(from)
    if (uplink === undefined) {
      this.#transmit(link, flight)
      return
    }
    link.waiting.push(flight)
    link.waitingBytes += bytes
    uplink.ring.add(link)
    this.#pump(uplink)
  }

  /** The connection between two nodes goes: whatever is under way either way is lost. */
  drop(one: number, other: number): void {
    for (const link of [this.#links.get(one)?.get(other), this.#links.get(other)?.get(one)]) {
      if (link === undefined) continue
      link.epoch += 1
      link.busyUntilMs = Math.min(link.busyUntilMs, this.#options.clock.nowMs())
      link.lastArrivalMs = 0
      link.waiting = []
      link.waitingBytes = 0
      this.#uplinks.get(link.from)?.ring.delete(link)
      for (const flight of link.unwritten) this.#tellWritten(link, flight, false, this.#options.clock.nowMs())
    }
  }

  /** Whatever is sent between two nodes from now on vanishes, though their connection stands; or no longer does. */
  setCut(one: number, other: number, isCut: boolean): void {
    for (const pair of [pairOf(one, other), pairOf(other, one)]) {
      if (isCut) this.#cut.add(pair)
      else this.#cut.delete(pair)
    }
  }

  #link(from: number, to: number): Link<Message> {
    let links = this.#links.get(from)
    if (links === undefined) {
      links = new Map()
      this.#links.set(from, links)
    }
    let link = links.get(to)
    if (link === undefined) {
      link = new Link(from, to, this.#options.quality(from, to), this.#options.clock.nowMs())
      links.set(to, link)
    }
    return link
  }

  #uplink(node: number): Uplink<Message> | undefined {
    const known = this.#uplinks.get(node)
    if (known !== undefined) return known
    const bytesPerS = this.#options.uplinkBytesPerS(node)
    if (bytesPerS === Infinity) return undefined
    const uplink: Uplink<Message> = { bytesPerS, freeAtMs: 0, ring: new Set(), isPumpPlanned: false }
    this.#uplinks.set(node, uplink)
    return uplink
  }

  /** Sends a whole message over a link whose uplink is not limited. */
  #transmit(link: Link<Message>, flight: Flight<Message>): void {
    const nowMs = this.#options.clock.nowMs()
    const { bytesPerS } = link.quality
    if (bytesPerS === Infinity) {
      this.#arriveAt(link, flight, flight.bytes, nowMs, true)
      this.#tellWritten(link, flight, true, nowMs)
      return
    }
    let departedMs = nowMs
    while (flight.leftBytes > 0) {
      const bytes = Math.min(segmentOf(bytesPerS), flight.leftBytes)
      flight.leftBytes -= bytes
      departedMs = link.pass(bytes, nowMs)
      this.#arriveAt(link, flight, bytes, departedMs, flight.leftBytes === 0)
    }
    this.#tellWritten(link, flight, true, Math.max(nowMs, departedMs - (sendBufferBytes / bytesPerS) * 1000))
  }

  /** Sends the next segment through a shared uplink, if it is free and any link can take one. */
  #pump(uplink: Uplink<Message>): void {
    const { clock } = this.#options
    const nowMs = clock.nowMs()
    if (uplink.isPumpPlanned || uplink.ring.size === 0) return
    let nextMs = Math.max(nowMs, uplink.freeAtMs)
    if (nextMs <= nowMs) {
      nextMs = Infinity
      for (const link of uplink.ring) {
        // A link takes the next segment while its last one leaves, so a slow one is never idle and holds nobody up.
        const readyMs = link.busyUntilMs - (segmentOf(link.quality.bytesPerS) / link.quality.bytesPerS) * 1000
        if (link.quality.bytesPerS !== Infinity && readyMs > nowMs) {
          nextMs = Math.min(nextMs, readyMs)
          continue
        }
        this.#sendSegment(uplink, link)
        nextMs = uplink.freeAtMs
        break
      }
    }
    if (uplink.ring.size === 0) return
    uplink.isPumpPlanned = true
    clock.at(nextMs, () => {
      uplink.isPumpPlanned = false
      this.#pump(uplink)
    })
  }

  #sendSegment(uplink: Uplink<Message>, link: Link<Message>): void {
    const nowMs = this.#options.clock.nowMs()
    const flight = link.waiting[0] as Flight<Message>
    const bytes = Math.min(segmentOf(Math.min(uplink.bytesPerS, link.quality.bytesPerS)), flight.leftBytes)
    flight.leftBytes -= bytes
    link.waitingBytes -= bytes
    uplink.freeAtMs = nowMs + (bytes / uplink.bytesPerS) * 1000
    this.#arriveAt(link, flight, bytes, link.pass(bytes, uplink.freeAtMs), flight.leftBytes === 0)
    if (flight.leftBytes === 0) link.waiting.shift()
    uplink.ring.delete(link)
    if (link.waiting.length > 0) uplink.ring.add(link)
    if (link.waitingBytes > sendBufferBytes) return
    for (const told of link.unwritten) this.#tellWritten(link, told, true, nowMs)
  }

  #tellWritten(link: Link<Message>, flight: Flight<Message>, ok: boolean, atMs: number): void {
    if (flight.written === undefined) return
    const { epoch } = link
    this.#options.clock.at(atMs, () => {
      if (ok && link.epoch !== epoch) return
      const { written } = flight
      flight.written = undefined
      link.unwritten.delete(flight)
      written?.(ok)
    })
  }

  #arriveAt(link: Link<Message>, flight: Flight<Message>, bytes: number, departedMs: number, isLast: boolean): void {
    if (flight.isLost) return
    const { clock, trace, onBytes, onMessage } = this.#options
    const { epoch, from, to } = link
    link.lastArrivalMs = Math.max(link.lastArrivalMs, departedMs + link.quality.delayMs + flight.jitterMs)
    clock.at(link.lastArrivalMs, () => {
      if (link.epoch !== epoch) return
      trace.add(isLast ? traceKinds.message : traceKinds.bytes, clock.nowMs(), from, to, bytes, flight.bytes)
      onBytes(to, from, bytes)
      if (isLast) onMessage(to, from, flight.message, flight.bytes)
    })
  }
}

function segmentOf(bytesPerS: number): number {
  return Math.min(segmentMaxBytes, Math.max(segmentMinBytes, Math.floor((bytesPerS * segmentMs) / 1000)))
}

function pairOf(from: number, to: number): string {
  return `${from}>${to}`
}
