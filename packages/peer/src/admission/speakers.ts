import { type PeerKey, peerKey } from '@shardswap/interface'
import type { Connection, IdentifyResult, Logger, PeerId, PeerUpdate } from '@libp2p/interface'
import type { Host } from '../network/host.ts'

export interface SpeakersPorts {
  readonly libp2p: Host
  readonly protocol: string
  readonly log: Logger
  /** With each new connection. */
  onMet(peer: PeerKey): void
  onParted(peer: PeerKey): void
}

/** The peers that are connected and speak a protocol, as identify tells, or as they show by speaking it. */
export class Speakers {
  readonly #ports: SpeakersPorts
  readonly #peers = new Map<PeerKey, PeerId>()
  /** Connections on which somebody was met. */
  readonly #met = new WeakSet<Connection>()
  #isStarted = false

  constructor(ports: SpeakersPorts) {
    this.#ports = ports
  }

  async start(): Promise<void> {
    const { libp2p } = this.#ports
    this.#isStarted = true
    libp2p.addEventListener('peer:identify', this.#onIdentify)
    libp2p.addEventListener('peer:update', this.#onUpdate)
    libp2p.addEventListener('peer:disconnect', this.#onDisconnect)
    for (const peer of libp2p.getPeers()) await this.#meetAgain(peer)
  }

  stop(): void {
    const { libp2p } = this.#ports
    this.#isStarted = false
    libp2p.removeEventListener('peer:identify', this.#onIdentify)
    libp2p.removeEventListener('peer:update', this.#onUpdate)
    libp2p.removeEventListener('peer:disconnect', this.#onDisconnect)
    for (const peer of Array.from(this.#peers.keys())) this.#part(peer)
  }

  get size(): number {
    return this.#peers.size
  }

  has(peer: PeerKey): boolean {
    return this.#peers.has(peer)
  }

  keys(): PeerKey[] {
    return [...this.#peers.keys()]
  }

  /** An open connection with a peer that may carry our streams. */
  connectionTo(peer: PeerKey): Connection | undefined {
    const id = this.#peers.get(peer)
    return id === undefined ? undefined : this.#ports.libp2p.getConnections(id).find(isUsable)
  }

  /** A peer speaks the protocol: it has opened a stream of it, or says so. */
  meet(id: PeerId): void {
    const peer = peerKey(id)
    const connections = this.#ports.libp2p.getConnections(id).filter(isUsable)
    // A new connection of one that is known: the old one may be dead, and it another process that knows nothing of us.
    if (!this.#isStarted || connections.every((connection) => this.#met.has(connection))) return
    for (const connection of connections) this.#met.add(connection)
    this.#peers.set(peer, id)
    this.#ports.onMet(peer)
  }

  readonly #onIdentify = ({ detail }: CustomEvent<IdentifyResult>): void => {
    if (detail.protocols.includes(this.#ports.protocol)) this.meet(detail.peerId)
  }

  readonly #onUpdate = ({ detail }: CustomEvent<PeerUpdate>): void => {
    if (detail.peer.protocols.includes(this.#ports.protocol)) this.meet(detail.peer.id)
  }

  readonly #onDisconnect = ({ detail }: CustomEvent<PeerId>): void => this.#part(peerKey(detail))

  #part(peer: PeerKey): void {
    if (this.#peers.delete(peer)) this.#ports.onParted(peer)
  }

  async #meetAgain(id: PeerId): Promise<void> {
    try {
      const { protocols } = await this.#ports.libp2p.peerStore.get(id)
      if (protocols.includes(this.#ports.protocol)) this.meet(id)
    } catch (error) {
      // Not identified yet: `peer:identify` will tell.
      this.#ports.log.trace('no record of %p yet - %e', id, error)
    }
  }
}

function isUsable({ status, limits }: Connection): boolean {
  return status === 'open' && limits === undefined
}
