/** `ledger`: who asks this node for blocks, and what they got. */
import { type ClientLedger, ledgersShape, type NodeLedgers } from '@shardswap/daemon'
import type { Command } from 'commander'
import { peerArgument } from '../arguments.ts'
import type { Context } from '../context.ts'
import { examples } from '../examples.ts'
import type { Shell } from '../shell.ts'
import { formatBytes, formatSeconds, printable } from '../terminal/format.ts'
import { tableLines } from '../terminal/table.ts'

const head = ['client', 'wants', 'open', 'queued', 'blocks sent', 'sent', 'last sent', 'turned away', 'received', '']

/** A line for each client; or why there are none. */
export function ledgerLines({ mode, clients, known }: NodeLedgers): string[] {
  if (mode === undefined) return ['Nothing is served: no daemon runs on this repo. Start one with "shardswap daemon".']
  const lines = mode === 'off' ? ['Nothing is served: the config of this repo has serve.mode "off".'] : []
  if (clients.length === 0) return [...lines, 'Nobody is connected.']
  const table = tableLines(head, clients.map(row), (column) => column === 0 || column === head.length - 1)
  const rest = known > clients.length ? [`and ${known - clients.length} more that were sent less`] : []
  return [...lines, ...table, ...rest]
}

function row(client: ClientLedger): string[] {
  const { peer, wants, openRequests, queuedBytes, blocksSent, bytesSent, lastServedMsAgo, turnedAway, bytesReceived } = client
  return [
    peer,
    String(wants),
    String(openRequests),
    formatBytes(queuedBytes),
    String(blocksSent),
    formatBytes(bytesSent),
    lastServedMsAgo === undefined ? '–' : `${formatSeconds(lastServedMsAgo / 1000)} ago`,
    String(turnedAway),
    formatBytes(bytesReceived),
    [...(client.isSlow ? ['reads slowly'] : []), ...(client.isWaiting ? ['waits for admission'] : [])].join(', ')
  ]
}

async function run(context: Context, peer: string | undefined): Promise<void> {
  const { signal, out, options } = context
  const ledgers = await context.withNode(async (node) => await node.ledgers({ peer, signal }))
  if (options.json === true) return await out.json(ledgersShape(ledgers))
  for (const line of ledgerLines(ledgers)) await out.line(printable(line))
  for (const cid of ledgers.clients.flatMap(({ wanted = [] }) => wanted)) await out.line(`wants ${cid.toString()}`)
}

export function registerLedger(program: Command, shell: Shell): void {
  const command = program
    .command('ledger')
    .description('Print who asks this node for blocks, and what was sent and received')
    .argument('[peer]', 'the id of one client: what it wants is printed too')
  examples(command, [
    ['shardswap ledger', 'all clients, those that were sent most first'],
    ['shardswap ledger 12D3…', 'one client, with the CIDs that it waits for'],
    ["shardswap ledger --json | jq -r '.Clients[] | [.Peer, .BytesSent] | @tsv'", 'for programs']
  ]).action(
    async (peer: string | undefined, _flags: unknown, command: Command) =>
      await shell.run(command, async (context) => await run(context, peer === undefined ? undefined : peerArgument(peer)))
  )
}
