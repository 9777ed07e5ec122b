/** Addresses that a caller names. */
import { InvalidParametersError, messageOf, type PeerKey, peerKey } from '@shardswap/interface'
import { BlockList } from 'node:net'
import type { PeerId } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'

/** A peer, and where it was said to be. */
export interface NamedPeer {
  readonly id: PeerId
  readonly addrs: readonly Multiaddr[]
}

function parsed(text: string, what: string): Multiaddr {
  try {
    return multiaddr(text)
  } catch (error) {
    throw new InvalidParametersError(`${what}: ${text} is no multiaddr (${messageOf(error)})`, { cause: error })
  }
}

/** The peers of a list of multiaddrs, each once. Errors: InvalidParametersError for one that names no peer, or too many. */
export function namedPeers(texts: readonly string[], what: string, peersMax: number): readonly NamedPeer[] {
  const peers = new Map<PeerKey, { id: PeerId; addrs: Multiaddr[] }>()
  for (const text of texts) {
    const addr = parsed(text, what)
    const name = addr.getComponents().findLast((component) => component.name === 'p2p')?.value
    if (name === undefined) throw new InvalidParametersError(`${what}: ${text} names no peer: it must end with /p2p/ and the peer's id`)
    const id = peerIdFromString(name)
    const key = peerKey(id)
    const before = peers.get(key)
    if (before === undefined) peers.set(key, { id, addrs: [addr] })
    else before.addrs.push(addr)
  }
  if (peers.size > peersMax) throw new InvalidParametersError(`${what}: ${peers.size} peers are more than the ${peersMax} that are kept`)
  return [...peers.values()]
}

/** Leaves out addresses that are named, or lie in a range that is. Errors: InvalidParametersError. */
export function addressFilter(texts: readonly string[]): (addrs: Multiaddr[]) => Multiaddr[] {
  const ranges = new BlockList()
  const exact = new Set<string>()
  for (const text of texts) {
    const addr = parsed(text, 'noAnnounce')
    const [ip, range] = addr.getComponents()
    const family = familyOf(ip?.name)
    if (range?.name === 'ipcidr' && family !== undefined && ip?.value !== undefined) ranges.addSubnet(ip.value, Number(range.value), family)
    else exact.add(addr.toString())
  }
  const isIn = (addr: Multiaddr): boolean => {
    const [ip] = addr.getComponents()
    const family = familyOf(ip?.name)
    return (family !== undefined && ip?.value !== undefined && ranges.check(ip.value, family)) || exact.has(withoutPeer(addr))
  }
  return (addrs) => addrs.filter((addr) => !isIn(addr))
}

function familyOf(name: string | undefined): 'ipv4' | 'ipv6' | undefined {
  return name === 'ip4' ? 'ipv4' : name === 'ip6' ? 'ipv6' : undefined
}

function withoutPeer(addr: Multiaddr): string {
  return addr.toString().replace(/\/p2p\/[^/]+$/, '')
}
