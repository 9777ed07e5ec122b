/** `health`: whether a daemon answers, for whoever looks after it. */
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { NegativeAnswer } from '../errors.ts'
import { examples } from '../examples.ts'
import type { Shell } from '../shell.ts'

async function health(context: Context): Promise<void> {
  const { signal, out, options } = context
  const daemon = await context.findDaemon()
  if (daemon === undefined) {
    context.note(`Error: no daemon serves the repo at ${context.repoPath}`)
    throw new NegativeAnswer('no daemon')
  }
  const peers = await daemon.swarmPeers({ signal })
  if (options.json === true) return await out.json({ Healthy: true, Peers: peers.length })
  await out.line(`the daemon answers, ${peers.length} ${peers.length === 1 ? 'peer is' : 'peers are'} connected`)
}

export function registerHealth(program: Command, shell: Shell): void {
  examples(program.command('health').description('Tell whether the daemon of this repo answers; exit code 1 where none does'), [
    ['shardswap health --timeout 5s', 'for a container or a script that starts daemons anew'],
    ['shardswap health --api /ip4/127.0.0.1/tcp/5001', 'by its address']
  ]).action(async (_flags: unknown, command: Command) => await shell.run(command, health))
}
