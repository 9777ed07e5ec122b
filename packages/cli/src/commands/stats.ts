/** `stats`: what a daemon counts. */
import { setTimeout } from 'node:timers/promises'
import { type BandwidthOptions, bandwidthShape } from '@shardswap/daemon'
import { type Command, Option } from 'commander'
import type { Context } from '../context.ts'
import { examples } from '../examples.ts'
import { durationMs } from '../options.ts'
import type { Shell } from '../shell.ts'
import { formatBytes } from '../terminal/format.ts'
import { registerBitswapStat } from './bitswap.ts'
import { stat } from './repo.ts'

interface BandwidthFlags {
  readonly proto?: string
  readonly poll?: boolean
  readonly interval: number
}

async function bandwidth(context: Context, flags: BandwidthFlags): Promise<void> {
  const { out, signal, options } = context
  const asked: BandwidthOptions = { signal, protocol: flags.proto }
  await context.withNode(async (node) => {
    for (;;) {
      const found = await node.stats.bandwidth(asked)
      if (options.json === true) await out.json(bandwidthShape(found))
      else {
        await out.line(`Bandwidth\nTotalIn: ${formatBytes(found.totalInBytes)}\nTotalOut: ${formatBytes(found.totalOutBytes)}`)
        await out.line(`RateIn: ${formatBytes(Math.round(found.inBytesPerS))}/s\nRateOut: ${formatBytes(Math.round(found.outBytesPerS))}/s`)
      }
      if (flags.poll !== true) return
      await setTimeout(flags.interval, undefined, { signal })
    }
  })
}

export function registerStats(program: Command, shell: Shell): void {
  const stats = program.command('stats').description('Print what the daemon counts')
  examples(stats, [
    ['shardswap stats bw', 'bytes in and out'],
    ['shardswap stats bitswap', 'as "shardswap bitswap stat"'],
    ['shardswap stats repo', 'as "shardswap repo stat"']
  ])
  registerBitswapStat(stats, 'bitswap', shell)
  const bw = stats
    .command('bw')
    .description('Print how much went over the network, and how fast over the last seconds')
    .option('-t, --proto <protocol>', 'of this protocol alone')
    .option('--poll', 'print it again and again, until Ctrl-C')
    .addOption(new Option('-i, --interval <duration>', 'how often with --poll').argParser(durationMs).default(1000, '1s'))
  examples(bw, [
    ['shardswap stats bw', 'of all protocols'],
    ['shardswap stats bw --proto /ipfs/bitswap/1.2.0', 'of one'],
    ['shardswap stats bw --poll --json', 'a line a second, for programs']
  ]).action(async (flags: BandwidthFlags, command: Command) => await shell.run(command, async (context) => await bandwidth(context, flags)))
  examples(stats.command('repo').description('Print the number of blocks and the size of the repo'), [
    ['shardswap stats repo', 'as "shardswap repo stat"']
  ]).action(async (_flags: unknown, command: Command) => await shell.run(command, stat))
}
