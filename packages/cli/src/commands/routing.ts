/** `routing findprovs|findpeer|provide`, `bootstrap list`. */
import { checkPeerId, foundPeerShape, parseCid, providerShape } from '@shardswap/daemon'
import { type CID, messageOf } from '@shardswap/interface'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { examples } from '../examples.ts'
import { integer } from '../options.ts'
import type { Shell } from '../shell.ts'

/** What no run could accept is said before anything is done. */
function usage<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}

async function findProviders(context: Context, cid: CID, count: number | undefined): Promise<void> {
  const { signal, out, options } = context
  await context.withNode(async (node) => {
    for await (const found of node.routing.findProviders(cid, { count, signal })) {
      if (options.json === true) await out.json(providerShape(found))
      else await out.line(found.peer)
    }
  })
}

async function findPeer(context: Context, peer: string): Promise<void> {
  const { signal, out, options } = context
  const found = await context.withNode(async (node) => await node.routing.findPeer(peer, { signal }))
  if (options.json === true) return await out.json(foundPeerShape(found))
  for (const address of found.addresses) await out.line(address)
}

async function provide(context: Context, cids: readonly CID[], isRecursive: boolean): Promise<void> {
  const { signal } = context
  await context.withNode(async (node) => await node.routing.provide(cids, { isRecursive, signal }))
}

async function bootstrap(context: Context): Promise<void> {
  const { signal, out, options } = context
  const peers = await context.withNode(async (node) => await node.routing.bootstrap({ signal }))
  if (options.json === true) return await out.json({ Peers: peers })
  for (const peer of peers) await out.line(peer)
}

export function registerRouting(program: Command, shell: Shell): void {
  const routing = program.command('routing').description('Ask routers where blocks and peers are, and tell them of ours')
  examples(routing, [
    ['shardswap routing findprovs bafy…', 'who has a block'],
    ['shardswap routing provide bafy…', 'tell the DHT that we have it']
  ])
  const findprovs = routing
    .command('findprovs')
    .description('Print the ids of peers that have a block, as routers name them')
    .argument('<cid>')
    .option('-n, --num-providers <n>', 'so many are enough (default: 20)', integer(1, 1000))
  examples(findprovs, [
    ['shardswap routing findprovs bafy…', 'one id a line'],
    ['shardswap routing findprovs -n 1 --json bafy…', 'one, with its addresses']
  ]).action(async (text: string, flags: { numProviders?: number }, command: Command) => {
    await shell.run(
      command,
      async (context) =>
        await findProviders(
          context,
          usage(() => parseCid(text)),
          flags.numProviders
        )
    )
  })
  examples(routing.command('findpeer').description('Print the addresses of a peer').argument('<peer-id>'), [
    ['shardswap routing findpeer 12D3…', 'one address a line']
  ]).action(async (peer: string, _flags: unknown, command: Command) => {
    await shell.run(command, async (context) => {
      usage(() => checkPeerId(peer))
      await findPeer(context, peer)
    })
  })
  const provideCommand = routing
    .command('provide')
    .description('Tell routers that blocks of the repo are here')
    .argument('<cid...>')
    .option('-r, --recursive', 'and all blocks that they lead to')
  examples(provideCommand, [['shardswap routing provide -r bafy…', 'a whole file, block by block']]).action(
    async (texts: string[], flags: { recursive?: boolean }, command: Command) =>
      await shell.run(command, async (context) => {
        const cids = usage(() => texts.map(parseCid))
        await provide(context, cids, flags.recursive === true)
      })
  )
  const bootstrapCommand = program
    .command('bootstrap')
    .description('Look at the peers to begin with; "config set routing.bootstrap" changes them')
  examples(bootstrapCommand, [['shardswap bootstrap list', 'one multiaddr a line']])
  examples(bootstrapCommand.command('list').description('Print the peers to begin with'), [
    ['shardswap bootstrap list --json', 'for programs']
  ]).action(async (_flags: unknown, command: Command) => await shell.run(command, bootstrap))
}
