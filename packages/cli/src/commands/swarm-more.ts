/** `swarm addrs` and `swarm disconnect`. */
import { addressesShape, disconnectedText } from '@shardswap/daemon'
import type { Command } from 'commander'
import { checkMultiaddrs } from '../arguments.ts'
import type { Context } from '../context.ts'
import { NegativeAnswer } from '../errors.ts'
import { examples } from '../examples.ts'
import type { Shell } from '../shell.ts'

async function addresses(context: Context): Promise<void> {
  const { signal, out, options } = context
  const known = await context.withNode(async (node) => await node.swarm.addresses({ signal }))
  if (options.json === true) return await out.json(addressesShape(known))
  for (const { peer, addresses } of known) {
    await out.line(`${peer} (${addresses.length})`)
    for (const address of addresses) await out.line(`\t${address}`)
  }
}

async function ownAddresses(context: Context, withId: boolean): Promise<void> {
  const { signal, out, options } = context
  const lines = await context.withNode(async (node) => {
    const suffix = withId ? `/p2p/${(await node.id({ signal })).id}` : ''
    return (await node.swarm.ownAddresses({ signal })).map((address) => `${address}${suffix}`)
  })
  if (options.json === true) return await out.json({ Strings: lines })
  for (const line of lines) await out.line(line)
}

async function disconnect(context: Context, addresses: readonly string[]): Promise<void> {
  checkMultiaddrs(addresses)
  const { signal, out, options } = context
  const results = await context.withNode(async (node) => {
    const all = []
    for (const address of addresses) all.push(await node.swarm.disconnect(address, { signal }))
    return all
  })
  const lines = results.map(disconnectedText)
  if (options.json === true) await out.json({ Strings: lines })
  else for (const line of lines) await out.line(line)
  if (results.some(({ failure }) => failure !== undefined)) throw new NegativeAnswer('not all were connected')
}

export function registerSwarmMore(swarm: Command, shell: Shell): void {
  const addrs = swarm.command('addrs').description('Print everybody of whom the daemon knows an address, itself first')
  examples(addrs, [
    ['shardswap swarm addrs', 'each peer with its addresses'],
    ['shardswap swarm addrs local --id', "the daemon's own, to hand to somebody"]
  ]).action(async (_flags: unknown, command: Command) => await shell.run(command, addresses))
  const local = addrs
    .command('local')
    .description("Print the daemon's own addresses, as it tells them to others")
    .option('--id', "with the daemon's peer id")
  examples(local, [['shardswap swarm addrs local --id', 'one a line']]).action(
    async (flags: { id?: boolean }, command: Command) =>
      await shell.run(command, async (context) => await ownAddresses(context, flags.id === true))
  )
  examples(addrs.command('listen').description('Print the addresses that others can reach the daemon at; here the same as "local"'), [
    ['shardswap swarm addrs listen', 'one a line']
  ]).action(async (_flags: unknown, command: Command) => await shell.run(command, async (context) => await ownAddresses(context, false)))
  examples(
    swarm
      .command('disconnect')
      .description('Close connections')
      .argument('<multiaddr...>', '/p2p/PEER-ID for all to a peer, or a full address'),
    [['shardswap swarm disconnect /p2p/12D3…', 'all connections to a peer']]
  ).action(
    async (addresses: string[], _flags: unknown, command: Command) =>
      await shell.run(command, async (context) => await disconnect(context, addresses))
  )
}
