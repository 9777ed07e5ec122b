/** `id`, `version`, `shutdown`. */
import { type IdShape, idShape, version, versionShape } from '@shardswap/daemon'
import { repoVersion } from '@shardswap/repo'
import type { Command } from 'commander'
import { peerArgument } from '../arguments.ts'
import type { Context } from '../context.ts'
import { examples } from '../examples.ts'
import type { Shell } from '../shell.ts'
import { printable } from '../terminal/format.ts'

/** The protocol version that Bitswap peers tell each other by identify. */
const protocolVersion = 'ipfs/0.1.0'

function formatted(shape: IdShape, format: string): string {
  const parts: Record<string, string> = {
    // Another peer may call itself anything.
    '<id>': shape.ID,
    '<aver>': printable(shape.AgentVersion),
    '<pver>': protocolVersion,
    '<pubkey>': shape.PublicKey,
    '<addrs>': shape.Addresses.map(printable).join('\n'),
    '<protocols>': shape.Protocols.map(printable).join('\n'),
    '\\n': '\n',
    '\\t': '\t'
  }
  return format.replace(/<[a-z]+>|\\[nt]/g, (token) => parts[token] ?? token)
}

async function id(context: Context, peer: string | undefined, format: string | undefined): Promise<void> {
  if (peer !== undefined) peerArgument(peer)
  const { signal, out, options } = context
  const shape = idShape(
    await context.withNode(async (node) => (peer === undefined ? await node.id({ signal }) : await node.swarm.identity(peer, { signal })))
  )
  if (options.json === true) return await out.json(shape)
  await out.write(format === undefined ? `${JSON.stringify(shape, undefined, 2)}\n` : formatted(shape, format))
}

async function printVersion(context: Context, flags: { number?: boolean; all?: boolean }): Promise<void> {
  const system = `${process.arch}/${process.platform}`
  const { out } = context
  if (context.options.json === true) {
    const own = { version, repoVersion, system, runtime: process.version }
    return await out.json(versionShape(own, context.repoPath))
  }
  if (flags.number === true) return await out.line(version)
  await out.line(`shardswap version ${version}`)
  if (flags.all === true) await out.line(`Repo version: ${repoVersion}\nSystem version: ${system}\nNode.js version: ${process.version}`)
}

async function shutdown(context: Context): Promise<void> {
  const daemon = await context.findDaemon()
  if (daemon === undefined) throw new Error(`no daemon serves the repo at ${context.repoPath}: there is nothing to stop`)
  await daemon.shutdown({ signal: context.signal })
}

export function registerNode(program: Command, shell: Shell): void {
  const idCommand = program
    .command('id')
    .description("Print the node's identity and addresses, or those of a connected peer, as JSON")
    .argument('[peer]', 'id of a connected peer')
    .option('-f, --format <text>', 'print this instead, with <id>, <aver>, <pver>, <pubkey>, <addrs> and <protocols> in it')
  examples(idCommand, [
    ['shardswap id', 'peer id, addresses, protocols'],
    ["shardswap id -f '<addrs>\\n'", 'addresses to hand to somebody for --peer'],
    ['shardswap id 12D3…', 'what a connected peer says of itself']
  ]).action(
    async (peer: string | undefined, flags: { format?: string }, command: Command) =>
      await shell.run(command, async (context) => await id(context, peer, flags.format))
  )

  const versionCommand = program
    .command('version')
    .description('Print the version')
    .option('-n, --number', 'print the number alone')
    .option('--all', 'print the versions of the repo, the system and Node.js too')
  examples(versionCommand, [
    ['shardswap version', 'shardswap version 0.1.0'],
    ['shardswap version -n', '0.1.0']
  ]).action(
    async (flags: { number?: boolean; all?: boolean }, command: Command) =>
      await shell.run(command, async (context) => await printVersion(context, flags))
  )

  examples(program.command('shutdown').description('Stop the daemon of this repo'), [
    ['shardswap shutdown', 'as Ctrl-C where it runs']
  ]).action(async (_flags: unknown, command: Command) => await shell.run(command, shutdown))
}
