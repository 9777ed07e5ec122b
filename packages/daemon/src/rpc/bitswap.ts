/** `bitswap/*`: what is exchanged with whom. */
import { bitswapLedgerShape, bitswapShape, wantlistShape } from '../network-shapes.ts'
import type { Call, Handlers } from './call.ts'
import type { Reply } from './reply.ts'

async function stat({ node }: Call): Promise<Reply> {
  return { kind: 'json', value: bitswapShape(await node.bitswap.stat()) }
}

async function wantlist({ node, query }: Call): Promise<Reply> {
  return { kind: 'json', value: wantlistShape(await node.bitswap.wantlist(query.text('peer'))) }
}

async function ledger({ node, query }: Call): Promise<Reply> {
  return { kind: 'json', value: bitswapLedgerShape(await node.bitswap.ledger(query.arg())) }
}

export const bitswapHandlers: Handlers = {
  'bitswap/stat': stat,
  'stats/bitswap': stat,
  'bitswap/wantlist': wantlist,
  'bitswap/ledger': ledger
}
