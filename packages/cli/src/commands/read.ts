/** `cat` and `ls`. */
import { linkShape } from '@shardswap/daemon'
import type { Command } from 'commander'
import { contentPath } from '../arguments.ts'
import type { Context } from '../context.ts'
import { examples } from '../examples.ts'
import { integer } from '../options.ts'
import type { Shell } from '../shell.ts'
import { printable } from '../terminal/format.ts'
import { Progress } from '../terminal/progress.ts'

interface Range {
  readonly offset?: number
  readonly length?: number
}

async function cat(context: Context, paths: readonly string[], range: Range): Promise<void> {
  paths.forEach(contentPath)
  const { out } = context
  await context.withNode(async (node) => {
    for (const path of paths) {
      // On a terminal the file itself is what is to be seen.
      const progress = new Progress('cat', undefined, process.stderr.isTTY && !process.stdout.isTTY)
      const onSize = (bytes: bigint): void => progress.expect(Number(bytes))
      try {
        for await (const bytes of node.cat(path, { ...context.fetch, ...range, onSize })) {
          progress.add(bytes.byteLength)
          await out.write(bytes)
        }
      } finally {
        progress.end()
      }
    }
  })
}

interface ListFlags {
  readonly size: boolean
  readonly resolveType: boolean
}

async function ls(context: Context, paths: readonly string[], { size, resolveType }: ListFlags): Promise<void> {
  paths.forEach(contentPath)
  const { out, options } = context
  const several = paths.length > 1
  await context.withNode(async (node) => {
    const objects = []
    for (const path of paths) {
      const links = []
      if (several && options.json !== true) await out.line(`${printable(path)}:`)
      for await (const entry of node.ls(path, { ...context.fetch, namesOnly: !size && !resolveType })) {
        if (options.json === true) {
          links.push(linkShape(entry))
          continue
        }
        const folder = entry.type === 'directory'
        const bytes = size ? `${folder ? '-' : entry.size} ` : ''
        await out.line(`${entry.cid.toString()} ${bytes}${printable(entry.name)}${folder ? '/' : ''}`)
      }
      if (several && options.json !== true) await out.line('')
      objects.push({ Hash: path, Links: links })
    }
    if (options.json === true) await out.json({ Objects: objects })
  })
}

export function registerRead(program: Command, shell: Shell): void {
  const catCommand = program
    .command('cat')
    .description('Write the content of files to standard output')
    .argument('<path...>', 'CID, CID/path or /ipfs/CID/path')
    .option('-o, --offset <bytes>', 'begin here', integer(0, Number.MAX_SAFE_INTEGER))
    .option('-l, --length <bytes>', 'end after so many bytes', integer(0, Number.MAX_SAFE_INTEGER))
  examples(catCommand, [
    ['shardswap cat bafy…/readme.txt', 'a file in a directory'],
    ['shardswap cat --offset 1000 --length 24 /ipfs/bafy…', 'a part of a file'],
    ['shardswap cat --peer /ip4/192.0.2.1/tcp/4001/p2p/12D3… bafy… | less', 'from this peer, to a pager'],
    ['shardswap cat --timeout 10s bafy…', 'fail after ten seconds']
  ]).action(
    async (paths: string[], flags: Range, command: Command) =>
      await shell.run(command, async (context) => {
        const range = {
          ...(flags.offset === undefined ? {} : { offset: flags.offset }),
          ...(flags.length === undefined ? {} : { length: flags.length })
        }
        await cat(context, paths, range)
      })
  )

  const lsCommand = program
    .command('ls')
    .description('List a directory: CID, size in bytes, name')
    .argument('<path...>', 'CID, CID/path or /ipfs/CID/path')
    .option('--no-size', 'without sizes')
    .option('--no-resolve-type', 'with --no-size: names and CIDs alone, for which no entry is fetched')
  examples(lsCommand, [
    ['shardswap ls bafy…', 'CID size name, one a line; directories end in /'],
    ['shardswap ls --size=false --resolve-type=false bafy…', 'names of a large directory, without fetching what is in it'],
    ['shardswap ls --json /ipfs/bafy…/docs', 'with type, mode and time']
  ]).action(
    async (paths: string[], flags: ListFlags, command: Command) =>
      await shell.run(command, async (context) => await ls(context, paths, flags))
  )
}
