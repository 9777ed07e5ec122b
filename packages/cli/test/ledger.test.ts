import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ledgerLines } from '../src/commands/ledger.ts'
import { folder, newRepo, ok, run, someBytes, start, startDaemon } from './command.ts'

interface Ledgers {
  readonly Mode: string | null
  readonly Known: number
  readonly Clients: readonly { Peer: string; Wants: number; Wanted?: readonly string[]; BlocksSent: number; BytesSent: number }[]
}

async function idOf(repo: string): Promise<string> {
  return (JSON.parse(await ok(['id', '--json'], { repo })) as { ID: string }).ID
}

async function ledgers(repo: string, ...args: string[]): Promise<Ledgers> {
  return JSON.parse(await ok(['ledger', '--json', ...args], { repo })) as Ledgers
}

test('the ledger shows what a client got, and what it waits for', async () => {
  const [provider, client] = [await newRepo(), await newRepo()]
  const file = join(await folder(), 'file')
  await writeFile(file, someBytes(3_000_000))
  const root = await ok(['add', '-Q', file], { repo: provider })
  const { address } = await startDaemon(provider)
  await startDaemon(client)
  await ok(['get', '--peer', address, '-o', `${file}.again`, root], { repo: client })
  const id = await idOf(client)
  const all = await ledgers(provider)
  expect(all).toMatchObject({ Mode: 'open', Known: 1, Clients: [{ Peer: id, Wants: 0, BlocksReceived: 0, BytesReceived: 0 }] })
  expect(all.Clients[0]?.BytesSent).toBeGreaterThan(3_000_000)
  expect(all.Clients[0]?.BlocksSent).toBeGreaterThan(10)
  const table = (await ok(['ledger'], { repo: provider })).split('\n')
  expect(table[0]).toMatch(/^client +wants +open +queued +blocks sent +sent +last sent +turned away +received$/)
  expect(table[1]).toMatch(new RegExp(`^${id} +0 +0 +0 B +\\d+ +2\\.9 MiB +\\S+ .* ago +0 +0 B`))
  // What nobody has is wanted for as long as it is waited for.
  const lacking = await ok(['add', '-Q', '--only-hash', '--cid-version=1', '-'], { repo: client, stdin: 'nobody has this' })
  start(['cat', '--timeout', '170s', lacking], { repo: client })
  await expect.poll(async () => (await ledgers(provider, id)).Clients, { timeout: 60_000 }).toMatchObject([{ Wants: 1, Wanted: [lacking] }])
  expect(await ok(['ledger', id], { repo: provider })).toContain(`wants ${lacking}`)
  expect((await ledgers(provider)).Clients[0]).not.toHaveProperty('Wanted')
})

test('without a daemon nothing is served; of one who is not there nothing is known', async () => {
  const repo = await newRepo()
  expect(await ok(['ledger'], { repo })).toContain('Nothing is served: no daemon runs')
  expect(await ledgers(repo)).toEqual({ Mode: null, Clients: [], Known: 0 })
  const stranger = '12D3KooWCizaGVPEo9SQQrpEV7DdhV2W8336W2M3dtvahAwm8jaU'
  expect(await ok(['ledger', stranger], { repo })).toContain('Nothing is served: no daemon runs')
  await writeFile(join(repo, 'config'), '{"serve":{"mode":"off"}}')
  await startDaemon(repo)
  expect(await ok(['ledger'], { repo })).toBe('Nothing is served: the config of this repo has serve.mode "off".\nNobody is connected.')
  const gone = await run(['ledger', stranger], { repo })
  expect(gone).toMatchObject({
    code: 3,
    stdout: '',
    stderr: `Error: NotFoundError: ${stranger} is not connected, so nothing is known of what it asks for\n`
  })
})

test('what a client is told by is in its line, and clients that did not fit are counted', () => {
  const sent = { blocksSent: 7, bytesSent: 1536, blocksReceived: 0, bytesReceived: 0, lastServedMsAgo: 90_000 }
  const now = { wants: 5, openRequests: 2, queuedBytes: 1024, isSlow: true, isWaiting: true, turnedAway: 3 }
  const lines = ledgerLines({ mode: 'open', clients: [{ peer: 'one', ...sent, ...now }], known: 4 })
  expect(lines[1]).toMatch(/^one +5 +2 +1\.0 KiB +7 +1\.5 KiB +1m 30s ago +3 +0 B +reads slowly, waits for admission$/)
  expect(lines.at(-1)).toBe('and 3 more that were sent less')
})
