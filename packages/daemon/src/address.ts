import { InvalidParametersError } from '@shardswap/interface'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'

export interface HostPort {
  readonly host: string
  readonly port: number
  /** The token that the daemon there takes. */
  readonly token?: string | undefined
}

/** Host and TCP port of a multiaddr such as `/ip4/127.0.0.1/tcp/5001`. Errors: InvalidParametersError. */
export function hostPort(text: string): HostPort {
  const parts = parseMultiaddr(text).getComponents()
  const host = parts[0]
  const tcp = parts[1]
  if (host?.value === undefined || tcp?.value === undefined || !/^(ip4|ip6|dns|dns4|dns6)$/.test(host.name) || tcp.name !== 'tcp') {
    throw new InvalidParametersError(`"${text}" is no address for the API: write it as /ip4/127.0.0.1/tcp/5001`)
  }
  return { host: host.value, port: Number(tcp.value) }
}

/** Parses a multiaddr. Errors: InvalidParametersError with the text and an example. */
export function parseMultiaddr(text: string): Multiaddr {
  try {
    const address = multiaddr(text)
    if (address.getComponents().length > 0) return address
  } catch {
    // The library's message names neither the text nor what would be right.
  }
  throw new InvalidParametersError(
    `"${text}" is not a multiaddr: write it as /ip4/127.0.0.1/tcp/4001, for a peer with /p2p/PEER-ID at the end`
  )
}

/** Whether a text looks like a PeerId: base58, or a CID's base32 or base36. */
export function isPeerId(text: string): boolean {
  return /^(?:Qm|12D3Koo|16Uiu2|1)[1-9A-HJ-NP-Za-km-z]{20,}$|^[bk][a-z0-9]{40,}$/.test(text)
}

/** Refuses what names no peer: a multiaddr or a PeerId does. Errors: InvalidParametersError. */
export function checkPeerName(text: string): void {
  if (text.startsWith('/')) parseMultiaddr(text)
  else if (!isPeerId(text)) throw new InvalidParametersError(`"${text}" is neither a peer id, such as 12D3KooW…, nor a multiaddr`)
}

/** Refuses what is no PeerId. Errors: InvalidParametersError. */
export function checkPeerId(text: string): void {
  if (!isPeerId(text)) throw new InvalidParametersError(`"${text}" is no peer id, such as 12D3KooW…`)
}

/** Whether only this machine can reach a host. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

/** The multiaddr of a TCP socket that is bound. */
export function tcpMultiaddr(address: { address: string; family: string; port: number }): string {
  return `/${address.family === 'IPv6' ? 'ip6' : 'ip4'}/${address.address}/tcp/${address.port}`
}
