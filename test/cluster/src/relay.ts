/**
 * A relay of TCP connections that delays, limits, stalls, swallows and cuts what passes.
 * Peers that shall meet through it must announce no address: by identify they would learn the direct one
 * and dial past it. So check `stats`: the bytes that passed are at least the content's.
 */
import { createServer, type AddressInfo, type Server, type Socket, connect } from 'node:net'
import { once } from 'node:events'
import type { Random } from '@shardswap/interface'
import { Flow, type FlowRules, type Passed } from './flow.ts'
import { Lane, Line, openShape, type Shape } from './lane.ts'

/** A way through a link: from who dialled to the target, or back. */
export type Direction = 'toTarget' | 'fromTarget'

const directions: readonly Direction[] = ['toTarget', 'fromTarget']

export interface LinkInit {
  /** Where connections are passed on to: `/ip4/127.0.0.1/tcp/PORT`, with anything behind it. */
  readonly target: string
  readonly toTarget?: Partial<Shape>
  readonly fromTarget?: Partial<Shape>
  /** Names of lines, made by `share`, that this link shares with others in a direction: an uplink. */
  readonly shared?: { readonly [D in Direction]?: string }
}

export interface OpenLink {
  /** The link's name in the other calls. */
  readonly id: number
  /** The target's address with the relay's port in it: what to dial. */
  readonly address: string
}

/** What has passed a link so far. */
export interface LinkStats {
  /** Connections accepted in all. */
  readonly connections: number
  /** Connections that are open now. */
  readonly open: number
  /** Connections turned away while it was cut. */
  readonly refused: number
  readonly toTarget: Passed
  readonly fromTarget: Passed
}

/** What a relay does, in this process or another. Errors: those of the system where a port cannot be had; RangeError for a link or a line that is not there. */
export interface RelayApi {
  /** A line of this rate in bytes a second, for several links to share. Again: another rate. */
  share(name: string, bytesPerS: number): Promise<void>
  /** Listens for who wants to reach a target. */
  open(init: LinkInit): Promise<OpenLink>
  /** Another shape, for what is read from now on. */
  reshape(id: number, shapes: Pick<LinkInit, Direction>): Promise<void>
  /** Stops forwarding, or goes on. While stalled it reads until it holds what it may. */
  stall(id: number, stalled: boolean, direction?: Direction): Promise<void>
  /** Reads and forgets, or goes on forwarding: what was swallowed is missing in the stream. */
  swallow(id: number, swallowing: boolean, direction?: Direction): Promise<void>
  /** Resets all connections of the link and turns new ones away until `mend`. */
  cut(id: number): Promise<void>
  mend(id: number): Promise<void>
  stats(id: number): Promise<LinkStats>
  /** Seconds of processor time that the process of the relay has used. */
  cpuSeconds(): Promise<number>
}

/** A target's host, port, and what stands behind them. */
function parseTarget(target: string): { host: string; port: number; rest: string } {
  const match = /^\/ip4\/([\d.]+)\/tcp\/(\d+)(\/.*)?$/.exec(target)
  if (match === null) throw new RangeError(`no TCP address over IPv4: ${target}`)
  return { host: match[1] ?? '', port: Number(match[2]), rest: match[3] ?? '' }
}

function shapeOf(base: Shape, change: Partial<Shape> = {}): Shape {
  const shape = { ...base, ...change }
  const valid = shape.delayMs >= 0 && shape.jitterMs >= 0 && shape.bytesPerS > 0 && shape.heldBytesMax > 0
  if (!valid) throw new RangeError(`no shape of a link: ${JSON.stringify(shape)}`)
  return shape
}

/** A direction of a link. */
interface Way extends FlowRules {
  shape: Shape
  readonly shared: Line | undefined
  stalled: boolean
}

function wayOf(shape: Shape, shared: Line | undefined): Way {
  return { shape, shared, stalled: false, swallowing: false, passed: { inBytes: 0, outBytes: 0, swallowedBytes: 0, lostBytes: 0 } }
}

interface Connection {
  readonly sockets: readonly Socket[]
  readonly flows: Readonly<Record<Direction, Flow>>
}

interface Link {
  readonly target: { readonly host: string; readonly port: number }
  readonly ways: Readonly<Record<Direction, Way>>
  readonly server: Server
  readonly connections: Set<Connection>
  accepted: number
  refused: number
  cut: boolean
}

export interface RelayInit {
  /** Draws the jitter. */
  readonly random?: Random
}

/** A relay in this process; all its links share one timer, which wakes at most once a millisecond. */
export class Relay implements RelayApi {
  readonly #random: Random
  readonly #links = new Map<number, Link>()
  readonly #lines = new Map<string, Line>()
  readonly #waiting = new Set<Flow>()
  #timer: NodeJS.Timeout | undefined
  #timerMs = Number.POSITIVE_INFINITY
  #nextId = 1

  constructor(init: RelayInit = {}) {
    this.#random = init.random ?? { next: Math.random }
  }

  async share(name: string, bytesPerS: number): Promise<void> {
    if (!(bytesPerS > 0)) throw new RangeError(`no rate: ${bytesPerS}`)
    const line = this.#lines.get(name)
    if (line === undefined) this.#lines.set(name, new Line(bytesPerS))
    else line.setRate(bytesPerS)
  }

