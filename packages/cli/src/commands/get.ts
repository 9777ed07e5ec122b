/** `get`: a file or a whole directory, to disk. */
import type { Command } from 'commander'
import { contentPath, lastName } from '../arguments.ts'
import type { Context } from '../context.ts'
import { examples } from '../examples.ts'
import type { Shell } from '../shell.ts'
import { formatBytes } from '../terminal/format.ts'
import { Progress } from '../terminal/progress.ts'

interface Flags {
  readonly output?: string
  readonly unsafeLinks?: boolean
}

async function get(context: Context, path: string, { output, unsafeLinks = false }: Flags): Promise<void> {
  contentPath(path)
  const target = output ?? lastName(path)
  const progress = new Progress('get')
  try {
    const written = await context.withNode(
      async (node) =>
        await node.get(path, target, {
          ...context.fetch,
          unsafeLinks,
          onSize: (bytes) => progress.expect(Number(bytes)),
          onProgress: (bytes) => progress.set(bytes),
          onWarning: (file, error) => context.note(`Warning: ${file}: ${error.message}`)
        })
    )
    progress.end()
    if (context.options.json === true) {
      const { files, directories, symlinks, bytes } = written
      await context.out.json({ Path: target, Files: files, Directories: directories, Symlinks: symlinks, Bytes: bytes })
    } else {
      context.note(`Saved ${formatBytes(written.bytes)} (${written.files} ${written.files === 1 ? 'file' : 'files'}) to ${target}`)
    }
  } finally {
    progress.end()
  }
}

export function registerGet(program: Command, shell: Shell): void {
  const command = program
    .command('get')
    .description('Write a file or a whole directory to disk. What is incomplete never has its final name.')
    .argument('<path>', 'CID, CID/path or /ipfs/CID/path')
    .option('-o, --output <path>', 'where to; by default the last name of the path, in this folder')
    .option('--unsafe-links', 'make symlinks too that lead out of what is written')
  examples(command, [
    ['shardswap get bafy…', 'to ./bafy…'],
    ['shardswap get -o site /ipfs/bafy…/docs', 'a directory of a directory, to ./site'],
    ['shardswap get --peer /ip4/192.0.2.1/tcp/4001/p2p/12D3… bafy…', 'from this peer']
  ]).action(
    async (path: string, flags: Flags, command: Command) => await shell.run(command, async (context) => await get(context, path, flags))
  )
}
