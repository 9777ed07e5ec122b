import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { peerKey } from '@shardswap/interface'
import { expect, test } from 'vitest'
import { receiptLine } from '../src/commands/report.ts'
import { folder, newRepo, ok, run, someBytes, startDaemon } from './command.ts'

interface Row {
  readonly Peer: string
  readonly Attempted: number
  readonly Rewardable: number
  readonly RewardShare: number
  readonly Stake?: number
  readonly Staked?: boolean
}

interface Report {
  readonly Period: string
  readonly Wants: number
  readonly Receipts: number
  readonly ReceiptsKept: number
  readonly Totals: { readonly Rewardable: number }
  readonly Peers: readonly Row[]
}

interface Receipt {
  readonly multihash: string
  readonly credited: number | null
  readonly turns: readonly { readonly peer: string }[]
}

/** A repo whose command has fetched from two others, one after the other, without a daemon of its own. */
async function fetched(): Promise<{ repo: string; providers: string[] }> {
  const repo = await newRepo()
  const providers: string[] = []
  for (let index = 0; index < 2; index++) {
    const provider = await newRepo()
    const file = join(await folder(), `file ${index}`)
    await writeFile(file, someBytes(1_000_000 * (index + 1)))
    const root = await ok(['add', '-Q', file], { repo: provider })
    const { address } = await startDaemon(provider)
    await ok(['get', '--peer', address, '-o', `${file}.again`, root], { repo })
    providers.push((JSON.parse(await ok(['id', '--json'], { repo: provider })) as { ID: string }).ID)
  }
  return { repo, providers }
}

async function report(repo: string, ...args: string[]): Promise<Report> {
  return JSON.parse(await ok(['report', '--json', ...args], { repo })) as Report
}

test('[P8][P11][P12][P13] the day’s account is kept over processes, summed from its receipts, and shared by stakes', async () => {
  const { repo, providers } = await fetched()
  const [first = '', second = ''] = providers
  const today = await report(repo)
  expect(today.Peers.map(({ Peer }) => Peer).sort()).toEqual(providers.toSorted())
  expect(today).toMatchObject({ Receipts: today.Wants, ReceiptsKept: today.Wants, Totals: { Rewardable: today.Wants } })
  expect(today.Wants).toBeGreaterThan(10)

  const lines = (await ok(['report', '--receipts', '--json'], { repo })).trim().split('\n')
  expect(JSON.parse(lines[0] ?? '')).toEqual(today)
  const credits = new Map<string, number>()
  for (const line of lines.slice(1)) {
    const { turns, credited } = JSON.parse(line) as Receipt
    const peer = turns[credited ?? -1]?.peer ?? ''
    credits.set(peer, (credits.get(peer) ?? 0) + 1)
  }
  expect(credits).toEqual(new Map(today.Peers.map(({ Peer, Rewardable }) => [Peer, Rewardable])))

  const stakes = join(await folder(), 'stakes.txt')
  await writeFile(stakes, `# stakes\n${first} 4000\n`)
  const shared = await report(repo, '--period', today.Period, '--stakes', stakes)
  expect(shared.Peers.find(({ Peer }) => Peer === first)).toMatchObject({ Stake: 4000, Staked: true, RewardShare: 1 })
  const unstaked = shared.Peers.find(({ Peer }) => Peer === second)
  expect(unstaked).toMatchObject({ Stake: 0, Staked: false, RewardShare: 0 })
  expect(unstaked?.Rewardable).toBeGreaterThan(0)
  const none = await report(repo, '--stakes', stakes, '--stake-min', '5000')
  expect(none.Peers.map(({ RewardShare }) => RewardShare)).toEqual([0, 0])

  const table = await ok(['report', '--receipts'], { repo })
  expect(table).toContain(`${today.Period} (UTC): ${today.Wants} wants, ${today.Wants} of them credited; ${today.Wants} receipts`)
  expect(table).toMatch(/^peer +attempted +successful +rewardable +primary +backup +rescued +reward$/m)
  expect(table).toMatch(new RegExp(`Z {2}Qm\\w+ {2}${first} primary success \\(credit\\)$`, 'm'))
  // The same through a daemon.
  await startDaemon(repo)
  expect(await report(repo)).toEqual(today)
})

test('what is wrong with a call is told before anything is done', async () => {
  const repo = await newRepo()
  const bad = join(await folder(), 'bad.txt')
  await writeFile(bad, 'somebody lots\n')
  const table = await run(['report', '--stakes', bad], { repo })
  expect(table).toMatchObject({ code: 2, stdout: '' })
  expect(table.stderr).toContain(`${bad} is no table of stakes: line 1: "somebody" is no peer id`)
  expect(await run(['report', '--stakes', '-'], { repo, stdin: '{"x"' })).toMatchObject({ code: 2, stdout: '' })
  expect(await run(['report', '--stakes', `${bad}.gone`], { repo })).toMatchObject({ code: 1, stdout: '' })
  expect(await run(['report', '--stake-min', '5'], { repo })).toMatchObject({ code: 2, stdout: '' })
  for (const words of [
    ['report', '--stakes'],
    ['block', 'put'],
    ['dag', 'import']
  ]) {
    expect(await run([...words, dirname(bad)], { repo })).toMatchObject({ code: 1, stderr: `Error: ${dirname(bad)}: is a directory\n` })
  }
  expect(await run(['report', '--stakes', bad, '--stake-min', 'x'], { repo })).toMatchObject({ code: 2, stdout: '' })
  const unnamed = await run(['report', '--period', ''], { repo })
  expect(unnamed).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining("'--period <name>'") as string })
  const unknown = await run(['report', '--period', '1999-12-31'], { repo })
  expect(unknown).toMatchObject({ code: 3, stdout: '' })
  expect(unknown.stderr).toContain('no account of a period called "1999-12-31" is known')
  expect(await ok(['report'], { repo })).toMatch(/^\d{4}-\d\d-\d\d \(UTC\): 0 wants, 0 of them credited; 0 receipts\s*$/)
})

test('a receipt of a time that is none is printed all the same', () => {
  const turns = [{ peer: peerKey('12D3KooWx'), role: 'primary', outcome: 'success', rank: 1 }] as const
  const receipt = { multihash: 'Qm1', isContinued: false, turns, credited: 0 }
  const words = 'Qm1  12D3KooWx primary success (credit)'
  expect(receiptLine({ ...receipt, closedMs: Date.UTC(2026, 10, 30, 12) })).toBe(`2026-11-30T12:00:00.000Z  ${words}`)
  for (const closedMs of [2 ** 53 - 1, -(2 ** 53), Number.NaN, Infinity]) expect(receiptLine({ ...receipt, closedMs })).toBe(`–  ${words}`)
})
