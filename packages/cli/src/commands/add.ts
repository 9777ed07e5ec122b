/** `add`: files, folders and standard input become UnixFS. */
import { lstat } from 'node:fs/promises'
import type { AddedEntry, AddSource } from '@shardswap/content'
import { walkFiles } from '@shardswap/content/disk'
import { addedShape, type NodeAddOptions } from '@shardswap/daemon'
import { type Command, Option } from 'commander'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { examples } from '../examples.ts'
import { chunkerName, hashName, integer, someText } from '../options.ts'
import type { Shell } from '../shell.ts'
import { printable } from '../terminal/format.ts'
import { readInput } from '../terminal/input.ts'
import { Progress } from '../terminal/progress.ts'

interface AddFlags {
  readonly recursive?: boolean
  readonly hidden?: boolean
  readonly quiet?: boolean
  readonly quieter?: boolean
  readonly onlyHash?: boolean
  readonly wrapWithDirectory?: boolean
  readonly stdinName?: string
  readonly chunker?: string
  readonly cidVersion?: 0 | 1
  readonly rawLeaves?: boolean
  readonly trickle?: boolean
  readonly hash?: string
  readonly pin?: boolean
  readonly pinName?: string
  readonly preserveMode?: boolean
  readonly preserveMtime?: boolean
}

function optionsOf(flags: AddFlags): NodeAddOptions {
  const { chunker, cidVersion, rawLeaves, hash } = flags
  if (cidVersion === 0 && hash !== undefined && hash !== 'sha2-256') throw new UsageError(`--hash ${hash} needs CID version 1`)
  if (flags.pin === false && flags.pinName !== undefined) throw new UsageError('--pin-name and --no-pin exclude each other')
  return {
    ...(chunker === undefined ? {} : { chunker }),
    ...(cidVersion === undefined ? {} : { cidVersion }),
    ...(rawLeaves === undefined ? {} : { rawLeaves }),
    ...(hash === undefined ? {} : { hash }),
    trickle: flags.trickle === true,
    wrapWithDirectory: flags.wrapWithDirectory === true,
    onlyHash: flags.onlyHash === true,
    pin: flags.pin !== false,
    ...(flags.pinName === undefined ? {} : { pinName: flags.pinName })
  }
}

function sourcesOf(paths: readonly string[], flags: AddFlags, context: Context): AsyncIterable<AddSource> | Iterable<AddSource> {
  if (paths.length === 0 || (paths.length === 1 && paths[0] === '-')) {
    if (process.stdin.isTTY) context.note('Reading from standard input; Ctrl-D ends it.')
    return [{ path: flags.stdinName ?? '', content: readInput('-', context.signal) }]
  }
  return walkFiles(paths, {
    signal: context.signal,
    recursive: flags.recursive === true,
    hidden: flags.hidden === true,
    preserveMode: flags.preserveMode === true,
    preserveMtime: flags.preserveMtime === true
  })
}

/** Bytes to read, where all paths are files; a folder's total is not known before it is read. */
async function totalOf(paths: readonly string[]): Promise<number | undefined> {
  let total = 0
  for (const path of paths) {
    const found = await lstat(path).catch(() => undefined)
    if (found?.isFile() !== true) return undefined
    total += found.size
  }
  return paths.length === 0 ? undefined : total
}

async function print(context: Context, entry: AddedEntry, flags: AddFlags): Promise<void> {
  if (context.options.json === true) await context.out.json(addedShape(entry))
  else if (flags.quiet === true) await context.out.line(entry.cid.toString())
  else await context.out.line(`added ${entry.cid.toString()} ${printable(entry.path)}`.trimEnd())
}

async function add(context: Context, paths: readonly string[], flags: AddFlags): Promise<void> {
  const { signal, out } = context
  const options = optionsOf(flags)
  const progress = new Progress('add', await totalOf(paths))
  let last: AddedEntry | undefined
  try {
    await context.withNode(async (node) => {
      const sources = sourcesOf(paths, flags, context)
      for await (const entry of node.add(sources, { ...options, signal, onProgress: (bytes) => progress.set(bytes) })) {
        last = entry
        if (flags.quieter === true) continue
        progress.end()
        await print(context, entry, flags)
      }
    })
  } finally {
    progress.end()
  }
  if (flags.quieter !== true || last === undefined) return
  if (context.options.json === true) await out.json(addedShape(last))
  else await out.line(last.cid.toString())
}

export function registerAdd(program: Command, shell: Shell): void {
  const command = program
    .command('add')
    .description('Add files and folders to the repo and print their CIDs: "added CID name"')
    .argument('[path...]', 'files and folders; "-" or none for standard input')
    .option('-r, --recursive', 'add folders with all that is in them')
    .addOption(new Option('--no-recursive').hideHelp())
    .option('-q, --quiet', 'print CIDs only')
    .option('-Q, --quieter', 'print the last CID only')
    .option('-n, --only-hash', 'print CIDs and store nothing')
    .option('-w, --wrap-with-directory', 'put all into a directory, which keeps the names')
    .option('-H, --hidden', 'take hidden files within folders too')
    .option('-s, --chunker <size-N>', 'cut files into chunks of N bytes', chunkerName)
    .addOption(new Option('--cid-version <version>', '0 or 1').argParser(integer(0, 1)))
    .option('--raw-leaves', 'leaves are raw blocks (the default with CID version 1)')
    .option('--no-raw-leaves', 'leaves are UnixFS blocks')
    .option('-t, --trickle', 'the trickle layout, for streams')
    .option('--hash <name>', 'hash function; any but sha2-256 means CID version 1', hashName)
    .option('--pin', 'keep what is added from garbage collection (the default)')
    .option('--no-pin', 'let the next garbage collection take it')
    .option('--pin-name <name>', 'name of the pin', someText)
    .option('--preserve-mode', 'store permission bits')
    .option('--preserve-mtime', 'store modification times')
    .option('--stdin-name <name>', 'name of standard input')
  examples(command, [
    ['shardswap add photo.jpg', 'added Qm… photo.jpg'],
    ['shardswap add -r --cid-version 1 photos', 'a folder'],
    ['shardswap add -Q -w report.pdf', 'one CID, below which the name is kept'],
    ['tar c src | shardswap add --chunker size-1048576', 'standard input, in chunks of 1 MiB'],
    ['shardswap add --only-hash big.iso', 'what the CID would be']
  ]).action(
    async (paths: string[], flags: AddFlags, command: Command) =>
      await shell.run(command, async (context) => await add(context, paths, flags))
  )
}
