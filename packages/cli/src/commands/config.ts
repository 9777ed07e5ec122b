/** `config`: what a repo's nodes go by. */
import { configShape, type NodeConfig } from '@shardswap/daemon'
import { checkRepo, configFile, configKeys, configValueOf } from '@shardswap/repo'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { examples } from '../examples.ts'
import type { Shell } from '../shell.ts'
import { printable } from '../terminal/format.ts'

/** The daemon's config, or the file where none runs: then it can be mended too where it keeps the repo from being opened. */
async function configOf(context: Context): Promise<{ config: NodeConfig; isRunning: boolean }> {
  const daemon = await context.findDaemon()
  if (daemon !== undefined) return { config: daemon.config, isRunning: true }
  await checkRepo(context.repoPath)
  return { config: configFile(context.repoPath), isRunning: false }
}

async function show(context: Context): Promise<void> {
  const { config } = await configOf(context)
  const shown = await config.show()
  await context.out.line(context.options.json === true ? JSON.stringify(shown) : JSON.stringify(shown, undefined, 2))
}

async function get(context: Context, key: string): Promise<void> {
  const { config } = await configOf(context)
  const value = await config.get(key)
  if (context.options.json === true) return await context.out.json(configShape(key, value))
  if (value !== undefined) await context.out.line(typeof value === 'string' ? printable(value) : JSON.stringify(value, undefined, 2))
}

async function change(context: Context, key: string, value: unknown): Promise<void> {
  const { config, isRunning } = await configOf(context)
  await config.set(key, value)
  if (context.options.json === true) await context.out.json(configShape(key, await config.get(key)))
  if (isRunning) context.note('The daemon goes by it from its next start on')
}

/** Kubo's form: a key alone is read, one with a value is set. */
async function either(context: Context, key: string | undefined, words: readonly string[]): Promise<void> {
  if (key === undefined) throw new UsageError('name a key, or one of "show", "get", "set" and "unset"')
  if (words.length === 0) await get(context, key)
  else await change(context, key, configValueOf(key, words))
}

export function registerConfig(program: Command, shell: Shell): void {
  const config = program
    .command('config')
    .description('Show or change what the nodes of this repo go by')
    .argument('[key]', 'e.g. serve.cap')
    .argument('[value...]', 'what to set it to')
    .addHelpText('after', `\nKeys: ${configKeys.join(', ')}. docs/config.md tells what they are for.`)
  examples(config, [
    ['shardswap config show', 'all that is in effect'],
    ['shardswap config serve.cap', "Kubo's form of get"],
    ['shardswap config serve.cap 64', "Kubo's form of set"]
  ]).action(
    async (key: string | undefined, words: readonly string[], _flags: unknown, command: Command) =>
      await shell.run(command, async (context) => await either(context, key, words))
  )
  examples(config.command('show').description('Print all keys, those left out of the file with their defaults'), [
    ['shardswap config show', 'as JSON']
  ]).action(async (_flags: unknown, command: Command) => await shell.run(command, show))
  examples(config.command('get').description('Print one key, or all of a section').argument('<key>'), [
    ['shardswap config get addresses.swarm', 'where the daemon listens'],
    ['shardswap config get serve', 'a whole section']
  ]).action(async (key: string, _flags: unknown, command: Command) => await shell.run(command, async (context) => await get(context, key)))
  const set = config
    .command('set')
    .description('Change one key; a list takes one word for each entry')
    .argument('<key>')
    .argument('<value...>')
  examples(set, [
    ['shardswap config set serve.cap 64', 'a number'],
    ['shardswap config set addresses.swarm /ip4/0.0.0.0/tcp/4001 /ip6/::/tcp/4001', 'a list'],
    ["shardswap config set routing.bootstrap '[]'", 'an empty list']
  ]).action(
    async (key: string, words: readonly string[], _flags: unknown, command: Command) =>
      await shell.run(command, async (context) => await change(context, key, configValueOf(key, words)))
  )
  examples(config.command('unset').description('Take one key out of the file, so that it has its default').argument('<key>'), [
    ['shardswap config unset serve.freeScore', 'it follows serve.cap again']
  ]).action(
    async (key: string, _flags: unknown, command: Command) => await shell.run(command, async (context) => await change(context, key, null))
  )
}
