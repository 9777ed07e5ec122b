/** `peers --me-at`: how this node stands with a peer, as that one says. */
import { messageOf } from '@shardswap/interface'
import { checkPeerName, ownScoreShape, type SwapNode } from '@shardswap/daemon'
import type { OwnAccount, OwnReceipt, OwnScore, PeerScore } from '@shardswap/peer'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { formatDate, formatMs, formatPart, formatSeconds, printable } from '../terminal/format.ts'

/** Answers that are asked for at most: as many as a node gives at once, and more receipts than it keeps. */
const answersMax = 64

interface MeAtOptions {
  readonly period: string | undefined
  readonly receipts: boolean
}

export async function meAt(context: Context, target: string, { period, receipts }: MeAtOptions): Promise<void> {
  const { signal, out, options } = context
  checkTarget(target)
  const ask = async (node: SwapNode): Promise<OwnScore[]> => await answersOf(node, target, receipts ? answersMax : 1, { signal, period })
  const answers = await context.withNode(ask, target.startsWith('/'))
  const [own] = answers as [OwnScore]
  const all = answers.flatMap((answer) => answer.receipts)
  if (options.json === true) {
    const { Signed, ...shape } = ownScoreShape({ ...own, receipts: receipts ? all : [] })
    return await out.json({ ...shape, Signed: receipts ? answers.map((answer) => ownScoreShape(answer).Signed) : [Signed] })
  }
  for (const line of standingLines(own, period)) await out.line(printable(line))
  if (receipts) for (const receipt of all) await out.line(printable(receiptLine(receipt)))
  else if (own.receiptsInAll > 0) await out.line(`receipts    ${own.receiptsInAll}; --receipts prints them`)
  // Remarks stand beside the receipts, not among them.
  if (own.receiptsCut)
    context.note(
      `Older receipts of ${own.account?.period ?? 'that period'} are missing: that peer keeps, or looks through, only the newest.`
    )
}

/** The first answer, and those that bring the receipts that did not fit into it. */
async function answersOf(
  node: SwapNode,
  target: string,
  most: number,
  { signal, period }: { signal: AbortSignal; period: string | undefined }
): Promise<OwnScore[]> {
  const answers: OwnScore[] = []
  let from = 0
  for (let peer = target; answers.length < most; peer = answers[0]?.by ?? target) {
    const answer = await node.ownScoreAt(peer, { signal, receiptsFrom: from, ...(period === undefined ? {} : { period }) })
    answers.push(answer)
    from += answer.receipts.length
    if (answer.receipts.length === 0 || from >= answer.receiptsInAll) break
  }
  return answers
}

function checkTarget(target: string): void {
  try {
    checkPeerName(target)
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}

function standingLines({ by, about, atMs, score, account }: OwnScore, asked: string | undefined): string[] {
  const lines = [`${by} says of ${about} at ${formatDate(atMs)}; its signature is right.`]
  if (score === null) lines.push('It knows nothing of this node yet.')
  else lines.push(...scoreLines(score))
  if (account !== null) lines.push(accountLine(account))
  else if (asked !== undefined)
    lines.push(`in ${asked}  it has no account of this node: it asked it for nothing then, or knows of no such period`)
  else if (score !== null) lines.push('It has no account of this node in the present period yet.')
  return lines
}

function accountLine({ period, attempted, successful, rewardable, primaryTurns, backupTurns, rescued }: OwnAccount): string {
  const asked = `${attempted} asked (${primaryTurns} first, ${backupTurns} as a backup)`
  return `in ${period}  ${asked}, ${successful} in time, ${rewardable} credits (${rescued} of them as a backup)`
}

function standingOf({ shutOutMs, returnLeftMs, isVetted }: PeerScore): string {
  if (shutOutMs > 0) return `shut out for ${formatSeconds(shutOutMs / 1000)}`
  if (returnLeftMs > 0) return `on its way back for ${formatSeconds(returnLeftMs / 1000)} more`
  return isVetted ? 'vetted' : 'new'
}

function scoreLines(score: PeerScore): string[] {
  const standing = standingOf(score)
  const { counts } = score
  return [
    `score       ${score.score.toFixed(1)} %, ${standing}`,
    `share       ${formatPart(score.share)} of what it asks first`,
    `in time     ${formatPart(score.success24h)} in 24 h, ${formatPart(score.success30d)} in 30 d`,
    `connected   ${formatPart(score.uptime24h)} of 24 h, ${formatPart(score.uptime30d)} of 30 d`,
    `latency     ${formatMs(score.latencyP50Ms)} (half of them), ${formatMs(score.latencyP95Ms)} (95 %)`,
    `ever        ${counts.attempted} asked (${counts.primaryTurns} first, ${counts.backupTurns} as a backup), ${counts.successful} in time, ` +
      `${counts.rewardable} credits; ${counts.timeouts} late, ${counts.silences} silent, ${counts.resets} broken off, ${counts.brokenHaves} taken back, ${counts.badBlocks} not asked for`
  ]
}

function receiptLine({ multihash, closedMs, turns, credited }: OwnReceipt): string {
  const words = turns.map(({ who, role, outcome }, at) => {
    const name = who === 'you' ? 'you' : `other ${who}`
    return `${name} ${role} ${outcome}${at === credited ? ' (credit)' : ''}`
  })
  return `${formatDate(closedMs)}  ${multihash}  ${words.join(', ')}`
}
