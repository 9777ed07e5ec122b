/** `daemon`: a node that stays. */
import { messageOf } from '@shardswap/interface'
import { type Daemon, startDaemon } from '@shardswap/daemon'
import { configFile, initRepo, openRepo, profileConfig, type ProfileName, repoExists } from '@shardswap/repo'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { checkApi, givenToken } from '../api-auth.ts'
import { UsageError } from '../errors.ts'
import { examples } from '../examples.ts'
import { profileOption } from '../options.ts'
import type { Shell } from '../shell.ts'

/** A daemon that has not stopped by then is ended. */
const stopTimeoutMs = 4_500

interface DaemonFlags {
  readonly init?: boolean
  readonly initProfile: ProfileName
}

async function configuredToken(repoPath: string): Promise<string | undefined> {
  const token = await configFile(repoPath).get('api.auth')
  return typeof token === 'string' ? token : undefined
}

async function open(context: Context, { init, initProfile }: DaemonFlags): Promise<Daemon> {
  const { repoPath, options } = context
  const token = await givenToken(options)
  if (init === true && !(await repoExists(repoPath))) {
    context.note(`Making a repo at ${repoPath}`)
    await initRepo(repoPath, { config: profileConfig(initProfile) })
  }
  const { listen, api } = options
  checkApi(api, token ?? (await configuredToken(repoPath)))
  const repo = await openRepo(repoPath)
  return await startDaemon({
    repo,
    onWarning: (message) => context.note(`Warning: ${message}`),
    ...(listen === undefined ? {} : { listen }),
    ...(api === undefined ? {} : { api }),
    ...(token === undefined ? {} : { apiAuth: token })
  })
}

async function serve(context: Context, flags: DaemonFlags): Promise<void> {
  if (context.options.offline === true) throw new UsageError('a daemon is there to serve peers: leave --offline out')
  const daemon = await open(context, flags)
  const late = (): void => {
    context.note('The daemon did not stop in time and was ended')
    process.exit(1)
  }
  let timer: NodeJS.Timeout | undefined
  try {
    const { out } = context
    for (const address of daemon.addresses) await out.line(`Swarm listening on ${address}`)
    await out.line(`RPC API server listening on ${daemon.api}`)
    await out.line('Daemon is ready')
    await connectPeers(context, daemon)
    await Promise.race([daemon.shutdownAsked, aborted(context.signal)])
  } finally {
    timer = setTimeout(late, stopTimeoutMs)
    await daemon.stop()
    clearTimeout(timer)
  }
}

/** A peer that is not there is no reason to stop serving. */
async function connectPeers(context: Context, daemon: Daemon): Promise<void> {
  for (const address of context.options.peer ?? []) {
    try {
      await daemon.node.swarmConnect(address, { signal: context.signal })
    } catch (error) {
      if (context.signal.aborted) return
      context.note(`Warning: ${messageOf(error)}`)
    }
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

export function registerDaemon(program: Command, shell: Shell): void {
  const command = program
    .command('daemon')
    .description('Run a node that serves blocks to peers, and commands on this machine, until Ctrl-C')
    .option('--init', 'make the repo where there is none')
    .addOption(profileOption('--init-profile <name>'))
  examples(command, [
    ['shardswap daemon --init', 'the first start'],
    ['shardswap daemon --listen /ip4/0.0.0.0/tcp/4002 --api /ip4/127.0.0.1/tcp/5002', 'a second node, with --repo too'],
    ['shardswap daemon --listen /ip4/127.0.0.1/tcp/0 --api /ip4/127.0.0.1/tcp/0', 'on free ports; the repo\'s file "api" tells which'],
    ['shardswap daemon --api /ip4/0.0.0.0/tcp/5001 --api-auth @/run/secrets/api-token', 'for other machines, which show the token'],
    ['shardswap daemon --peer /ip4/192.0.2.1/tcp/4001/p2p/12D3…', 'connected to a peer from the start']
  ]).action(async (flags: DaemonFlags, command: Command) => await shell.run(command, async (context) => await serve(context, flags)))
}
