/** `health`: whether a daemon answers, for whoever looks after it. */
import { setTimeout } from 'node:timers/promises'
import type { RemoteNode } from '@shardswap/daemon'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { NegativeAnswer } from '../errors.ts'
import { examples } from '../examples.ts'
import type { Shell } from '../shell.ts'

/** How often it is looked for a daemon that is awaited. */
const waitEveryMs = 200

/** The daemon; with `wait` as soon as one answers, for as long as the command may run. */
async function answering(context: Context, wait: boolean): Promise<RemoteNode | undefined> {
  for (;;) {
    const daemon = await context.findDaemon().catch((error: unknown) => {
      // One that is named by its address may not listen yet.
      if (wait && isUnreachable(error)) return undefined
      throw error
    })
    if (daemon !== undefined || !wait) return daemon
    await setTimeout(waitEveryMs)
    context.signal.throwIfAborted()
  }
}

function isUnreachable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_DAEMON_UNREACHABLE'
}

async function health(context: Context, wait: boolean): Promise<void> {
  const { signal, out, options } = context
  const daemon = await answering(context, wait)
  if (daemon === undefined) {
    context.note(`Error: no daemon serves the repo at ${context.repoPath}`)
    throw new NegativeAnswer('no daemon')
  }
  const peers = await daemon.swarmPeers({ signal })
  if (options.json === true) return await out.json({ Healthy: true, Peers: peers.length })
  await out.line(`the daemon answers, ${peers.length} ${peers.length === 1 ? 'peer is' : 'peers are'} connected`)
}

export function registerHealth(program: Command, shell: Shell): void {
  const command = program
    .command('health')
    .description('Tell whether the daemon of this repo answers; exit code 1 where none does')
    .option('--wait', 'wait for one, until --timeout')
  examples(command, [
    ['shardswap health --timeout 5s', 'for a container or a script that starts daemons anew'],
    ['shardswap health --wait --timeout 60s', 'until a daemon that is being started answers']
  ]).action(
    async (flags: { wait?: boolean }, command: Command) =>
      await shell.run(command, async (context) => await health(context, flags.wait === true))
  )
}
