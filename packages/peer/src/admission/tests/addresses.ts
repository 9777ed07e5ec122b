import { type PeerKey, peerKey } from '@shardswap/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Host } from '../../network/host.ts'

/** More addresses than that of one server are not tried. */
const addressesPerServerMax = 8

/** Where servers can be reached: as libp2p knows it, and for as long as it forgets, as it was known last. */
export class ServerAddresses {
  readonly #libp2p: Host
  readonly #serversMax: number
  readonly #kept = new Map<PeerKey, readonly Multiaddr[]>()

  constructor(libp2p: Host, serversMax: number) {
    this.#libp2p = libp2p
    this.#serversMax = serversMax
  }

  /** Addresses that end in the server's identity; none where nobody told us any. */
  async of(server: PeerKey): Promise<readonly Multiaddr[]> {
    const found = await this.#find(server)
    if (found.length === 0) return this.#kept.get(server) ?? []
    this.#kept.delete(server)
    this.#kept.set(server, found)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > this.#serversMax && oldest !== undefined) this.#kept.delete(oldest)
    return found
  }

  async #find(server: PeerKey): Promise<Multiaddr[]> {
    const id = peerIdFromString(server)
    const dialled = this.#libp2p.getConnections(id).filter(({ direction }) => direction === 'outbound')
    const known = await this.#libp2p.peerStore.get(id).catch(() => undefined)
    const all = [...dialled.map(({ remoteAddr }) => remoteAddr), ...(known?.addresses ?? []).map(({ multiaddr }) => multiaddr)]
    const own = all.map((address) => withIdentity(address, server)).filter((address) => address !== undefined)
    return [...new Map(own.map((address) => [address.toString(), address])).values()].slice(0, addressesPerServerMax)
  }
}

/** Undefined for an address that leads by a relay, or to somebody else. */
function withIdentity(address: Multiaddr, server: PeerKey): Multiaddr | undefined {
  const named = address.getComponents().filter(({ name }) => name === 'p2p')
  if (named.length === 0) return address.encapsulate(`/p2p/${server}`)
  return named.length === 1 && named[0]?.value !== undefined && peerKey(named[0].value) === server ? address : undefined
}
