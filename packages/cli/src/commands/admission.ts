/** `admission`: whom this node would serve now, and why; what it knows of owners and of itself. */
import { admissionShape, type NodeAdmission } from '@shardswap/daemon'
import type { AdmissionReport, Decision, OwnerView, TestsReport } from '@shardswap/peer'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { examples } from '../examples.ts'
import type { Shell } from '../shell.ts'
import { formatDate, formatPart, printable } from '../terminal/format.ts'
import { tableLines } from '../terminal/table.ts'
import { bindingLine } from './register.ts'

const head = ['owner', 'peers', 'servers', 'A 24 h', 'A 30 d', 'tests', 'served', 'weight', 'score', 'open', 'turned away', 'now']
const nowWords: Record<Decision['action'], string> = { admit: 'admitted', wait: 'waits', refuse: 'refused' }

/** All of it for people; what is said of each connected peer only where `showPeers` is set. */
export function admissionLines({ isRunning, report, ownersKnown, peersKnown }: NodeAdmission, showPeers: boolean): string[] {
  const { mode, openRequestsMax, open, served, servers, owners } = report
  const rest = ownersKnown > owners.length ? [`and ${ownersKnown - owners.length} owners more`] : []
  return [
    ...(isRunning ? [] : ['No daemon runs on this repo, so nothing is served: this is what it remembers.']),
    `mode ${mode}: ${open} of ${openRequestsMax} requests open, ${formatCount(served)} served in 24 h, ${servers} servers that count`,
    ...tableLines(head, [...owners.map(ownerRow), strangersRow(report)], (column) => column === 0 || column === head.length - 1),
    ...rest,
    ...countLines(report),
    ...ownLines(report),
    ...(showPeers ? peerLines(report, peersKnown) : [])
  ]
}

function ownerRow(view: OwnerView): string[] {
  const { owner, peers, servers, registered, aShort, aLong, tests, served, weight, score, open, turnedAway, decision } = view
  return [
    owner,
    String(peers),
    `${servers}/${registered}`,
    formatPart(aShort),
    formatPart(aLong),
    `${tests.received}/${tests.sent}`,
    formatCount(served),
    weight.toFixed(2),
    score.toFixed(1),
    String(open),
    String(turnedAway),
    nowText(decision)
  ]
}

function strangersRow({ free }: AdmissionReport): string[] {
  const known = [free.score.toFixed(1), String(free.open), String(free.turnedAway), nowText(free.decision)]
  return ['strangers', ...Array.from({ length: head.length - known.length - 1 }, () => '–'), ...known]
}

function nowText({ action, reason }: Decision): string {
  return `${nowWords[action]}: ${reason}`
}

/** What fades is no whole number. */
function formatCount(count: number): string {
  return String(Math.round(count))
}

const stateWords: Record<TestsReport['state'], string> = {
  on: 'on',
  off: 'off',
  unregistered: 'none are made while this node is registered nowhere'
}

function testsText({ state, servers, outcomes, identities }: TestsReport): string {
  return `${stateWords[state]}; ${servers} servers with known blocks; ${countsText(outcomes)}, under ${identities} identities`
}

function countLines({ decisions, registry, tests }: AdmissionReport): string[] {
  const { records, servers, outcomes, refused } = registry
  return [
    `decisions   ${countsText(decisions)}`,
    `registry    ${records} records, ${servers} servers; records that came: ${countsText(outcomes)}; refused besides: ${countsText(refused)}`,
    ...(tests === undefined ? [] : [`tests       ${testsText(tests)}`])
  ]
}

function countsText(counts: Readonly<Partial<Record<string, number>>>): string {
  const words = Object.entries(counts).map(([name, count]) => `${count ?? 0} ${name}`)
  return words.length === 0 ? 'none' : words.join(', ')
}

function ownLines({ own }: AdmissionReport): string[] {
  const { peer, client, delegationExpiresMs, bindings } = own
  const as = client === peer ? 'under its own identity' : `under the client key ${client}`
  const until = delegationExpiresMs === undefined ? '' : `, until ${formatDate(delegationExpiresMs)}`
  const none = bindings.length === 0 ? ['it is registered nowhere: "shardswap register" changes that'] : []
  return [
    `this node   ${peer} makes its requests ${as}${until}`,
    ...[...none, ...bindings.map(bindingLine)].map((line) => `            ${line}`)
  ]
}

function peerLines({ peers }: AdmissionReport, known: number): string[] {
  if (peers.length === 0) return ['No peer is connected.']
  const rows = peers.map(({ peer, client, owner, decision }) => [
    peer,
    client === undefined || client === peer ? 'its own' : client,
    owner === peer ? 'itself' : (owner ?? 'stranger'),
    nowText(decision)
  ])
  const rest = known > peers.length ? [`and ${known - peers.length} peers more`] : []
  return [...tableLines(['peer', 'client key', 'owner', 'now'], rows, () => true), ...rest]
}

async function run(context: Context, showPeers: boolean): Promise<void> {
  const { signal, out, options } = context
  const admission = await context.withNode(async (node) => await node.admission({ signal }))
  if (options.json === true) return await out.json(admissionShape(admission))
  for (const line of admissionLines(admission, showPeers)) await out.line(printable(line))
}

export function registerAdmission(program: Command, shell: Shell): void {
  const command = program
    .command('admission')
    .description('Print whom this node would serve now and why: per owner of servers, and for strangers')
    .option('--peers', 'print what is said of each connected peer too')
  examples(command, [
    ['shardswap admission', 'owners, strangers, counters, and what this node is to others'],
    ['shardswap admission --peers', 'each connected peer too'],
    ["shardswap admission --json | jq -r '.Owners[] | [.Owner, .Score, .Decision] | @tsv'", 'for programs']
  ]).action(
    async (flags: { peers?: boolean }, command: Command) =>
      await shell.run(command, async (context) => await run(context, flags.peers === true))
  )
}
