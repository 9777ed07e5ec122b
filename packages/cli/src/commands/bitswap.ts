/** `bitswap stat|wantlist|ledger`: what the daemon exchanges with whom. */
import { bitswapLedgerShape, bitswapShape, wantlistShape } from '@shardswap/daemon'
import type { Command } from 'commander'
import { peerArgument } from '../arguments.ts'
import type { Context } from '../context.ts'
import { examples } from '../examples.ts'
import type { Shell } from '../shell.ts'
import { formatBytes } from '../terminal/format.ts'

interface StatFlags {
  readonly verbose?: boolean
  readonly human?: boolean
}

async function stat(context: Context, { verbose = false, human = false }: StatFlags): Promise<void> {
  const { signal, out, options } = context
  const stat = await context.withNode(async (node) => await node.bitswap.stat({ signal }))
  if (options.json === true) return await out.json(bitswapShape(stat))
  const bytes = (count: number): string => (human ? formatBytes(count) : String(count))
  const lines = [
    'bitswap status',
    `\tblocks received: ${stat.blocksReceived}`,
    `\tblocks sent: ${stat.blocksSent}`,
    `\tdata received: ${bytes(stat.bytesReceived)}`,
    `\tdata sent: ${bytes(stat.bytesSent)}`,
    `\tdup blocks received: ${stat.duplicateBlocks}`,
    `\tdup data received: ${bytes(stat.duplicateBytes)}`,
    `\twantlist [${stat.wantlist.length} keys]`,
    ...stat.wantlist.map((cid) => `\t\t${cid.toString()}`),
    `\tpartners [${stat.peers.length}]`,
    ...(verbose ? stat.peers.map((peer) => `\t\t${peer}`) : [])
  ]
  for (const line of lines) await out.line(line)
}

async function wantlist(context: Context, peer: string | undefined): Promise<void> {
  if (peer !== undefined) peerArgument(peer)
  const { signal, out, options } = context
  const cids = await context.withNode(async (node) => await node.bitswap.wantlist(peer, { signal }))
  if (options.json === true) return await out.json(wantlistShape(cids))
  for (const cid of cids) await out.line(cid.toString())
}

async function ledger(context: Context, peer: string): Promise<void> {
  peerArgument(peer)
  const { signal, out, options } = context
  const found = await context.withNode(async (node) => await node.bitswap.ledger(peer, { signal }))
  const shape = bitswapLedgerShape(found)
  if (options.json === true) return await out.json(shape)
  await out.line(`Ledger for ${peer}\nDebt ratio:\t${shape.Value.toFixed(6)}\nExchanges:\t${shape.Exchanged}`)
  await out.line(`Bytes sent:\t${shape.Sent}\nBytes received:\t${shape.Recv}`)
}

/** The sums, under a name: `bitswap stat`, which Kubo calls `stats bitswap` too. */
export function registerBitswapStat(parent: Command, name: 'stat' | 'bitswap', shell: Shell): void {
  const command = parent
    .command(name)
    .description('Print how many blocks and bytes went in and out since the daemon began')
    .option('-v, --verbose', 'with the peers')
    .option('--human', 'bytes with units')
  examples(command, [[`shardswap ${parent.name()} ${name} -v --human`, 'with peers, and bytes with units']]).action(
    async (flags: StatFlags, command: Command) => await shell.run(command, async (context) => await stat(context, flags))
  )
}

export function registerBitswap(program: Command, shell: Shell): void {
  const bitswap = program.command('bitswap').description('Look at what the daemon exchanges')
  examples(bitswap, [
    ['shardswap bitswap stat', 'sums over all peers'],
    ['shardswap bitswap wantlist', 'what is being fetched']
  ])
  registerBitswapStat(bitswap, 'stat', shell)
  const wantlistCommand = bitswap
    .command('wantlist')
    .description('Print the blocks that the daemon wants, or that a connected peer wants of it')
    .option('-p, --of <peer>', 'of this peer, by its id')
  examples(wantlistCommand, [
    ['shardswap bitswap wantlist', 'what is being fetched'],
    ['shardswap bitswap wantlist -p 12D3…', 'what that peer waits for']
  ]).action(
    async (flags: { of?: string }, command: Command) => await shell.run(command, async (context) => await wantlist(context, flags.of))
  )
  examples(bitswap.command('ledger').description('Print what went between the daemon and a connected peer').argument('<peer>', 'its id'), [
    ['shardswap bitswap ledger 12D3…', 'bytes sent and received, and their ratio']
  ]).action(
    async (peer: string, _flags: unknown, command: Command) => await shell.run(command, async (context) => await ledger(context, peer))
  )
}
