import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { Peer } from '../../src/index.ts'

/** What waits to be passed on, and when it may go. */
interface Parcel {
  readonly dueMs: number
  readonly bytes: Buffer
}

/** One direction of a relayed connection: what comes from one socket goes to the other, in order, unless it is told otherwise. */
export class Way {
  /** Bytes that came in so far. */
  bytes = 0
  /** What comes in goes nowhere, without a sign to either end. */
  swallows = false
  /** Called before bytes are passed on; what it returns is passed on instead. */
  onBytes: (bytes: Buffer) => Buffer = (bytes) => bytes
  readonly #from: Socket
  readonly #to: Socket
  readonly #delayMs: number
  readonly #parcels: Parcel[] = []
  #held = false
  #timer: NodeJS.Timeout | undefined

  constructor(from: Socket, to: Socket, delayMs: number) {
    this.#from = from
    this.#to = to
    this.#delayMs = delayMs
    from.on('data', (bytes) => this.#take(bytes))
  }

  /** What comes in waits until it is let go. */
  hold(): void {
    this.#held = true
  }

  letGo(): void {
    this.#held = false
    this.#passOn()
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#parcels.length = 0
    this.#from.removeAllListeners('data')
    this.#from.on('data', () => {})
  }

  #take(bytes: Buffer): void {
    this.bytes += bytes.byteLength
    if (this.swallows) return
    this.#parcels.push({ dueMs: performance.now() + this.#delayMs, bytes })
    if (this.#timer === undefined) this.#passOn()
  }

  /** One queue and one timer, so that nothing changes places. */
  #passOn(): void {
    this.#timer = undefined
    while (!this.#held) {
      const parcel = this.#parcels[0]
      if (parcel === undefined) return
      const inMs = parcel.dueMs - performance.now()
      if (inMs > 0) {
        this.#timer = setTimeout(() => this.#passOn(), inMs)
        return
      }
      this.#parcels.shift()
      const bytes = this.onBytes(parcel.bytes)
      if (!this.#to.destroyed) this.#to.write(bytes)
    }
  }
}

/** One connection through the relay. `near` is the end that dialled, `up` leads away from it. */
export class Pair {
  readonly near: Socket
  readonly far: Socket
  readonly up: Way
  readonly down: Way

  constructor(near: Socket, far: Socket, delayMs: number) {
    this.near = near
    this.far = far
    this.up = new Way(near, far, delayMs)
    this.down = new Way(far, near, delayMs)
    for (const socket of [near, far]) socket.setNoDelay(true).on('error', () => {})
  }

  /** Nothing passes any more, in neither direction, and neither end is told. */
  freeze(): void {
    this.up.swallows = true
    this.down.swallows = true
  }

  /** Destroys one end's socket, or both. The end that is left hears nothing of it. */
  cut(which: 'near' | 'far' | 'both'): void {
    this.up.end()
    this.down.end()
    if (which !== 'far') this.near.destroy()
    if (which !== 'near') this.far.destroy()
  }
}

/** Stands before a peer and passes on what comes, late where told so; its connections can be frozen and cut. */
export class Relay {
  readonly pairs: Pair[] = []
  readonly address: string
  /** Called with each connection, before anything passes. */
  onPair: (pair: Pair) => void = () => {}
  readonly #server: Server

  private constructor(server: Server, address: string) {
    this.#server = server
    this.address = address
  }

  /** `delayMs` is for each way. */
  static async before(peer: Peer, delayMs = 0): Promise<Relay> {
    const target = peer.addresses()[0] ?? ''
    const port = Number(/\/tcp\/(\d+)/.exec(target)?.[1])
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const relay = new Relay(server, target.replace(`/tcp/${port}`, `/tcp/${(server.address() as AddressInfo).port}`))
    server.on('connection', (near) => {
      const pair = new Pair(near, connect(port, '127.0.0.1'), delayMs)
      relay.pairs.push(pair)
      relay.onPair(pair)
      near.on('end', () => pair.far.end())
      pair.far.on('end', () => near.end())
    })
    return relay
  }

  /** The connection that was made last. */
  get last(): Pair {
    const pair = this.pairs.at(-1)
    if (pair === undefined) throw new Error('nobody came through the relay yet')
    return pair
  }

  stop(): void {
    for (const pair of this.pairs) pair.cut('both')
    this.#server.close()
  }
}
