/** `shardswap/ledger`: who asks this node for blocks. */
import { ledgersShape } from '../serve-shapes.ts'
import type { Call, Handlers } from './call.ts'
import type { Reply } from './reply.ts'

async function ledger({ node, query }: Call): Promise<Reply> {
  return { kind: 'json', value: ledgersShape(await node.ledgers({ peer: query.text('arg') })) }
}

export const servingHandlers: Handlers = { 'shardswap/ledger': ledger }
