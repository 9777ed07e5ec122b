import type { Connection } from '@libp2p/interface'
import { protocolIds } from '@shardswap/protocol'

export interface HealthLimits {
  /** How long a connection may answer nothing to what was said on it before it is tried. */
  readonly silentMs: number
  readonly openStreamTimeoutMs: number
  readonly openStreamTriesMax: number
  readonly inboundStreamsMax: number
}

export interface HealthPorts {
  nowMs(): number
  /** Streams did not open within their time, again and again: the connection is of no use. */
  onDead(connection: Connection): void
}

interface Health {
  /** When something was said on it to which nothing has come back yet. */
  saidAtMs: number | undefined
  /** When bytes last came, or a stream was opened to us. */
  heardAtMs: number
  /** Tries to open a stream that ran out of time, in a row. */
  failures: number
  isTried: boolean
}

/**
 * Tells connections that are dead from those that are quiet. A link that loses
 * everything in one direction stays open for hours: TCP waits, pings are not
 * counted. So a connection on which we spoke and heard nothing for `silentMs` is
 * tried by opening a stream: its negotiation needs the other side, and only the
 * other side. One that fails so `openStreamTriesMax` times in a row is dead.
 */
export class ConnectionHealth {
  readonly #limits: HealthLimits
  readonly #ports: HealthPorts
  readonly #ending = new AbortController()
  readonly #known = new WeakMap<Connection, Health>()

  constructor(limits: HealthLimits, ports: HealthPorts) {
    this.#limits = limits
    this.#ports = ports
  }

  /** Something that calls for an answer is on its way. */
  said(connection: Connection): void {
    this.#of(connection).saidAtMs ??= this.#ports.nowMs()
  }

  /** Something came: it works both ways, as far as anybody can tell. */
  heard(connection: Connection): void {
    const health = this.#of(connection)
    health.saidAtMs = undefined
    health.heardAtMs = this.#ports.nowMs()
    health.failures = 0
  }

  /** A stream could not be opened on it within its time. */
  timedOut(connection: Connection): void {
    const health = this.#of(connection)
    health.failures += 1
    if (health.failures >= this.#limits.openStreamTriesMax) this.#ports.onDead(connection)
  }

  /** Those to be used first come first: without failures, then heard of last. */
  sort(connections: readonly Connection[]): Connection[] {
    const rank = (a: Connection, b: Connection): number => {
      const [one, other] = [this.#of(a), this.#of(b)]
      return one.failures - other.failures || other.heardAtMs - one.heardAtMs
    }
    return connections.length < 2 ? [...connections] : [...connections].sort(rank)
  }

  /** Tries the connections that have been silent for too long. To be called now and then. */
  sweep(connections: readonly Connection[]): void {
    const nowMs = this.#ports.nowMs()
    for (const connection of connections) {
      const health = this.#known.get(connection)
      if (health?.saidAtMs === undefined || health.isTried || connection.status !== 'open') continue
      if (nowMs - health.saidAtMs >= this.#limits.silentMs) void this.#try(connection, health)
    }
  }

  stop(): void {
    this.#ending.abort()
  }

  #of(connection: Connection): Health {
    let health = this.#known.get(connection)
    if (health === undefined) {
      health = { saidAtMs: undefined, heardAtMs: 0, failures: 0, isTried: false }
      this.#known.set(connection, health)
    }
    return health
  }

  /** Never rejects. */
  async #try(connection: Connection, health: Health): Promise<void> {
    health.isTried = true
    const inTime = AbortSignal.timeout(this.#limits.openStreamTimeoutMs)
    const signal = AbortSignal.any([this.#ending.signal, inTime])
    try {
      const stream = await connection.newStream([...protocolIds], { signal, maxOutboundStreams: this.#limits.inboundStreamsMax })
      this.heard(connection)
      stream.abort(new Error('it was opened to see whether it can be'))
    } catch {
      // A refusal is an answer too; only silence counts.
      if (!inTime.aborted) this.heard(connection)
      else if (connection.status === 'open') this.timedOut(connection)
    } finally {
      health.isTried = false
    }
  }
}
