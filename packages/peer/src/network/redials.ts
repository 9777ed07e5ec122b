import { type PeerKey, peerKey } from '@shardswap/interface'
import type { Logger, PeerId } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Host } from './host.ts'

export interface RedialLimits {
  readonly redialTriesMax: number
  readonly redialDelayMs: number
}

interface Redial {
  readonly id: PeerId
  readonly addr: Multiaddr | undefined
  tries: number
  /** Waits for the next try; undefined while one is under way and once the peer is back. */
  timer: NodeJS.Timeout | undefined
}

/** Peers at a time; above it the oldest is given up. */
const redialedPeersMax = 64
const redialDelayMaxMs = 60_000
/** A connection that lasted so long earns its peer all the tries again. */
const redialForgetMs = 60_000

/**
 * Dials peers whose connections we closed as dead, or the network cut while wants stood there, as long as somebody wants
 * something: at once, then after `redialDelayMs`, doubling up to a minute,
 * `redialTriesMax` times. A peer that comes back and is lost again goes on where
 * it stood, so that one which answers dials alone is not dialled for ever.
 */
export class Redials {
  readonly #libp2p: Host
  readonly #limits: RedialLimits
  readonly #log: Logger
  readonly #isWanting: () => boolean
  readonly #ending = new AbortController()
  readonly #redials = new Map<PeerKey, Redial>()

  constructor(libp2p: Host, limits: RedialLimits, log: Logger, isWanting: () => boolean) {
    this.#libp2p = libp2p
    this.#limits = limits
    this.#log = log
    this.#isWanting = isWanting
  }

  /** Peers that are dialled again, or that came back a short while ago. */
  get size(): number {
    return this.#redials.size
  }

  /** A peer was lost that may be had again; `addr` is where it was reached, if it was we who dialled. */
  lost(id: PeerId, addr: Multiaddr | undefined): void {
    if (this.#ending.signal.aborted) return
    const key = peerKey(id)
    const before = this.#redials.get(key)
    clearTimeout(before?.timer)
    this.#redials.delete(key)
    const redial: Redial = { id, addr: addr ?? before?.addr, tries: before?.tries ?? 0, timer: undefined }
    this.#redials.set(key, redial)
    this.#schedule(key, redial)
    if (this.#redials.size <= redialedPeersMax) return
    const [oldest] = this.#redials.keys()
    if (oldest !== undefined) this.#forget(oldest)
  }

  /** A peer is connected, whoever dialled. */
  found(key: PeerKey): void {
    const redial = this.#redials.get(key)
    if (redial === undefined) return
    clearTimeout(redial.timer)
    redial.timer = setTimeout(() => this.#forget(key), redialForgetMs)
    redial.timer.unref()
  }

  stop(): void {
    this.#ending.abort()
    for (const key of this.#redials.keys()) this.#forget(key)
  }

  #forget(key: PeerKey): void {
    clearTimeout(this.#redials.get(key)?.timer)
    this.#redials.delete(key)
  }

  #schedule(key: PeerKey, redial: Redial): void {
    if (redial.tries >= this.#limits.redialTriesMax) {
      this.#log('peer %p was dialled again %d times in vain', redial.id, redial.tries)
      this.#forget(key)
      return
    }
    const delayMs = redial.tries === 0 ? 0 : Math.min(this.#limits.redialDelayMs * 2 ** (redial.tries - 1), redialDelayMaxMs)
    redial.tries += 1
    redial.timer = setTimeout(() => void this.#dial(key, redial), delayMs)
  }

  /** Never rejects. */
  async #dial(key: PeerKey, redial: Redial): Promise<void> {
    redial.timer = undefined
    if (!this.#isWanting()) {
      this.#forget(key)
      return
    }
    const signal = this.#ending.signal
    try {
      if (redial.addr !== undefined) await this.#libp2p.peerStore.merge(redial.id, { multiaddrs: [redial.addr] }, { signal })
      await this.#libp2p.dial(redial.id, { signal })
    } catch (error) {
      if (signal.aborted || this.#redials.get(key) !== redial) return
      this.#log('peer %p cannot be had again yet - %e', redial.id, error)
      this.#schedule(key, redial)
    }
  }
}
