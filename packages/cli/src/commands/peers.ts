/** `peers`: how peers stand with this node, and it with them. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type NodeScores, RemoteNode, scoresShape, type SwapNode } from '@shardswap/daemon'
import { InvalidParametersError, timerMsMax } from '@shardswap/interface'
import type { PeerScore } from '@shardswap/peer'
import { type Command, Option } from 'commander'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { examples } from '../examples.ts'
import { durationMs, someText } from '../options.ts'
import type { Shell } from '../shell.ts'
import { formatMs, formatPart, formatSeconds, printable } from '../terminal/format.ts'
import { tableLines } from '../terminal/table.ts'
import { meAt } from './me-at.ts'

interface Flags {
  readonly watch?: boolean
  /** Milliseconds between two looks. */
  readonly every?: number
  readonly meAt?: string
  readonly period?: string
  readonly receipts?: boolean
}

/** How often `--watch` looks by default; and at most, lest it keep the daemon busy. */
const everyDefaultMs = 1000
const everyMinMs = 10
/** Columns of a terminal that whole ids fit into, beside all else. */
const wideColumns = 140
const head = ['peer', 'score', 'share', 'ok 24 h', 'ok 30 d', 'p50', 'p95', 'in flight', 'backups', 'credits', '']

/** A line for each peer; the last column says what else there is to know. Where there is no room for them, ids are shortened. */
export function scoreLines({ peers, known, calibration }: NodeScores, columns = Infinity): string[] {
  if (peers.length === 0) return ['No peer is known yet: scores come with the first blocks that are asked for.']
  const rows = peers.map((score) => [
    printable(columns < wideColumns ? shortId(score.peer) : score.peer),
    `${score.score.toFixed(1)} %`,
    score.isConnected ? formatPart(score.share) : '–',
    formatPart(score.success24h),
    formatPart(score.success30d),
    formatMs(score.latencyP50Ms),
    formatMs(score.latencyP95Ms),
    String(score.inFlight),
    String(score.counts.backupTurns),
    String(score.counts.rewardable),
    remark(score)
  ])
  const lines = tableLines(head, rows, (column) => column === 0 || column === head.length - 1)
  if (known > peers.length) lines.push(`and ${known - peers.length} more that are not connected`)
  if (calibration !== undefined && calibration.forecasts > 0) {
    const { forecasts, brier, baseRateBrier, calibrationError } = calibration
    const against = `Brier ${brier.toFixed(4)} (${baseRateBrier.toFixed(4)} for the mean rate)`
    lines.push(`${forecasts} forecasts of failure: ${against}, off by ${formatPart(calibrationError)} on average`)
  }
  return lines
}

/** Ids of one kind begin alike, so the end tells them apart. */
function shortId(peer: string): string {
  return peer.length > 14 ? `${peer.slice(0, 4)}…${peer.slice(-8)}` : peer
}

function remark({ shutOutMs, returnLeftMs, isConnected, isVetted }: PeerScore): string {
  const isReturning = shutOutMs === 0 && returnLeftMs > 0
  const words = [
    ...(shutOutMs > 0 ? [`shut out for ${formatSeconds(shutOutMs / 1000)}`] : []),
    ...(isReturning ? [`on its way back for ${formatSeconds(returnLeftMs / 1000)}`] : []),
    ...(isConnected ? [] : ['not connected']),
    ...(isVetted || isReturning || shutOutMs > 0 ? [] : ['new'])
  ]
  return words.join(', ')
}

async function print(context: Context, scores: NodeScores): Promise<void> {
  if (context.options.json === true) return await context.out.json(scoresShape(scores))
  for (const line of scoreLines(scores, terminalColumns())) await context.out.line(line)
}

async function once(context: Context): Promise<void> {
  const scores = await context.withNode(async (node) => await node.scores({ signal: context.signal }))
  await print(context, scores)
}

/** What is written to a file or a pipe is cut nowhere. */
function terminalColumns(): number {
  return process.stdout.isTTY ? process.stdout.columns || 80 : Infinity
}

/** Home, then each line with what is behind it wiped, then all below wiped: nothing flickers. */
export function screen(lines: readonly string[], { columns, rows }: { readonly columns: number; readonly rows: number }): string {
  // A terminal of no size has not told it.
  const shown = lines.slice(0, (rows || 24) - 1).map((line) => `${line.slice(0, (columns || 80) - 1)}\u001b[K`)
  return `\u001b[H${shown.join('\n')}\n\u001b[J`
}

async function watch(context: Context, everyMs: number): Promise<void> {
  const { signal, out, options } = context
  const draws = options.json !== true && process.stdout.isTTY
  await context.withNode(async (node) => {
    if (!changes(node, context)) {
      throw new InvalidParametersError('nothing changes without a daemon: start "shardswap daemon", or leave --watch out')
    }
    for (let isFirst = true; ; isFirst = false) {
      const scores = await node.scores({ signal })
      if (draws) await out.write(`${isFirst ? '\u001b[2J' : ''}${screen(scoreLines(scores, terminalColumns()), process.stdout)}`)
      else if (options.json === true) await out.json({ AtMs: Date.now(), ...scoresShape(scores) })
      else for (const line of [...(isFirst ? [] : ['']), ...scoreLines(scores)]) await out.line(line)
      await sleep(Math.min(everyMs, timerMsMax), undefined, { signal }).catch(() => undefined)
      signal.throwIfAborted()
    }
  })
}

function changes(node: SwapNode, context: Context): boolean {
  return node instanceof RemoteNode || !context.offline
}

async function run(context: Context, flags: Flags): Promise<void> {
  const { watch: isWatch = false, every, meAt: target, period, receipts } = flags
  if (target === undefined && (period !== undefined || receipts === true)) throw new UsageError('--period and --receipts go with --me-at')
  if (every !== undefined && !isWatch) throw new UsageError('--every goes with --watch')
  if (every !== undefined && every < everyMinMs) throw new UsageError(`--every takes ${everyMinMs}ms or more`)
  if (target !== undefined && isWatch) throw new UsageError('--me-at and --watch exclude each other')
  if (target !== undefined) await meAt(context, target, { period, receipts: receipts === true })
  else if (isWatch) await watch(context, every ?? everyDefaultMs)
  else await once(context)
}

export function registerPeers(program: Command, shell: Shell): void {
  const command = program
    .command('peers')
    .description('Print how peers stand with this node: score, share, success, latency, credits')
    .option('-w, --watch', 'print it again and again, until Ctrl-C; on a terminal in place')
    .addOption(new Option('--every <duration>', 'with --watch: how often (default: 1s)').argParser(durationMs))
    .addOption(
      new Option(
        '--me-at <peer>',
        'print how this node stands with that peer (an id, or a multiaddr to connect to), as it says and signs'
      ).argParser(someText)
    )
    .addOption(
      new Option('--period <name>', 'with --me-at: the accounting period, e.g. 2026-11-30; the present one by default').argParser(someText)
    )
    .option('--receipts', 'with --me-at: print the receipts of that period too')
  examples(command, [
    ['shardswap peers', 'who is known, the best first'],
    ['shardswap peers --watch', 'as it changes, while a daemon runs'],
    ["shardswap peers --json | jq -r '.Peers[] | [.Peer, .Score] | @tsv'", 'for programs'],
    ['shardswap peers --me-at 12D3…', 'what a connected peer thinks of this node'],
    ['shardswap peers --me-at /ip4/192.0.2.1/tcp/4001/p2p/12D3… --receipts --json', 'with the receipts, and the signed proof']
  ]).action(async (flags: Flags, command: Command) => await shell.run(command, async (context) => await run(context, flags)))
}
