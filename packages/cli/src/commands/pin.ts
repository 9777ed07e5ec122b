/** `pin add|ls|rm|update|verify`: what the repo keeps. */
import { pinCheckShape, pinEntryShape, pinsShape, pinTypeText, type PinType } from '@shardswap/daemon'
import { type Command, Option } from 'commander'
import { contentPath } from '../arguments.ts'
import type { Context } from '../context.ts'
import { NegativeAnswer, UsageError } from '../errors.ts'
import { examples } from '../examples.ts'
import { someText } from '../options.ts'
import type { Shell } from '../shell.ts'
import { printable } from '../terminal/format.ts'
import { Progress } from '../terminal/progress.ts'

interface AddFlags {
  readonly recursive?: boolean
  readonly name?: string
  readonly progress?: boolean
}

async function add(context: Context, paths: readonly string[], flags: AddFlags): Promise<void> {
  paths.forEach(contentPath)
  const { out, options } = context
  const isRecursive = flags.recursive !== false
  const progress = new Progress('pin', undefined, flags.progress === true || process.stderr.isTTY)
  const onProgress = (blocks: number, bytes: number): void => progress.set(bytes, `${blocks} blocks`)
  try {
    const pins = await context.withNode(async (node) => {
      return await node.pins.add(paths, { ...context.fetch, isRecursive, name: flags.name, onProgress })
    })
    progress.end()
    if (options.json === true) return await out.json(pinsShape(pins))
    for (const cid of pins) await out.line(`pinned ${cid.toString()} ${isRecursive ? 'recursively' : 'directly'}`)
  } finally {
    progress.end()
  }
}

interface ListFlags {
  readonly type: PinType | 'all'
  readonly quiet?: boolean
  readonly names?: boolean
  readonly name?: string
}

async function ls(context: Context, paths: readonly string[], flags: ListFlags): Promise<void> {
  paths.forEach(contentPath)
  const { signal, out, options } = context
  const withNames = flags.names === true || flags.name !== undefined
  await context.withNode(async (node) => {
    for await (const entry of node.pins.ls({ type: flags.type, name: flags.name, paths, signal })) {
      if (options.json === true) await out.json(pinEntryShape(entry, withNames))
      else if (flags.quiet === true) await out.line(entry.cid.toString())
      else await out.line(`${entry.cid.toString()} ${pinTypeText(entry)}${withNames ? ` ${printable(entry.name ?? '')}` : ''}`.trimEnd())
    }
  })
}

async function rm(context: Context, paths: readonly string[], isRecursive: boolean): Promise<void> {
  paths.forEach(contentPath)
  const { out, options } = context
  const pins = await context.withNode(async (node) => await node.pins.rm(paths, { ...context.fetch, isRecursive }))
  if (options.json === true) return await out.json(pinsShape(pins))
  for (const cid of pins) await out.line(`unpinned ${cid.toString()}`)
}

async function update(context: Context, from: string, to: string, unpin: boolean): Promise<void> {
  for (const path of [from, to]) contentPath(path)
  const { out, options } = context
  const pins = await context.withNode(async (node) => await node.pins.update(from, to, { ...context.fetch, unpin }))
  if (options.json === true) return await out.json(pinsShape(pins))
  await out.line(`updated ${pins[0].toString()} to ${pins[1].toString()}`)
}

interface VerifyFlags {
  readonly verbose?: boolean
  readonly quiet?: boolean
}

async function verify(context: Context, { verbose, quiet }: VerifyFlags): Promise<void> {
  if (verbose === true && quiet === true) throw new UsageError('the --verbose and --quiet options can not be used at the same time')
  const { signal, out, options } = context
  let broken = 0
  await context.withNode(async (node) => {
    for await (const check of node.pins.verify({ signal })) {
      const isBroken = check.bad.length > 0
      if (isBroken) broken++
      else if (verbose !== true) continue
      if (options.json === true) await out.json(pinCheckShape(check))
      else if (quiet === true) await out.line(check.cid.toString())
      else await out.line(`${check.cid.toString()} ${isBroken ? 'broken' : 'ok'}`)
      if (options.json === true || quiet === true) continue
      for (const { cid, reason } of check.bad) await out.line(`  ${cid.toString()}: ${printable(reason)}`)
    }
  })
  if (broken > 0) throw new NegativeAnswer('broken pins')
}

