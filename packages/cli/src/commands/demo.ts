/** `demo`: see it work on this machine. */
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { type DemoEvents, type DemoResult, runDemo } from '../demo/demo.ts'
import { NegativeAnswer, UsageError } from '../errors.ts'
import { examples } from '../examples.ts'
import { integer, sizeBytes } from '../options.ts'
import type { Shell } from '../shell.ts'
import { formatBytes, formatRate, formatSeconds } from '../terminal/format.ts'
import { Progress } from '../terminal/progress.ts'

interface DemoFlags {
  readonly peers: number
  readonly size: number
  readonly file?: string
  readonly kill?: boolean
}

/** Enough of a peer's id to tell it from the others. */
function short(peer: string): string {
  return `…${peer.slice(-8)}`
}

function eventsFor(say: (text: string) => void): DemoEvents & { end(): void } {
  let progress: Progress | undefined
  return {
    started: (peers) => say(`Started ${peers} peers, each a process with a repo of its own.`),
    adding: (content, bytes) => {
      const what = 'file' in content ? content.file : 'pseudo-random bytes, the same at each run'
      say(`Adding ${formatBytes(bytes)} (${what}) to all peers but the last …`)
    },
    fetching: (bytes) => {
      say('Fetching it on the last one, over TCP, Noise and Yamux, by Bitswap …')
      progress = new Progress('fetch', bytes)
    },
    progress: (bytes, shares) => progress?.set(bytes, shares.map((share) => `${short(share.peer)} ${formatBytes(share.bytes)}`).join('  ')),
    killed: (peer) => {
      progress?.end()
      say(`Killed provider ${short(peer)} in mid-transfer (SIGKILL).`)
    },
    end: () => progress?.end()
  }
}

function table({ providers, killed }: DemoResult): string {
  const all = providers.reduce((sum, share) => sum + share.bytes, 0)
  const rows = providers.map((share) => [
    share.peer + (share.peer === killed ? ' (killed)' : ''),
    `${share.blocks}`,
    `${(share.bytes / 1e6).toFixed(1)} MB`,
    all === 0 ? '–' : `${((100 * share.bytes) / all).toFixed(1)} %`,
    `${share.timeouts}`
  ])
  const lines = [['provider', 'blocks', 'delivered', 'share', 'timeouts'], ...rows]
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? []
  return lines
    .map((line) => line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '))
    .join('\n')
}

function verdict(result: DemoResult): string {
  const { bytes, seconds, contentMatches, duplicateBlocks, duplicateBytes } = result
  const speed = `${formatBytes(bytes)} in ${formatSeconds(seconds)}, ${formatRate(bytes, seconds)}`
  const twice =
    duplicateBlocks === 0
      ? 'no block came twice'
      : `${duplicateBlocks} ${duplicateBlocks === 1 ? 'block' : 'blocks'} came twice (${formatBytes(duplicateBytes)})`
  return contentMatches ? `The copy matches bit for bit (SHA-256). ${speed}; ${twice}.` : `THE COPY DOES NOT MATCH. ${speed}; ${twice}.`
}

async function demo(context: Context, flags: DemoFlags): Promise<void> {
  const kill = flags.kill === true
  if (kill && flags.peers < 3)
    throw new UsageError('--kill needs --peers 3 or more: with one provider killed, another must have the content')
  const { out, signal } = context
  const lines: Promise<void>[] = []
  const events = eventsFor((text) => void lines.push(out.line(text)))
  await out.line(`${flags.peers - 1} peers have a file, one more wants it: it asks all of them at once, each for other blocks.`)
  let result: DemoResult
  try {
    const file = flags.file === undefined ? {} : { file: flags.file }
    result = await runDemo({ peers: flags.peers, bytes: flags.size, ...file, kill, signal }, events)
  } finally {
    events.end()
  }
  await Promise.all(lines)
  await out.line(`\n${table(result)}\n\n${verdict(result)}`)
  if (kill && result.killed === null) await out.line('The transfer was over before a provider could be killed: try a larger --size.')
  const next = kill ? 'shardswap daemon --init' : 'shardswap demo --kill'
  await out.line(`Next: ${next}; shardswap --help`)
  if (context.options.json === true) await out.json(result)
  if (!result.ok) throw new NegativeAnswer('the demo failed')
}

export function registerDemo(program: Command, shell: Shell): void {
  const command = program
    .command('demo')
    .description('See it work: start peers on this machine, fetch a file from all but one of them at once, clean up')
    .option('--peers <number>', 'peers in all', integer(2, 32), 4)
    .option('--size <size>', 'how much to fetch, e.g. 64MiB', sizeBytes, 64 * 1024 * 1024)
    .option('--file <path>', 'fetch this file instead of pseudo-random bytes')
    .option('--kill', 'end one provider in mid-transfer')
  examples(command, [
    ['shardswap demo', '64 MiB from three peers'],
    ['shardswap demo --kill', 'one of them dies on the way'],
    ['shardswap demo --peers 8 --size 256MiB --json', 'for programs: JSON in the last line'],
    ['shardswap demo --file movie.mp4', 'with a file of yours']
  ]).action(async (flags: DemoFlags, command: Command) => await shell.run(command, async (context) => await demo(context, flags)))
}
