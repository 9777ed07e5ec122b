/** Kubo's JSON of connections and of the exchange, and back. */
import { CID } from '@shardswap/interface'
import type { BitswapLedger, BitswapStat, Disconnected, KnownAddresses, PingStep } from './api/network.ts'

/** The answer of `swarm addrs`. */
export interface AddressesShape {
  readonly Addrs: Readonly<Record<string, readonly string[]>>
}

/** Peers by their ids. */
export function addressesShape(known: readonly KnownAddresses[]): AddressesShape {
  return { Addrs: Object.fromEntries(known.map(({ peer, addresses }) => [peer, addresses])) }
}

/** The peers of an answer. */
export function addressesOf(shape: AddressesShape): KnownAddresses[] {
  return Object.entries(shape.Addrs).map(([peer, addresses]) => ({ peer, addresses }))
}

/** A line of `swarm disconnect`. */
export function disconnectedText({ peer, failure }: Disconnected): string {
  return `disconnect ${peer} ${failure === undefined ? 'success' : `failure: ${failure}`}`
}

/** What such a line says. */
export function disconnectedOf(text: string): Disconnected {
  const [, peer = '', failure] = /^disconnect (\S+) (?:success|failure: (.*))$/.exec(text) ?? []
  return { peer, ...(failure === undefined ? {} : { failure }) }
}

/** A line of `ping`. */
export interface PingShape {
  readonly Success: boolean
  /** Nanoseconds. */
  readonly Time: number
  readonly Text: string
}

/** A line of `ping` for a step. */
export function pingShape({ ok, rttMs = 0, text = '' }: PingStep): PingShape {
  return { Success: ok, Time: Math.round(rttMs * 1e6), Text: text }
}

/** The step of a line. */
export function pingOf({ Success, Time, Text }: PingShape): PingStep {
  return { ok: Success, ...(Text === '' ? { rttMs: Time / 1e6 } : { text: Text }) }
}

interface CidShape {
  readonly '/': string
}

/** The answer of `bitswap stat`. */
export interface BitswapShape {
  readonly Wantlist: readonly CidShape[]
  readonly Peers: readonly string[]
  readonly BlocksReceived: number
  readonly DataReceived: number
  readonly DupBlksReceived: number
  readonly DupDataReceived: number
  readonly MessagesReceived: number
  readonly BlocksSent: number
  readonly DataSent: number
}

/** The sums, in the names of Kubo. Messages are not counted here: always 0. */
export function bitswapShape(stat: BitswapStat): BitswapShape {
  return {
    Wantlist: stat.wantlist.map(cidShape),
    Peers: stat.peers,
    BlocksReceived: stat.blocksReceived,
    DataReceived: stat.bytesReceived,
    DupBlksReceived: stat.duplicateBlocks,
    DupDataReceived: stat.duplicateBytes,
    MessagesReceived: 0,
    BlocksSent: stat.blocksSent,
    DataSent: stat.bytesSent
  }
}

/** The sums of an answer. */
export function bitswapOf(shape: BitswapShape): BitswapStat {
  return {
    wantlist: cidsOf(shape.Wantlist),
    peers: shape.Peers,
    blocksReceived: shape.BlocksReceived,
    bytesReceived: shape.DataReceived,
    duplicateBlocks: shape.DupBlksReceived,
    duplicateBytes: shape.DupDataReceived,
    blocksSent: shape.BlocksSent,
    bytesSent: shape.DataSent
  }
}

/** The answer of `bitswap wantlist`. */
export interface WantlistShape {
  readonly Keys: readonly CidShape[] | null
}

/** A wantlist as JSON. */
export function wantlistShape(cids: readonly CID[]): WantlistShape {
  return { Keys: cids.map(cidShape) }
}

/** The wantlist of an answer. */
export function wantlistOf({ Keys }: WantlistShape): CID[] {
  return cidsOf(Keys ?? [])
}

/** The answer of `bitswap ledger`. */
export interface BitswapLedgerShape {
  readonly Peer: string
  /** Bytes sent over bytes received and one. */
  readonly Value: number
  readonly Sent: number
  readonly Recv: number
  readonly Exchanged: number
}

/** A ledger as JSON. */
export function bitswapLedgerShape(ledger: BitswapLedger): BitswapLedgerShape {
  const { peer, bytesSent, bytesReceived, exchanged } = ledger
  return { Peer: peer, Value: bytesSent / (bytesReceived + 1), Sent: bytesSent, Recv: bytesReceived, Exchanged: exchanged }
}

/** The ledger of an answer. */
export function bitswapLedgerOf({ Peer, Sent, Recv, Exchanged }: BitswapLedgerShape): BitswapLedger {
  return { peer: Peer, bytesSent: Sent, bytesReceived: Recv, exchanged: Exchanged }
}

function cidShape(cid: CID): CidShape {
  return { '/': cid.toString() }
}

function cidsOf(shapes: readonly CidShape[]): CID[] {
  return shapes.map((shape) => CID.parse(shape['/']))
}
