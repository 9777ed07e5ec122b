/** JSON of what concerns serving: Kubo has no such calls, so only the manner is its own. */
import { CID } from '@shardswap/interface'
import type { ServeMode } from '@shardswap/repo'
import type { ClientLedger, NodeLedgers } from './node.ts'

export interface ClientShape {
  readonly Peer: string
  /** How many wants stand, or are being answered. */
  readonly Wants: number
  /** Which, where one client was asked for. */
  readonly Wanted?: readonly string[]
  readonly BlocksSent: number
  readonly BytesSent: number
  readonly BlocksReceived: number
  readonly BytesReceived: number
}

export interface LedgersShape {
  /** The setting `serve.mode`; null where no peer runs. */
  readonly Mode: ServeMode | null
  readonly Clients: readonly ClientShape[]
  readonly Known: number
}

export function ledgersShape({ mode, clients, known }: NodeLedgers): LedgersShape {
  return { Mode: mode ?? null, Clients: clients.map(clientShape), Known: known }
}

export function ledgersOf({ Mode, Clients, Known }: LedgersShape): NodeLedgers {
  return { mode: Mode ?? undefined, clients: Clients.map(clientOf), known: Known }
}

function clientShape(client: ClientLedger): ClientShape {
  const { peer, wants, wanted, blocksSent, bytesSent, blocksReceived, bytesReceived } = client
  return {
    Peer: peer,
    Wants: wants,
    ...(wanted === undefined ? {} : { Wanted: wanted.map(String) }),
    BlocksSent: blocksSent,
    BytesSent: bytesSent,
    BlocksReceived: blocksReceived,
    BytesReceived: bytesReceived
  }
}

function clientOf(shape: ClientShape): ClientLedger {
  return {
    peer: shape.Peer,
    wants: shape.Wants,
    ...(shape.Wanted === undefined ? {} : { wanted: shape.Wanted.map((text) => CID.parse(text)) }),
    blocksSent: shape.BlocksSent,
    bytesSent: shape.BytesSent,
    blocksReceived: shape.BlocksReceived,
    bytesReceived: shape.BytesReceived
  }
}
