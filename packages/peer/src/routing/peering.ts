/** Peers to stay connected to. */
import { type PeerKey, peerKey } from '@shardswap/interface'
import type { Logger, PeerId } from '@libp2p/interface'
import type { Host } from '../network/host.ts'
import type { NamedPeer } from './addresses.ts'
import { peeringDelayMaxMs, peeringDelayMs, routingDialTimeoutMs } from './limits.ts'

/** Above that of any other peer, so that its connection is the last to be closed where there are too many. */
const tagValue = 100

/**
 * How long to wait before a peer is dialled again that was dialled `tries` times in
 * vain; `random` from 0 to 1 spreads by a tenth, so that many do not dial as one.
 */
export function peeringWaitMs(tries: number, random: number): number {
  return Math.min(peeringDelayMs * 1.5 ** tries, peeringDelayMaxMs) * (0.95 + random / 10)
}

interface Kept extends NamedPeer {
  tries: number
  timer: NodeJS.Timeout | undefined
}

/** Dials each at once, and again after its connection ended or could not be had, for as long as it runs. */
export class Peering {
  readonly #host: Host
  readonly #log: Logger
  readonly #waitMs: typeof peeringWaitMs
  readonly #peers: ReadonlyMap<PeerKey, Kept>
  readonly #ending = new AbortController()

  constructor(host: Host, peers: readonly NamedPeer[], log: Logger, waitMs = peeringWaitMs) {
    this.#host = host
    this.#log = log
    this.#waitMs = waitMs
    const others = peers.filter(({ id }) => !id.equals(host.peerId))
    this.#peers = new Map(others.map((peer) => [peerKey(peer.id), { ...peer, tries: 0, timer: undefined }]))
  }

  get peers(): number {
    return this.#peers.size
  }

  get connected(): number {
    return [...this.#peers.values()].filter(({ id }) => this.#host.getConnections(id).length > 0).length
  }

  start(): void {
    if (this.#peers.size === 0) return
    this.#host.addEventListener('peer:connect', this.#onConnect)
    this.#host.addEventListener('peer:disconnect', this.#onDisconnect)
    for (const peer of this.#peers.values()) void this.#dial(peer)
  }

  stop(): void {
    this.#ending.abort()
    this.#host.removeEventListener('peer:connect', this.#onConnect)
    this.#host.removeEventListener('peer:disconnect', this.#onDisconnect)
    for (const peer of this.#peers.values()) clearTimeout(peer.timer)
  }

  readonly #onConnect = (event: CustomEvent<PeerId>): void => {
    const peer = this.#peers.get(peerKey(event.detail))
    if (peer === undefined) return
    clearTimeout(peer.timer)
    peer.timer = undefined
    peer.tries = 0
  }

  readonly #onDisconnect = (event: CustomEvent<PeerId>): void => {
    const peer = this.#peers.get(peerKey(event.detail))
    if (peer !== undefined) this.#wait(peer)
  }

  #wait(peer: Kept): void {
    if (this.#ending.signal.aborted) return
    clearTimeout(peer.timer)
    const waitMs = this.#waitMs(peer.tries, Math.random())
    peer.tries += 1
    peer.timer = setTimeout(() => void this.#dial(peer), waitMs)
  }

  /** Never rejects. */
  async #dial(peer: Kept): Promise<void> {
    const { id, addrs } = peer
    if (this.#host.getConnections(id).length > 0) return
    try {
      await this.#host.peerStore.merge(id, { tags: { 'shardswap-peering': { value: tagValue } } })
      const signal = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(routingDialTimeoutMs)])
      await this.#host.dial([...addrs], { signal })
    } catch (error) {
      if (this.#ending.signal.aborted) return
      this.#log('peer %p, to stay connected to, cannot be reached - %e', id, error)
      this.#wait(peer)
    }
  }
}
