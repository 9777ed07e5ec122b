/** `dag`: CAR archives here, single nodes in dag-node.ts. */
import { stat } from 'node:fs/promises'
import { importShapes } from '@shardswap/daemon'
import type { Command } from 'commander'
import { contentPath } from '../arguments.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { examples } from '../examples.ts'
import type { Shell } from '../shell.ts'
import { formatBytes } from '../terminal/format.ts'
import { readInput } from '../terminal/input.ts'
import { Progress } from '../terminal/progress.ts'
import { registerDagNode } from './dag-node.ts'

async function* readArchive(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const total = path === '-' ? undefined : (await stat(path)).size
  const progress = new Progress('import', total)
  try {
    for await (const bytes of readInput(path, signal)) {
      progress.add(bytes.byteLength)
      yield bytes
    }
  } finally {
    progress.end()
  }
}

async function importArchives(context: Context, paths: readonly string[], pinRoots: boolean): Promise<void> {
  const { signal, out, options } = context
  await context.withNode(async (node) => {
    for (const path of paths.length === 0 ? ['-'] : paths) {
      const result = await node.dagImport(readArchive(path, signal), { signal, pinRoots })
      for (const cid of result.missingRoots) {
        context.note(`Warning: the root ${cid.toString()} is neither in the archive nor in the repo; reading it will need peers`)
      }
      for (const { cid, reason } of result.unpinned) {
        context.note(`Warning: the root ${cid.toString()} is not pinned, so the next garbage collection takes its blocks: ${reason}`)
      }
      if (options.json === true) {
        for (const line of importShapes(result)) await out.json(line)
        continue
      }
      const unpinned = new Set(result.unpinned.map(({ cid }) => cid.toString()))
      for (const root of result.roots.map(String)) {
        await out.line(pinRoots && !unpinned.has(root) ? `Pinned root\t${root}\tsuccess` : `Imported root\t${root}`)
      }
      await out.line(`Imported ${result.blocks} blocks (${result.bytes} bytes, ${formatBytes(result.bytes)})`)
    }
  })
}

async function exportArchive(context: Context, path: string): Promise<void> {
  contentPath(path)
  if (process.stdout.isTTY) throw new UsageError('an archive is no text for a terminal: write it to a file with "> archive.car"')
  const { out } = context
  const progress = new Progress('export')
  try {
    await context.withNode(async (node) => {
      for await (const bytes of node.dagExport(path, context.fetch)) {
        progress.add(bytes.byteLength)
        await out.write(bytes)
      }
    })
  } finally {
    progress.end()
  }
}

export function registerDag(program: Command, shell: Shell): void {
  const dag = program.command('dag').description('Nodes of any codec, and whole DAGs as CAR archives')
  examples(dag, [
    ['shardswap dag import archive.car', 'store the blocks of an archive'],
    ['shardswap dag export bafy… > archive.car', 'all that a CID links to, as an archive'],
    ['shardswap dag get bafy…', 'a node, as JSON']
  ])
  registerDagNode(dag, shell)
  const importCommand = dag
    .command('import')
    .description('Store the blocks of CAR archives (version 1 or 2), each one verified; pin and print their roots')
    .argument('[file...]', 'archives; "-" or none for standard input')
    .option('--pin-roots', 'keep what the roots lead to, which must be here (the default)')
    .option('--no-pin-roots', 'let the next garbage collection take the blocks')
  examples(importCommand, [
    ['shardswap dag import archive.car', 'from a file'],
    ['ipfs dag export bafy… | shardswap dag import', 'from Kubo']
  ]).action(
    async (paths: string[], flags: { pinRoots?: boolean }, command: Command) =>
      await shell.run(command, async (context) => await importArchives(context, paths, flags.pinRoots !== false))
  )
  examples(
    dag
      .command('export')
      .description('Write all blocks of a DAG to standard output, as a CAR archive (version 1)')
      .argument('<path>', 'CID, CID/path or /ipfs/CID/path'),
    [
      ['shardswap dag export bafy… > archive.car', 'to a file'],
      ['shardswap dag export bafy… | ipfs dag import', 'to Kubo']
    ]
  ).action(
    async (path: string, _flags: unknown, command: Command) =>
      await shell.run(command, async (context) => await exportArchive(context, path))
  )
}
