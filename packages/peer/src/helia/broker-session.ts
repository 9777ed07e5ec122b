import { type AbortOptions, type CID, NotFoundError } from '@shardswap/interface'
import { peerIdFromCID } from '@libp2p/peer-id'
import type { Logger } from '@libp2p/interface'
import { isMultiaddr } from '@multiformats/multiaddr'
import type { Session } from '../types.ts'
import { brokerName, retrieve, type RetrievePorts } from './retrieve.ts'
import type { OpenSessions } from './sessions.ts'
import type { HeliaPeer, HeliaRetrieveOptions, HeliaSessionBroker, HeliaSessionOptions } from './types.ts'

export interface BrokerSessionPorts extends RetrievePorts {
  readonly sessions: OpenSessions
  readonly log: Logger
  open(): Session
  /** A block that is here; undefined where it is not. */
  find(cid: CID): Promise<Uint8Array | undefined>
  readonly announce: (cid: CID) => void
}

/** Peers named for a session that are kept in mind for when it opens anew. */
const namedPeersMax = 64

/** A session as Helia's block brokers have it, over one of the exchange that is open while it is used. */
export class BrokerSession implements HeliaSessionBroker {
  readonly name = `${brokerName}-session`
  readonly #ports: BrokerSessionPorts
  readonly #isOffline: boolean
  readonly #peers: HeliaPeer[]
  #session: Session | undefined
  /** Lists of peers that the session was told of. */
  #added = new WeakSet<readonly HeliaPeer[]>()
  #dials = new AbortController()
  #running = 0

  constructor(ports: BrokerSessionPorts, options: HeliaSessionOptions) {
    this.#ports = ports
    this.#isOffline = options.offline === true
    this.#peers = (options.providers ?? []).slice(0, namedPeersMax)
  }

  async retrieve(cid: CID, options: HeliaRetrieveOptions = {}): Promise<Uint8Array> {
    options.signal?.throwIfAborted()
    if (this.#isOffline) return await this.#findHere(cid, options)
    const session = this.#begin()
    try {
      if (options.providers !== undefined) this.#add(session, options.providers)
      return await retrieve(session, cid, options, this.#ports)
    } finally {
      this.#end()
    }
  }

  async announce(cid: CID): Promise<void> {
    this.#ports.announce(cid)
  }

  /** Errors: what libp2p says where the peer cannot be reached. */
  async addPeer(peer: HeliaPeer, options?: AbortOptions): Promise<void> {
    if (this.#peers.length < namedPeersMax) this.#peers.push(peer)
    if (this.#isOffline) return
    const session = this.#begin()
    try {
      await session.addPeer(targetOf(peer), options)
    } finally {
      this.#end()
    }
  }

  /** Whoever still waits gets StoppedError. */
  close(): void {
    this.#ports.sessions.closed(this)
    this.#dials.abort()
    this.#session?.close()
    this.#session = undefined
  }

  #begin(): Session {
    const session = this.#session ?? this.#open()
    this.#ports.sessions.busy(this)
    this.#running += 1
    return session
  }

  #open(): Session {
    const session = this.#ports.open()
    this.#session = session
    this.#dials = new AbortController()
    this.#added = new WeakSet()
    this.#add(session, this.#peers)
    return session
  }

  /** Helia names the same list with each block. */
  #add(session: Session, peers: readonly HeliaPeer[]): void {
    if (this.#added.has(peers)) return
    this.#added.add(peers)
    addPeers(session, peers, this.#dials.signal, this.#ports.log)
  }

  #end(): void {
    this.#running -= 1
    if (this.#running === 0) this.#ports.sessions.rests(this)
  }

  async #findHere(cid: CID, { validateFn }: HeliaRetrieveOptions): Promise<Uint8Array> {
    const bytes = await this.#ports.find(cid)
    if (bytes === undefined) throw new NotFoundError(`${cid.toString()} is not here, and the session is offline`)
    await validateFn?.(bytes)
    return bytes
  }
}

/** Peers are added beside the wants that go on: one who cannot be reached is logged, and holds nobody up. */
function addPeers(session: Session, peers: readonly HeliaPeer[], signal: AbortSignal, log: Logger): void {
  for (const peer of peers) {
    session.addPeer(targetOf(peer), { signal }).catch((error: unknown) => log('provider %s cannot be reached - %e', String(peer), error))
  }
}

/** A peer named by Helia, as libp2p dials it. */
function targetOf(peer: HeliaPeer): Parameters<Session['addPeer']>[0] {
  return Array.isArray(peer) || isMultiaddr(peer) ? peer : peerIdFromCID(peer)
}