function registerAdd(pin: Command, shell: Shell): void {
  const command = pin
    .command('add')
    .description('Fetch what is missing of these and keep it from garbage collection')
    .argument('<path...>', 'CID, CID/path or /ipfs/CID/path')
    .option('-r, --recursive', 'keep all that they lead to (the default)')
    .option('--no-recursive', 'keep the block alone')
    .option('-n, --name <name>', 'name of the pins, shown by "pin ls --names"', someText)
    .option('--progress', 'show progress, also where standard error is no terminal')
  examples(command, [
    ['shardswap pin add bafy…', 'keep a file or a folder'],
    ['shardswap pin add --name holidays bafy…', 'under a name'],
    ['shardswap pin add --peer /ip4/192.0.2.1/tcp/4001/p2p/12D3… bafy…', 'fetched from a peer']
  ]).action(
    async (paths: string[], flags: AddFlags, command: Command) =>
      await shell.run(command, async (context) => await add(context, paths, flags))
  )
}

function registerLs(pin: Command, shell: Shell): void {
  const command = pin
    .command('ls')
    .description('Print what is kept, and how: "CID type"')
    .argument('[path...]', 'these alone; fails where one is not kept')
    .addOption(new Option('-t, --type <type>', 'which ones').choices(['direct', 'indirect', 'recursive', 'all']).default('all'))
    .option('-q, --quiet', 'print CIDs only')
    .option('-n, --name <text>', 'those alone whose names contain this', someText)
    .option('--names', 'print names too')
    .option('-s, --stream', 'as Kubo has it: they are always printed as they are found')
  examples(command, [
    ['shardswap pin ls --type recursive --names', 'what was pinned'],
    ['shardswap pin ls bafy…', 'whether something is kept, and through what'],
    ['shardswap pin ls -q', 'every CID that is kept']
  ]).action(
    async (paths: string[], flags: ListFlags, command: Command) =>
      await shell.run(command, async (context) => await ls(context, paths, flags))
  )
}

function registerChanges(pin: Command, shell: Shell): void {
  const rmCommand = pin
    .command('rm')
    .description('Keep these no longer; the next garbage collection may take them')
    .argument('<path...>')
    .option('-r, --recursive', 'recursive pins too (the default)')
    .option('--no-recursive', 'direct pins alone')
  examples(rmCommand, [
    ['shardswap pin rm bafy…', 'keep it no longer'],
    ['shardswap repo gc', 'remove what is not kept']
  ]).action(
    async (paths: string[], flags: { recursive?: boolean }, command: Command) =>
      await shell.run(command, async (context) => await rm(context, paths, flags.recursive !== false))
  )
  const updateCommand = pin
    .command('update')
    .description('Keep a new version in place of an old one, under the same name')
    .argument('<from>')
    .argument('<to>')
    .option('--unpin', 'keep the old one no longer (the default)')
    .option('--no-unpin', 'keep the old one too')
  examples(updateCommand, [['shardswap pin update bafy…old bafy…new', 'keep the new one']]).action(
    async (from: string, to: string, flags: { unpin?: boolean }, command: Command) =>
      await shell.run(command, async (context) => await update(context, from, to, flags.unpin !== false))
  )
}

export function registerPin(program: Command, shell: Shell): void {
  const pin = program.command('pin').description('Say what is kept from garbage collection')
  examples(pin, [
    ['shardswap pin add bafy…', 'keep it, fetched where it is missing'],
    ['shardswap pin ls --type recursive', 'what is kept'],
    ['shardswap pin rm bafy…', 'keep it no longer']
  ])
  registerAdd(pin, shell)
  registerLs(pin, shell)
  registerChanges(pin, shell)
  const verifyCommand = pin
    .command('verify')
    .description('Check that all that recursive pins lead to is here; exit code 1 where something is missing')
    .option('--verbose', 'print whole pins too')
    .option('-q, --quiet', 'print CIDs of broken pins only')
  examples(verifyCommand, [['shardswap pin verify', 'print the broken pins and what they lack']]).action(
    async (flags: VerifyFlags, command: Command) => await shell.run(command, async (context) => await verify(context, flags))
  )
}
