/** `dag get|put|resolve|stat`: single nodes, paths and sizes. */
import type { DagSizes } from '@shardswap/content'
import { nodeCodecNames } from '@shardswap/content/disk'
import { bigBlockBytesMax, dagSizesShape, placeShape } from '@shardswap/daemon'
import { readWhole, TooLargeError } from '@shardswap/interface'
import { type Command, InvalidArgumentError } from 'commander'
import { dagPath } from '../arguments.ts'
import type { Context } from '../context.ts'
import { examples } from '../examples.ts'
import { hashName } from '../options.ts'
import type { Shell } from '../shell.ts'
import { formatBytes } from '../terminal/format.ts'
import { readInput } from '../terminal/input.ts'
import { Progress } from '../terminal/progress.ts'

function nodeCodec(text: string): string {
  if (nodeCodecNames().some((name) => name === text)) return text
  throw new InvalidArgumentError(`Give one of ${nodeCodecNames().join(', ')}.`)
}

interface PutFlags {
  readonly storeCodec: string
  readonly inputCodec: string
  readonly hash?: string
  readonly allowBigBlock?: boolean
  readonly pin?: boolean
}

async function get(context: Context, path: string, outputCodec: string): Promise<void> {
  dagPath(path)
  await context.out.write(await context.withNode(async (node) => await node.dag.get(path, { ...context.fetch, outputCodec })))
}

async function put(context: Context, paths: readonly string[], flags: PutFlags): Promise<void> {
  const { signal, out, options } = context
  await context.withNode(async (node) => {
    for (const path of paths.length === 0 ? ['-'] : paths) {
      const bytes = await readWhole(readInput(path, signal), (length) => {
        if (length > bigBlockBytesMax) throw new TooLargeError(`a node is at most ${formatBytes(bigBlockBytesMax)}`)
      })
      const cid = await node.dag.put(bytes, { ...flags, signal })
      if (options.json === true) await out.json({ Cid: { '/': cid.toString() } })
      else await out.line(cid.toString())
    }
  })
}

async function resolve(context: Context, path: string): Promise<void> {
  dagPath(path)
  const place = await context.withNode(async (node) => await node.dag.resolve(path, context.fetch))
  if (context.options.json === true) await context.out.json(placeShape(place))
  else await context.out.line(`${place.cid.toString()}${place.rest}`)
}

async function stat(context: Context, paths: readonly string[]): Promise<void> {
  paths.forEach(dagPath)
  const progress = new Progress('stat')
  let sizes: DagSizes
  try {
    sizes = await context.withNode(async (node) => {
      const onProgress = process.stderr.isTTY ? (seen: DagSizes): void => progress.set(seen.bytes) : undefined
      return await node.dag.stat(paths, { ...context.fetch, onProgress })
    })
  } finally {
    progress.end()
  }
  const { out } = context
  const shape = dagSizesShape(sizes)
  if (context.options.json === true) return await out.json(shape)
  await out.line(`${'CID'.padEnd(46)}\t${'Blocks'.padEnd(15)}\tSize`)
  for (const { root, blocks, bytes } of sizes.dags) await out.line(`${root.toString().padEnd(46)}\t${String(blocks).padEnd(15)}\t${bytes}`)
  const { SharedSize: shared = 0, Ratio: ratio = 0 } = shape
  await out.line(`\nSummary\nTotal Size: ${sizes.bytes} (${formatBytes(sizes.bytes)})\nUnique Blocks: ${sizes.blocks}`)
  await out.line(`Shared Size: ${shared} (${formatBytes(shared)})\nRatio: ${ratio.toFixed(6)}`)
}

export function registerDagNode(dag: Command, shell: Shell): void {
  const getCommand = dag
    .command('get')
    .description('Print the node that a path leads to, or a value within it')
    .argument('<path>', 'CID, CID/path, /ipfs/CID/path, or /ipld/CID/path by the fields of dag-pb')
    .option('--output-codec <name>', 'codec to print it in', nodeCodec, 'dag-json')
  examples(getCommand, [
    ['shardswap dag get bafy…/a/b', 'a value, as dag-json'],
    ['shardswap dag get --output-codec dag-cbor bafy… > node.cbor', 'the node in another codec']
  ]).action(
    async (path: string, flags: { outputCodec: string }, command: Command) =>
      await shell.run(command, async (context) => await get(context, path, flags.outputCodec))
  )
  const putCommand = dag
    .command('put')
    .description('Store files, or standard input, as one node each; print their CIDs')
    .argument('[file...]', 'files; "-" or none for standard input')
    .option('--store-codec <name>', 'codec to store in', nodeCodec, 'dag-cbor')
    .option('--input-codec <name>', 'codec of the input', nodeCodec, 'dag-json')
    .option('--hash <name>', 'hash function (default: sha2-256)', hashName)
    .option('--allow-big-block', 'store more than 2 MiB, which other peers may refuse to fetch')
    .option('--pin', 'pin it, so that no garbage collection removes it')
  examples(putCommand, [
    [`echo '{"next":{"/":"bafy…"}}' | shardswap dag put`, 'a node with a link, stored as dag-cbor'],
    ['shardswap dag put --input-codec dag-cbor node.cbor', 'a node that is encoded already']
  ]).action(
    async (paths: string[], flags: PutFlags, command: Command) =>
      await shell.run(command, async (context) => await put(context, paths, flags))
  )
  examples(
    dag.command('resolve').description('Print the CID of the block that a path leads to, and what of the path is left').argument('<path>'),
    [['shardswap dag resolve bafy…/docs/readme.txt', 'the CID of a file in a directory']]
  ).action(
    async (path: string, _flags: unknown, command: Command) => await shell.run(command, async (context) => await resolve(context, path))
  )
  examples(dag.command('stat').description('Read DAGs whole; print how many blocks and bytes they have').argument('<path...>'), [
    ['shardswap dag stat bafy…', 'blocks and bytes'],
    ['shardswap dag stat bafy… bafk…', 'of several, and what they share']
  ]).action(
    async (paths: string[], _flags: unknown, command: Command) => await shell.run(command, async (context) => await stat(context, paths))
  )
}
