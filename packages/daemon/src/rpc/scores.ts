/** `shardswap/peers` and `shardswap/peers/me-at`: how peers stand with this node, and it with them. */
import { ownScoreShape, scoresShape } from '../score-shapes.ts'
import type { Call, Handlers } from './call.ts'
import type { Reply } from './reply.ts'

async function peers({ node }: Call): Promise<Reply> {
  return { kind: 'json', value: scoresShape(await node.scores()) }
}

async function meAt({ node, query, signal }: Call): Promise<Reply> {
  const period = query.text('period')
  const receiptsFrom = query.count('receipts-from')
  const options = { signal, ...(period === undefined ? {} : { period }), ...(receiptsFrom === undefined ? {} : { receiptsFrom }) }
  return { kind: 'json', value: ownScoreShape(await node.ownScoreAt(query.arg(), options)) }
}

export const scoreHandlers: Handlers = { 'shardswap/peers': peers, 'shardswap/peers/me-at': meAt }
