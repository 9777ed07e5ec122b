/** The connections of a peer that runs. */
import { publicKeyToProtobuf } from '@libp2p/crypto/keys'
import type { PeerId } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { type AbortOptions, InvalidParametersError, messageOf, NotFoundError } from '@shardswap/interface'
import type { Peer } from '@shardswap/peer'
import { setTimeout as wait } from 'node:timers/promises'
import { checkPeerName, parseMultiaddr } from '../address.ts'
import type { Disconnected, KnownAddresses, NodeSwarm, PingOptions, PingStep } from '../api/network.ts'
import { ConnectError, reasonFor } from '../errors.ts'
import { pingIntervalMs } from '../limits.ts'
import type { NodeId } from '../node.ts'

export interface LocalSwarmInit {
  /** The peer, started. Errors: OfflineError. */
  peer(): Promise<Peer>
  /** Connects to a multiaddr; the peer's id. Errors: ConnectError. */
  connect(address: string, options: AbortOptions): Promise<string>
}

/** What the ping service of libp2p offers: a round trip, in milliseconds. */
interface PingService {
  ping(peer: PeerId, options?: AbortOptions): Promise<number>
}

export class LocalSwarm implements NodeSwarm {
  readonly #init: LocalSwarmInit

  constructor(init: LocalSwarmInit) {
    this.#init = init
  }

  async addresses(): Promise<readonly KnownAddresses[]> {
    const { libp2p, peerId } = await this.#init.peer()
    const others = (await libp2p.peerStore.all()).filter(({ id }) => !id.equals(peerId))
    const known = new Map(
      others.map(({ id, addresses }) => [id.toString(), new Set(addresses.map(({ multiaddr }) => bare(multiaddr.toString())))])
    )
    // Who has dialled us and told nothing yet stands in no store.
    for (const { remotePeer, remoteAddr } of libp2p.getConnections()) {
      const addresses = known.get(remotePeer.toString()) ?? new Set()
      known.set(remotePeer.toString(), addresses.add(bare(remoteAddr.toString())))
    }
    const found = [...known].filter(([, addresses]) => addresses.size > 0)
    const own = { peer: peerId.toString(), addresses: await this.ownAddresses() }
    return [own, ...found.map(([peer, addresses]) => ({ peer, addresses: [...addresses] }))]
  }

  async ownAddresses(): Promise<readonly string[]> {
    return (await this.#init.peer()).addresses().map(bare)
  }

  async disconnect(address: string): Promise<Disconnected> {
    const { peer: id, transport } = peerInAddress(address)
    const { libp2p } = await this.#init.peer()
    const peer = id.toString()
    const connections = libp2p.getConnections(id)
    if (connections.length === 0) return { peer, failure: transport === '' ? 'not connected' : 'conn not found' }
    if (transport === '') {
      await libp2p.hangUp(id)
      return { peer }
    }
    const there = connections.filter(({ remoteAddr }) => bare(remoteAddr.toString()) === transport)
    if (there.length === 0) return { peer, failure: 'conn not found' }
    await Promise.all(there.map(async (connection) => await connection.close()))
    return { peer }
  }

  async *ping(target: string, options: PingOptions = {}): AsyncGenerator<PingStep> {
    const { count = 10, intervalMs = pingIntervalMs, signal } = options
    if (count <= 0) throw new InvalidParametersError('ping count must be greater than 0')
    const { libp2p, peerId } = await this.#init.peer()
    const id = await this.#reached(target, options)
    if (id.equals(peerId)) throw new InvalidParametersError("error: can't ping self")
    const service = libp2p.services['ping'] as PingService
    yield { ok: true, text: `PING ${id.toString()}.` }
    const roundTrips: number[] = []
    for (let sent = 0; sent < count; sent++) {
      if (sent > 0) await wait(intervalMs, undefined, signal === undefined ? {} : { signal })
      try {
        const rttMs = await service.ping(id, signal === undefined ? {} : { signal })
        roundTrips.push(rttMs)
        yield { ok: true, rttMs }
      } catch (error) {
        if (signal?.aborted === true) throw reasonFor(error, signal)
        yield { ok: false, text: `Ping error: ${messageOf(error)}` }
      }
    }
    if (roundTrips.length === 0) throw new ConnectError('ping failed')
    const average = roundTrips.reduce((sum, rttMs) => sum + rttMs, 0) / roundTrips.length
    yield { ok: true, text: `Average latency: ${average.toFixed(2)}ms` }
  }

  async identity(target: string, options: AbortOptions = {}): Promise<NodeId> {
    const { libp2p } = await this.#init.peer()
    const id = await this.#reached(target, options)
    if (libp2p.getConnections(id).length === 0) {
      throw new NotFoundError(`${id.toString()} is not connected, so nothing is known of it: connect it with "swarm connect"`)
    }
    const { metadata, protocols, addresses } = await libp2p.peerStore.get(id)
    const told = (key: string): string => new TextDecoder().decode(metadata.get(key))
    return {
      id: id.toString(),
      publicKey: id.publicKey === undefined ? '' : Buffer.from(publicKeyToProtobuf(id.publicKey)).toString('base64'),
      addresses: addresses.map(({ multiaddr }) => `${bare(multiaddr.toString())}/p2p/${id.toString()}`),
      agentVersion: told('AgentVersion'),
      protocols: protocols.toSorted()
    }
  }

  /** The peer that a text names; connected, where the text tells how to reach it. */
  async #reached(target: string, { signal }: AbortOptions): Promise<PeerId> {
    checkPeerName(target)
    if (!target.startsWith('/')) return parsePeerId(target)
    const { peer, transport } = peerInAddress(target)
    if (transport !== '') await this.#init.connect(target, { signal })
    return peer
  }
}

/** A multiaddr without the peer's id at its end. */
function bare(address: string): string {
  return address.replace(/\/p2p\/[^/]+$/, '')
}

/** The peer that a multiaddr ends with, and what stands before it: '' for `/p2p/PEER`. Errors: InvalidParametersError. */
function peerInAddress(address: string): { peer: PeerId; transport: string } {
  const text = parseMultiaddr(address).toString()
  const id = /\/p2p\/([^/]+)$/.exec(text)?.[1]
  if (id === undefined) throw new InvalidParametersError(`"${address}" names no peer: it must end with /p2p/PEER-ID`)
  return { peer: parsePeerId(id), transport: bare(text) }
}

function parsePeerId(text: string): PeerId {
  try {
    return peerIdFromString(text)
  } catch (error) {
    throw new InvalidParametersError(`"${text}" is no peer id, such as 12D3KooW…`, { cause: error })
  }
}
