import type { CID } from '@shardswap/interface'
import type { Peer, PeerInit, PeerLimits } from '../../src/index.ts'
import { Cast } from '../wire/cast.ts'
import { Relay } from './relay.ts'

/**
 * Deadlines and pauses that no test outlasts: what arrives was brought by the event under test,
 * not by asking again after a while.
 */
const patient: Partial<PeerLimits> = {
  timeoutStartMs: 600_000,
  timeoutMinMs: 600_000,
  timeoutMaxMs: 600_000,
  askAgainMs: 600_000,
  probeStartMs: 600_000,
  probeMaxMs: 600_000
}

/** Peers, raw peers and relays of one test, stopped together. */
export class Scene extends Cast {
  readonly #relays: Relay[] = []

  async patient(init: PeerInit = {}): Promise<Peer> {
    return await this.ours({ ...init, limits: { ...patient, ...init.limits } })
  }

  async relay(before: Peer, delayMs = 0): Promise<Relay> {
    const relay = await Relay.before(before, delayMs)
    this.#relays.push(relay)
    return relay
  }

  override async stop(): Promise<void> {
    for (const relay of this.#relays.splice(0)) relay.stop()
    await super.stop()
  }
}

/** How many of our wants the peer keeps. */
export function wantsAt(server: Peer, client: Peer): number {
  return server.ledger(client.peerId)?.wants.length ?? 0
}

/** Outcomes as they come, for promises that may end at any time. */
export class Outcome<T> {
  state: 'open' | 'fulfilled' | 'rejected' = 'open'
  value: T | undefined
  error: unknown
  readonly done: Promise<void>

  constructor(promise: Promise<T>) {
    this.done = promise.then(
      (value) => {
        this.state = 'fulfilled'
        this.value = value
      },
      (error: unknown) => {
        this.state = 'rejected'
        this.error = error
      }
    )
  }
}

/** Lets the event loop turn: enough for whatever needs no network, no timer and no disk. */
export async function turns(count = 10): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

export function cidsOf(blocks: readonly { readonly cid: CID }[]): CID[] {
  return blocks.map(({ cid }) => cid)
}
