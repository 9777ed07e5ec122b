/** `ping`: the round trip to a peer. */
import { checkPeerName, pingShape } from '@shardswap/daemon'
import { messageOf } from '@shardswap/interface'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { examples } from '../examples.ts'
import { integer } from '../options.ts'
import type { Shell } from '../shell.ts'
import { printable } from '../terminal/format.ts'

async function ping(context: Context, peers: readonly string[], count: number): Promise<void> {
  for (const peer of peers) {
    try {
      checkPeerName(peer)
    } catch (error) {
      throw new UsageError(messageOf(error))
    }
  }
  const { signal, out, options } = context
  await context.withNode(async (node) => {
    for (const peer of peers) {
      for await (const step of node.swarm.ping(peer, { count, signal })) {
        if (options.json === true) await out.json(pingShape(step))
        else await out.line(printable(step.text ?? `Pong received: time=${(step.rttMs ?? 0).toFixed(2)} ms`))
      }
    }
  }, true)
}

/** The most pings that one command sends. */
const pingsMax = 1_000_000

export function registerPing(program: Command, shell: Shell): void {
  const command = program
    .command('ping')
    .description('Ping peers, and print how long each answer takes')
    .argument('<peer...>', 'id of a connected peer, or a multiaddr')
    .option('-n, --count <pings>', 'how many', integer(1, pingsMax), 10)
  examples(command, [
    ['shardswap ping 12D3…', 'ten times'],
    ['shardswap ping -n 1 /ip4/192.0.2.1/tcp/4001/p2p/12D3…', 'once, connecting first']
  ]).action(
    async (peers: string[], flags: { count: number }, command: Command) =>
      await shell.run(command, async (context) => await ping(context, peers, flags.count))
  )
}
