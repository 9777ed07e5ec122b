/** `report`: who was asked in a period, who delivered, who has the credit, and how rewards would be shared. */
import { type AccountRowShape, parseStakes, reportShape, rewardsOf, type Stakes } from '@shardswap/daemon'
import { messageOf, readWhole, TooLargeError } from '@shardswap/interface'
import type { AccountReceipt, AccountReport, RewardShare } from '@shardswap/peer'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { examples } from '../examples.ts'
import { someText } from '../options.ts'
import type { Shell } from '../shell.ts'
import { formatDate, formatPart, printable } from '../terminal/format.ts'
import { readInput } from '../terminal/input.ts'
import { tableLines } from '../terminal/table.ts'

/** The longest table of stakes, in bytes: more than a hundred thousand peers. */
const stakesBytesMax = 16 * 1024 * 1024

interface Flags {
  readonly period?: string
  readonly stakes?: string
  readonly stakeMin?: number
  readonly receipts?: boolean
}

async function stakesIn(path: string, signal: AbortSignal): Promise<Stakes> {
  const table = await readWhole(readInput(path, signal), (bytes) => {
    if (bytes > stakesBytesMax) throw new TooLargeError(`the stakes in ${path} are more than ${stakesBytesMax} bytes`)
  })
  try {
    return parseStakes(new TextDecoder().decode(table))
  } catch (error) {
    throw new UsageError(`${path} is no table of stakes: ${messageOf(error)}`, { cause: error })
  }
}

function reportLines(report: AccountReport, rewards: readonly RewardShare[], hasStakes: boolean): string[] {
  const { period, wants, totals, receipts, receiptsKept } = report
  const kept = receiptsKept === receipts ? `${receipts} receipts` : `${receiptsKept} of ${receipts} receipts are still there`
  const lines = [`${period} (UTC): ${wants} wants, ${totals.rewardable} of them credited; ${kept}`]
  if (report.rows.length === 0) return lines
  const head = ['peer', 'attempted', 'successful', 'rewardable', 'primary', 'backup', 'rescued', ...(hasStakes ? ['stake'] : []), 'reward']
  const rows = report.rows.map((row, at) => [
    row.peer,
    ...[row.attempted, row.successful, row.rewardable, row.primaryTurns, row.backupTurns, row.rescued].map(String),
    ...(hasStakes ? [String(rewards[at]?.stake ?? 0)] : []),
    formatPart(rewards[at]?.share)
  ])
  const sums = [totals.attempted, totals.successful, totals.rewardable, totals.primaryTurns, totals.backupTurns, totals.rescued].map(String)
  return [...lines, ...tableLines(head, [...rows, ['all', ...sums]], (column) => column === 0)]
}

/** What the account says of one want, for people. */
export function receiptLine({ multihash, closedMs, turns, credited }: AccountReceipt): string {
  const words = turns.map(({ peer, role, outcome }, at) => `${peer} ${role} ${outcome}${at === credited ? ' (credit)' : ''}`)
  return `${formatDate(closedMs)}  ${multihash}  ${words.join(', ')}`
}

function jsonReport(report: AccountReport, rewards: readonly RewardShare[], hasStakes: boolean): object {
  const shape = reportShape(report)
  const rewarded = (row: AccountRowShape, at: number): object => {
    const { stake = 0, isStaked = false, share = 0 } = rewards[at] ?? {}
    return { ...row, ...(hasStakes ? { Stake: stake, Staked: isStaked } : {}), RewardShare: share }
  }
  return { ...shape, Peers: shape.Peers.map(rewarded) }
}

async function run(context: Context, { period, stakes: path, stakeMin, receipts = false }: Flags): Promise<void> {
  const { signal, out, options } = context
  if (stakeMin !== undefined && path === undefined) throw new UsageError('--stake-min goes with --stakes')
  const stakes = path === undefined ? undefined : await stakesIn(path, signal)
  await context.withNode(async (node) => {
    const report = await node.report({ period, signal })
    const rewards = await rewardsOf(report, stakes, stakeMin)
    if (options.json === true) await out.json(jsonReport(report, rewards, stakes !== undefined))
    else for (const line of reportLines(report, rewards, stakes !== undefined)) await out.line(printable(line))
    if (!receipts) return
    for await (const receipt of node.receipts({ period: report.period, signal })) {
      await (options.json === true ? out.json(receipt) : out.line(printable(receiptLine(receipt))))
    }
  })
}

function amount(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a number, e.g. 4000.')
}

export function registerReport(program: Command, shell: Shell): void {
  const command = program
    .command('report')
    .description('Print the accounts of a day: who was asked for blocks, who delivered in time, who has the credit')
    .addOption(new Option('--period <name>', 'the day in UTC, e.g. 2026-11-30; today by default').argParser(someText))
    .option(
      '--stakes <file>',
      'share rewards among peers with a stake: a peer id and an amount a line, or a JSON object; - for standard input'
    )
    .addOption(new Option('--stake-min <amount>', 'with --stakes: who has less is paid nothing').argParser(amount))
    .option('--receipts', 'print a receipt of every want too: the block, who was asked, what came of it, who has the credit')
  examples(command, [
    ['shardswap report', 'today'],
    ['shardswap report --period 2026-11-30 --stakes stakes.txt', 'rewards by credits, for those with a stake'],
    ['shardswap report --receipts --json > receipts.jsonl', 'what somebody else can sum again: the report, then a receipt a line']
  ]).action(async (flags: Flags, command: Command) => await shell.run(command, async (context) => await run(context, flags)))
}
