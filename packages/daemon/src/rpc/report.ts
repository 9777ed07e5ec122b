/** `shardswap/report` and `shardswap/report/receipts`: the accounts of a period, and what they are made of. */
import { reportShape } from '../report-shapes.ts'
import type { Call, Handlers } from './call.ts'
import type { Reply } from './reply.ts'

async function report({ node, query }: Call): Promise<Reply> {
  return { kind: 'json', value: reportShape(await node.report({ period: query.text('period') })) }
}

function receipts({ node, query, signal }: Call): Reply {
  return { kind: 'lines', lines: node.receipts({ period: query.text('period'), peer: query.text('peer'), signal }) }
}

export const reportHandlers: Handlers = { 'shardswap/report': report, 'shardswap/report/receipts': receipts }
