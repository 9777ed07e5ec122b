/** `id`, `version`, `shutdown`. */
import { idShape, version, versionShape } from '@shardswap/daemon'
import { repoVersion } from '@shardswap/repo'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { examples } from '../examples.ts'
import type { Shell } from '../shell.ts'

async function id(context: Context): Promise<void> {
  const { signal, out } = context
  const shape = idShape(await context.withNode(async (node) => await node.id({ signal })))
  await out.line(context.options.json === true ? JSON.stringify(shape) : JSON.stringify(shape, undefined, 2))
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
  examples(program.command('id').description("Print the node's identity and addresses, as JSON"), [
    ['shardswap id', 'peer id, addresses, protocols'],
    ["shardswap id --json | jq -r '.Addresses[0]'", 'an address to hand to somebody for --peer']
  ]).action(async (_flags: unknown, command: Command) => await shell.run(command, id))

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