  #line(name: string | undefined): Line | undefined {
    if (name === undefined) return undefined
    const line = this.#lines.get(name)
    if (line === undefined) throw new RangeError(`no shared line ${name}`)
    return line
  }

  async open(init: LinkInit): Promise<OpenLink> {
    const { host, port, rest } = parseTarget(init.target)
    const wayIn = (direction: Direction): Way => wayOf(shapeOf(openShape, init[direction]), this.#line(init.shared?.[direction]))
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(link, socket))
    const link: Link = {
      target: { host, port },
      ways: { toTarget: wayIn('toTarget'), fromTarget: wayIn('fromTarget') },
      server,
      connections: new Set(),
      accepted: 0,
      refused: 0,
      cut: false
    }
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const id = this.#nextId++
    this.#links.set(id, link)
    return { id, address: `/ip4/127.0.0.1/tcp/${(server.address() as AddressInfo).port}${rest}` }
  }

  #accept(link: Link, dialler: Socket): void {
    if (link.cut) {
      link.refused += 1
      dialler.on('error', () => undefined)
      dialler.resetAndDestroy()
      return
    }
    link.accepted += 1
    const target = connect({ ...link.target, allowHalfOpen: true, noDelay: true })
    const sockets = [dialler, target]
    const flow = (source: Socket, sink: Socket, way: Way): Flow => {
      const lane = new Lane(way.shape, way.shared)
      lane.stall(way.stalled)
      return new Flow({
        source,
        sink,
        lane,
        rules: way,
        nowMs,
        random: () => this.#random.next(),
        onWait: (waiting) => this.#wait(waiting)
      })
    }
    const { toTarget, fromTarget } = link.ways
    const connection: Connection = {
      sockets,
      flows: { toTarget: flow(dialler, target, toTarget), fromTarget: flow(target, dialler, fromTarget) }
    }
    link.connections.add(connection)
    for (const socket of sockets) {
      // What became of it, its close tells.
      socket.on('error', () => undefined)
      socket.on('close', () => {
        if (sockets.every(({ destroyed }) => destroyed)) link.connections.delete(connection)
      })
    }
  }

  #wait(flow: Flow): void {
    this.#waiting.add(flow)
    this.#arm(flow.wakeMs)
  }

  // One timer for all: whatever is due within the same millisecond leaves in one turn.
  #arm(wakeMs: number): void {
    if (wakeMs >= this.#timerMs) return
    clearTimeout(this.#timer)
    this.#timerMs = wakeMs
    this.#timer = setTimeout(() => this.#wake(), Math.max(1, Math.ceil(wakeMs - nowMs())))
  }

  #wake(): void {
    this.#timer = undefined
    // Until all have had their turn nothing is armed: `pump` would do so for each flow.
    this.#timerMs = Number.NEGATIVE_INFINITY
    const now = nowMs()
    let next = Number.POSITIVE_INFINITY
    for (const flow of this.#waiting) {
      if (flow.wakeMs <= now) flow.pump(now)
      if (flow.wakeMs === Number.POSITIVE_INFINITY) this.#waiting.delete(flow)
      else next = Math.min(next, flow.wakeMs)
    }
    this.#timerMs = Number.POSITIVE_INFINITY
    this.#arm(next)
  }

  #link(id: number): Link {
    const link = this.#links.get(id)
    if (link === undefined) throw new RangeError(`no link ${id}`)
    return link
  }

  /** Changes ways of a link and tells the flows of its connections. */
  #change(
    id: number,
    which: readonly Direction[],
    onWay: (way: Way, direction: Direction) => void,
    onLane?: (lane: Lane, way: Way) => void
  ): void {
    const { ways, connections } = this.#link(id)
    for (const direction of which) {
      const way = ways[direction]
      onWay(way, direction)
      for (const { flows } of connections) {
        onLane?.(flows[direction].lane, way)
        flows[direction].pump(nowMs())
      }
    }
  }

  async reshape(id: number, shapes: Pick<LinkInit, Direction>): Promise<void> {
    const change = (way: Way, direction: Direction): void => {
      way.shape = shapeOf(way.shape, shapes[direction])
    }
    this.#change(id, directions, change, (lane, way) => lane.reshape(way.shape))
  }

  async stall(id: number, stalled: boolean, direction?: Direction): Promise<void> {
    const change = (way: Way): void => {
      way.stalled = stalled
    }
    this.#change(id, direction === undefined ? directions : [direction], change, (lane) => lane.stall(stalled))
  }

  async swallow(id: number, swallowing: boolean, direction?: Direction): Promise<void> {
    this.#change(id, direction === undefined ? directions : [direction], (way) => {
      way.swallowing = swallowing
    })
  }

  async cut(id: number): Promise<void> {
    const link = this.#link(id)
    link.cut = true
    reset(link)
  }

  async mend(id: number): Promise<void> {
    this.#link(id).cut = false
  }

  async stats(id: number): Promise<LinkStats> {
    const { accepted, refused, connections, ways } = this.#link(id)
    const { toTarget, fromTarget } = ways
    return {
      connections: accepted,
      open: connections.size,
      refused,
      toTarget: { ...toTarget.passed },
      fromTarget: { ...fromTarget.passed }
    }
  }

  async cpuSeconds(): Promise<number> {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }

  /** Ends all connections and listens no more. */
  async stop(): Promise<void> {
    const links = [...this.#links.values()]
    this.#links.clear()
    await Promise.all(
      links.map(async (link) => {
        reset(link)
        link.server.close()
        await once(link.server, 'close')
      })
    )
    this.#waiting.clear()
    clearTimeout(this.#timer)
  }
}

function nowMs(): number {
  return performance.now()
}

function reset(link: Link): void {
  for (const { flows, sockets } of link.connections) {
    for (const direction of directions) flows[direction].clear()
    for (const socket of sockets) socket.resetAndDestroy()
  }
  link.connections.clear()
}
