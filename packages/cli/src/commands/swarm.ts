/** `swarm peers|connect`. */
import { peerShape } from '@shardswap/daemon'
import type { Command } from 'commander'
import { checkMultiaddrs } from '../arguments.ts'
import type { Context } from '../context.ts'
import { examples } from '../examples.ts'
import type { Shell } from '../shell.ts'
import { registerSwarmMore } from './swarm-more.ts'

async function peers(context: Context, verbose: boolean): Promise<void> {
  const { signal, out, options } = context
  const connected = await context.withNode(async (node) => await node.swarmPeers({ signal }))
  if (options.json === true) return await out.json({ Peers: connected.map(peerShape) })
  for (const peer of connected) {
    const shape = peerShape(peer)
    await out.line(`${shape.Addr}/p2p/${shape.Peer}${verbose ? ` ${shape.Latency} ${peer.direction}` : ''}`)
  }
}

async function connect(context: Context, addresses: readonly string[]): Promise<void> {
  checkMultiaddrs(addresses)
  const { signal, out, options } = context
  const lines: string[] = []
  await context.withNode(async (node) => {
    for (const address of addresses) lines.push(`connect ${await node.swarmConnect(address, { signal })} success`)
  })
  if (options.json === true) await out.json({ Strings: lines })
  else for (const line of lines) await out.line(line)
}

export function registerSwarm(program: Command, shell: Shell): void {
  const swarm = program.command('swarm').description("Look at and add to the daemon's connections")
  examples(swarm, [
    ['shardswap swarm peers', 'who is connected'],
    ['shardswap swarm connect /ip4/192.0.2.1/tcp/4001/p2p/12D3…', 'connect to a peer']
  ])
  registerSwarmMore(swarm, shell)
  const peersCommand = swarm
    .command('peers')
    .description('Print the peers that the daemon is connected to')
    .option('-v, --verbose', 'with latency and direction')
  examples(peersCommand, [
    ['shardswap swarm peers', 'one address a line'],
    ['shardswap swarm peers -v', 'with latency and direction']
  ]).action(
    async (flags: { verbose?: boolean }, command: Command) =>
      await shell.run(command, async (context) => await peers(context, flags.verbose === true))
  )
  examples(swarm.command('connect').description('Connect the daemon to peers').argument('<multiaddr...>'), [
    ['shardswap swarm connect /ip4/192.0.2.1/tcp/4001/p2p/12D3…', 'then "cat" and "get" ask that peer too']
  ]).action(
    async (addresses: string[], _flags: unknown, command: Command) =>
      await shell.run(command, async (context) => await connect(context, addresses))
  )
}
