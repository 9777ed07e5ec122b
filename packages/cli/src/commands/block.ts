/** `block put|get|stat|rm`: blocks by themselves. */
import { bigBlockBytesMax, type BlockPutOptions, blockShape, removedShape } from '@shardswap/daemon'
import { blockBytesMax, readWhole, TooLargeError } from '@shardswap/interface'
import { type Command, Option } from 'commander'
import { cidArgument } from '../arguments.ts'
import type { Context } from '../context.ts'
import { NegativeAnswer } from '../errors.ts'
import { examples } from '../examples.ts'
import { codecName, hashName, integer } from '../options.ts'
import type { Shell } from '../shell.ts'
import { formatBytes } from '../terminal/format.ts'
import { readInput } from '../terminal/input.ts'

interface PutFlags {
  readonly cidCodec: string
  readonly mhtype: string
  readonly mhlen?: number
  readonly allowBigBlock?: boolean
  readonly pin?: boolean
}

async function readBlock(path: string, signal: AbortSignal): Promise<Uint8Array> {
  return await readWhole(readInput(path, signal), (bytes) => {
    if (bytes > bigBlockBytesMax)
      throw new TooLargeError(`a block is at most ${formatBytes(bigBlockBytesMax)}: add it as a file with "shardswap add"`)
  })
}

async function put(context: Context, paths: readonly string[], flags: PutFlags): Promise<void> {
  const { signal, out } = context
  const options: BlockPutOptions = {
    codec: flags.cidCodec,
    mhtype: flags.mhtype,
    ...(flags.mhlen === undefined ? {} : { mhlen: flags.mhlen }),
    allowBigBlock: flags.allowBigBlock === true,
    pin: flags.pin === true,
    signal
  }
  await context.withNode(async (node) => {
    for (const path of paths.length === 0 ? ['-'] : paths) {
      const stat = await node.blockPut(await readBlock(path, signal), options)
      if (stat.size > blockBytesMax)
        context.note(
          `Warning: other peers may refuse a block of ${formatBytes(stat.size)}: they must take ${formatBytes(blockBytesMax)} only`
        )
      if (context.options.json === true) await out.json(blockShape(stat))
      else await out.line(stat.cid.toString())
    }
  })
}

async function get(context: Context, text: string): Promise<void> {
  const cid = cidArgument(text)
  const { out } = context
  const bytes = await context.withNode(async (node) => await node.blockGet(cid, context.fetch))
  await out.write(bytes)
}

async function stat(context: Context, texts: readonly string[]): Promise<void> {
  const cids = texts.map(cidArgument)
  const { out } = context
  await context.withNode(async (node) => {
    for (const cid of cids) {
      const found = await node.blockStat(cid, context.fetch)
      if (context.options.json === true) await out.json(blockShape(found))
      else await out.line(`Key: ${found.cid.toString()}\nSize: ${found.size} bytes`)
    }
  })
}

async function rm(context: Context, texts: readonly string[], force: boolean): Promise<void> {
  const cids = texts.map(cidArgument)
  const { signal, out, options } = context
  let failed = false
  await context.withNode(async (node) => {
    for await (const removed of node.blockRm(cids, { signal, force })) {
      failed ||= removed.error !== undefined
      if (options.json === true) await out.json(removedShape(removed))
      else if (removed.error === undefined) await out.line(`removed ${removed.cid.toString()}`)
      else context.note(`Error: cannot remove ${removed.cid.toString()}: ${removed.error}`)
    }
  })
  if (failed) throw new NegativeAnswer('not all blocks were removed')
}

export function registerBlock(program: Command, shell: Shell): void {
  const block = program.command('block').description('Store, fetch and remove single blocks')
  examples(block, [
    ['shardswap block put data.bin', 'store a block and print its CID'],
    ['shardswap block get bafk… > data.bin', 'fetch a block'],
    ['shardswap block stat bafk…', 'its size']
  ])
  const putCommand = block
    .command('put')
    .description('Store files, or standard input, as one block each; print their CIDs')
    .argument('[file...]', 'files; "-" or none for standard input')
    .option('--cid-codec <name>', 'codec of the CID', codecName, 'raw')
    .option('--mhtype <name>', 'hash function', hashName, 'sha2-256')
    .option('--mhlen <bytes>', 'length of the digest', integer(1, 128))
    .option('--pin', 'keep the block, and what it links to, from garbage collection')
    .addOption(new Option('--no-pin').hideHelp())
    .option('--allow-big-block', 'store more than 2 MiB, which other peers may refuse to fetch')
  examples(putCommand, [
    ['shardswap block put data.bin', 'a raw block'],
    ["printf 'hello' | shardswap block put --mhtype blake3", 'from standard input'],
    ['shardswap block put --cid-codec dag-cbor node.cbor', 'with another codec']
  ]).action(
    async (paths: string[], flags: PutFlags, command: Command) =>
      await shell.run(command, async (context) => await put(context, paths, flags))
  )
  examples(block.command('get').description('Write the bytes of a block to standard output').argument('<cid>'), [
    ['shardswap block get bafk… > data.bin', 'save a block'],
    ['shardswap block get --offline bafk… | sha256sum', 'only if it is here']
  ]).action(async (cid: string, _flags: unknown, command: Command) => await shell.run(command, async (context) => await get(context, cid)))
  examples(block.command('stat').description('Print the CID and the size of blocks').argument('<cid...>'), [
    ['shardswap block stat bafk…', 'Key and Size'],
    ['shardswap block stat --json bafk…', 'for programs']
  ]).action(
    async (cids: string[], _flags: unknown, command: Command) => await shell.run(command, async (context) => await stat(context, cids))
  )
  const rmCommand = block
    .command('rm')
    .description('Remove blocks from the repo, unless a pin keeps them')
    .argument('<cid...>')
    .option('-f, --force', 'a block that is not there is no failure')
  examples(rmCommand, [['shardswap block rm bafk… bafk…', 'remove two blocks']]).action(
    async (cids: string[], flags: { force?: boolean }, command: Command) =>
      await shell.run(command, async (context) => await rm(context, cids, flags.force === true))
  )
}
