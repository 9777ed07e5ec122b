/** `init`, `repo stat`, `repo verify`. */
import { collectedShape, repoStatShape, verifyShape } from '@shardswap/daemon'
import { HashMismatchError } from '@shardswap/interface'
import { initRepo, openRepo, profileConfig, type ProfileName } from '@shardswap/repo'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { NegativeAnswer } from '../errors.ts'
import { examples } from '../examples.ts'
import { profileOption } from '../options.ts'
import type { Shell } from '../shell.ts'
import { formatBytes, printable } from '../terminal/format.ts'

async function init(context: Context, profile: ProfileName): Promise<void> {
  await initRepo(context.repoPath, { config: profileConfig(profile) })
  const repo = await openRepo(context.repoPath)
  const { path, peerId } = repo
  await repo.close()
  if (context.options.json === true) return await context.out.json({ ID: peerId.toString(), RepoPath: path })
  await context.out.line(`peer identity: ${peerId.toString()}\nrepo: ${path}`)
}

/** Prints the size of the repo. */
export async function stat(context: Context): Promise<void> {
  const { signal, out } = context
  const found = await context.withNode(async (node) => await node.repoStat({ signal }))
  if (context.options.json === true) return await out.json(repoStatShape(found))
  await out.line(`NumObjects: ${found.blocks} blocks`)
  await out.line(`BlockSize:  ${found.blockBytes} bytes (${formatBytes(found.blockBytes)})`)
  await out.line(`RepoSize:   ${found.diskBytes} bytes on disk (${formatBytes(found.diskBytes)})`)
  if (found.maxBytes !== undefined) await out.line(`StorageMax: ${found.maxBytes} bytes (${formatBytes(found.maxBytes)})`)
  await out.line(`RepoPath:   ${found.path}`)
  await out.line(`Version:    fs-repo@${found.version}`)
}

async function verify(context: Context): Promise<void> {
  const { signal, out, options } = context
  let blocks = 0
  let bad = 0
  await context.withNode(async (node) => {
    for await (const result of node.repoVerify({ signal })) {
      const shape = verifyShape(result, ++blocks)
      if (!result.ok) bad++
      if (options.json === true) await out.json(shape)
      else if (!result.ok) await out.line(printable(shape.Msg))
    }
  })
  if (bad > 0) {
    context.note(`Error: ${bad} of ${blocks} blocks are corrupt: remove them with "shardswap block rm" and fetch or add them again`)
    throw new NegativeAnswer('corrupt blocks', HashMismatchError.code)
  }
  if (options.json !== true) await out.line(`verify complete, all ${blocks} blocks validated.`)
}

interface GcFlags {
  readonly quiet?: boolean
  readonly silent?: boolean
  readonly streamErrors?: boolean
}

async function gc(context: Context, flags: GcFlags): Promise<void> {
  const { signal, out, options } = context
  let failed = 0
  await context.withNode(async (node) => {
    for await (const line of node.garbage.collect({ signal })) {
      if ('error' in line) failed++
      if (options.json === true) await out.json(collectedShape(line))
      else if ('error' in line) context.note(`Error: ${line.error.message}`)
      else if (flags.silent !== true) await out.line(`${flags.quiet === true ? '' : 'removed '}${line.cid.toString()}`)
    }
  })
  if (failed > 0) throw new NegativeAnswer('not all garbage was removed')
}

export function registerRepo(program: Command, shell: Shell): void {
  const initCommand = program
    .command('init')
    .description('Make a repo: a folder with an identity, a config and blocks')
    .addOption(profileOption('--profile <name>'))
  examples(initCommand, [
    ['shardswap init', 'make a repo in ~/.shardswap'],
    ['shardswap init --repo /data/blocks', 'make it elsewhere'],
    ['shardswap init --profile local', 'one whose daemon dials only the peers that you name']
  ]).action(
    async (flags: { profile: ProfileName }, command: Command) =>
      await shell.run(command, async (context) => await init(context, flags.profile))
  )

  const repo = program.command('repo').description('Look after the repo')
  examples(repo, [
    ['shardswap repo stat', 'how many blocks, how many bytes'],
    ['shardswap repo gc', 'remove what no pin keeps'],
    ['shardswap repo verify', 'read and hash every block']
  ])
  examples(repo.command('stat').description('Print the number of blocks and the size of the repo'), [
    ['shardswap repo stat', 'for people'],
    ['shardswap repo stat --json', 'for programs']
  ]).action(async (_flags: unknown, command: Command) => await shell.run(command, stat))
  examples(repo.command('verify').description('Check that every block hashes to its CID; exit code 6 where one does not'), [
    ['shardswap repo verify', 'print the corrupt blocks']
  ]).action(async (_flags: unknown, command: Command) => await shell.run(command, verify))
  const gcCommand = repo
    .command('gc')
    .description('Remove every block that no pin leads to and that nothing under way needs; print "removed CID" for each')
    .option('-q, --quiet', 'print CIDs only')
    .option('--silent', 'print nothing')
    .option('--stream-errors', 'as Kubo has it: errors are always printed as they come')
  examples(gcCommand, [
    ['shardswap pin ls --type recursive', 'look at what is kept'],
    ['shardswap repo gc', 'remove the rest'],
    ['shardswap repo gc --quiet | wc -l', 'how many blocks were removed']
  ]).action(async (flags: GcFlags, command: Command) => await shell.run(command, async (context) => await gc(context, flags)))
}
