import { NotFoundError } from '@shardswap/interface'
import type { LedgerStat, Peer } from '@shardswap/peer'
import type { ServeMode } from '@shardswap/repo'
import { checkPeerId } from '../address.ts'
import { ledgersShownMax } from '../limits.ts'
import type { ClientLedger, NodeLedgers } from '../node.ts'

/** What a peer that runs knows of its clients, or of one. Errors: NotFoundError, InvalidParametersError. */
export function nodeLedgers(peer: Peer | undefined, mode: ServeMode, client: string | undefined): NodeLedgers {
  if (client !== undefined) checkPeerId(client)
  if (peer === undefined) return { mode: undefined, clients: [], known: 0 }
  if (client === undefined) {
    const all = peer.ledgers().toSorted((one, other) => other.bytesSent - one.bytesSent)
    return { mode, clients: all.slice(0, ledgersShownMax).map(clientLedger), known: all.length }
  }
  const ledger = peer.ledger(client)
  if (ledger === undefined) throw new NotFoundError(`${client} is not connected, so nothing is known of what it asks for`)
  return { mode, clients: [{ ...clientLedger(ledger), wanted: ledger.wants }], known: 1 }
}

function clientLedger({ wants, ...counts }: LedgerStat): ClientLedger {
  return { ...counts, wants: wants.length }
}
