import type { World } from '../policy.ts'
import { Choosing } from './choosing.ts'
import type { Deadlines } from './deadlines.ts'
import type { Peer, Session, Want } from './state.ts'

/** What Bitswap servers keep for one peer: the one limit that foresight does not lift. */
const wantsInFlightMax = 1024

/** So often it looks whether what it was sure of still holds. */
const lookMs = 100
/** A message may be lost all the same. */
const silenceMs = 5000

/** An ask has its time as long as the peer would deliver and is not silent. */
export function foreseen(world: World): Deadlines {
  return {
    forAskMs: () => lookMs,
    extraMs({ peer, want, sentAtMs }, nowMs) {
      const silentMs = nowMs - Math.max(sentAtMs ?? nowMs, peer.timing.lastBytesAtMs)
      return world.delivers(peer.key, want.key) && silentMs < silenceMs ? lookMs : 0
    }
  }
}

/**
 * Knows who would deliver and how soon, and asks the peer from which each block would be here first, behind
 * what it was asked before. It looks for nobody and asks nobody in vain: what no policy can be better than,
 * where links are not shared.
 */
export class Oracle extends Choosing {
  readonly #world: World
  /** When what a peer was asked for will all have come. */
  readonly #busyUntilMs = new Map<Peer, number>()

  constructor(deadlines: Deadlines, world: World) {
    super(deadlines, { wantsInFlightMax })
    this.#world = world
  }

  protected override candidates(want: Want, session: Session): Peer[] {
    return this.connected(session).filter((peer) => this.isFree(want, peer) && this.#world.delivers(peer.key, want.key))
  }

  protected override choose(_want: Want, candidates: readonly Peer[], session: Session, nowMs: number): Peer | undefined {
    let soonest: Peer | undefined
    let soonestMs = Number.POSITIVE_INFINITY
    for (const peer of candidates) {
      const atMs = this.#deliveredAtMs(peer, session, nowMs)
      if (atMs < soonestMs) [soonest, soonestMs] = [peer, atMs]
    }
    return soonest
  }

  protected override chosen(_want: Want, peer: Peer, session: Session, nowMs: number): void {
    // It is in flight already, and nothing else may be: then what was expected of the peer before is over.
    if (peer.inFlight === 1) this.#busyUntilMs.delete(peer)
    this.#busyUntilMs.set(peer, this.#deliveredAtMs(peer, session, nowMs))
  }

  protected override peerLeft(...left: Parameters<Choosing['peerLeft']>): void {
    this.#busyUntilMs.delete(left[0])
    super.peerLeft(...left)
  }

  /** It need not ask: it knows that nobody has the block. */
  protected override askAround(): boolean {
    return false
  }

  #deliveredAtMs(peer: Peer, { averageBytes }: Session, nowMs: number): number {
    const wayMs = this.#world.deliveryMs(peer.key, 0)
    const transferMs = this.#world.deliveryMs(peer.key, averageBytes) - wayMs
    const busyUntilMs = peer.inFlight === 0 ? 0 : (this.#busyUntilMs.get(peer) ?? 0)
    return Math.max(nowMs + wayMs, busyUntilMs) + transferMs
  }
}
