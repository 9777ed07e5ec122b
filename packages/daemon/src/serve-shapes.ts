/** JSON of what concerns serving: Kubo has no such calls, so only the manner is its own. */
import { CID } from '@shardswap/interface'
import type { ServeMode } from '@shardswap/repo'
import type { ClientLedger, NodeLedgers } from './node.ts'

/** JSON: what the server knows of one client. */
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
  /** Want-blocks that are being read or written for it. */
  readonly OpenRequests: number
  /** Bytes of blocks that wait for their turn. */
  readonly QueuedBytes: number
  /** It reads slowly. */
  readonly Slow: boolean
  /** Its wants wait for admission. */
  readonly Waiting: boolean
  /** Wants that had to wait for admission, or were refused. */
  readonly TurnedAway: number
  /** Left out where it was served nothing yet. */
  readonly LastServedMsAgo?: number
}

/** JSON of `ledger`: all clients. */
export interface LedgersShape {
  /** The setting `serve.mode`; null where no peer runs. */
  readonly Mode: ServeMode | null
  readonly Clients: readonly ClientShape[]
  readonly Known: number
}

/** The JSON of `ledger`. */
export function ledgersShape({ mode, clients, known }: NodeLedgers): LedgersShape {
  return { Mode: mode ?? null, Clients: clients.map(clientShape), Known: known }
}

/** Reads the JSON of `ledger`. */
export function ledgersOf({ Mode, Clients, Known }: LedgersShape): NodeLedgers {
  return { mode: Mode ?? undefined, clients: Clients.map(clientOf), known: Known }
}

function clientShape(client: ClientLedger): ClientShape {
  const { wanted, lastServedMsAgo } = client
  return {
    Peer: client.peer,
    Wants: client.wants,
    ...(wanted === undefined ? {} : { Wanted: wanted.map(String) }),
    BlocksSent: client.blocksSent,
    BytesSent: client.bytesSent,
    BlocksReceived: client.blocksReceived,
    BytesReceived: client.bytesReceived,
    OpenRequests: client.openRequests,
    QueuedBytes: client.queuedBytes,
    Slow: client.isSlow,
    Waiting: client.isWaiting,
    TurnedAway: client.turnedAway,
    ...(lastServedMsAgo === undefined ? {} : { LastServedMsAgo: lastServedMsAgo })
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
    bytesReceived: shape.BytesReceived,
    openRequests: shape.OpenRequests,
    queuedBytes: shape.QueuedBytes,
    isSlow: shape.Slow,
    isWaiting: shape.Waiting,
    turnedAway: shape.TurnedAway,
    ...(shape.LastServedMsAgo === undefined ? {} : { lastServedMsAgo: shape.LastServedMsAgo })
  }
}
