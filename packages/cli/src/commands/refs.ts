/** `refs` and `refs local`: links of a DAG, and what is in the repo. */
import { edgeFormat } from '@shardswap/daemon'
import type { Command } from 'commander'
import { dagPath } from '../arguments.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { examples } from '../examples.ts'
import { integer } from '../options.ts'
import type { Shell } from '../shell.ts'
import { printable } from '../terminal/format.ts'

interface RefsFlags {
  readonly format?: string
  readonly edges?: boolean
  readonly unique?: boolean
  readonly recursive?: boolean
  readonly maxDepth?: number
}

async function line(context: Context, text: string): Promise<void> {
  if (context.options.json === true) await context.out.json({ Ref: text, Err: '' })
  else await context.out.line(printable(text))
}

async function refs(context: Context, paths: readonly string[], flags: RefsFlags): Promise<void> {
  paths.forEach(dagPath)
  const { edges = false, format, ...which } = flags
  if (edges && format !== undefined) throw new UsageError('--edges and --format exclude each other')
  await context.withNode(async (node) => {
    const options = { ...which, ...context.fetch, format: edges ? edgeFormat : format }
    for await (const text of node.dag.refs(paths, options)) await line(context, text)
  })
}

async function local(context: Context): Promise<void> {
  await context.withNode(async (node) => {
    for await (const cid of node.dag.localRefs({ signal: context.signal })) await line(context, cid.toString())
  })
}

/** The greatest depth that an option may name; no DAG is walked as deep. */
const depthMax = 1_000_000

export function registerRefs(program: Command, shell: Shell): void {
  const command = program
    .command('refs')
    .description('Print the links of a node, or of all below it')
    .argument('<path...>', 'CID, CID/path or /ipfs/CID/path')
    .option('--format <text>', 'text of a line, with <src>, <dst> and <linkname> in it')
    .option('-e, --edges', 'print "<src> -> <dst>"')
    .option('-u, --unique', 'print each CID once')
    .option('-r, --recursive', 'go down to the leaves; all of it is fetched')
    .option('--max-depth <links>', 'with -r, go so many links down', integer(0, depthMax))
  examples(command, [
    ['shardswap refs bafy…', 'what a node links to'],
    ['shardswap refs -r -u bafy…', 'each block of a DAG once'],
    [`shardswap refs --format '<linkname> <dst>' bafy…`, 'with names']
  ]).action(
    async (paths: string[], flags: RefsFlags, command: Command) =>
      await shell.run(command, async (context) => await refs(context, paths, flags))
  )
  examples(command.command('local').description('Print every block of the repo, as a CIDv1 of the codec raw'), [
    ['shardswap refs local | wc -l', 'how many there are']
  ]).action(async (_flags: unknown, command: Command) => await shell.run(command, local))
}
