import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { peerKey } from '@shardswap/interface'
import type { PeerScore } from '@shardswap/peer'
import { openRepo } from '@shardswap/repo'
import { expect, test } from 'vitest'
import { scoreLines, screen } from '../src/commands/peers.ts'
import { folder, newRepo, ok, run, someBytes, start, startDaemon } from './command.ts'

interface Scores {
  readonly Peers: readonly { Peer: string; Score: number; Share: number; Connected: boolean; Credits: number; Success24h?: number }[]
  readonly Known: number
}

const recordName = '/shardswap/reliability/record'
const damagedName = '/shardswap/reliability/damaged'

/** Two daemons, of which the second has fetched a file from the first. */
async function fetched(): Promise<{ provider: string; client: string; address: string; providerId: string; clientId: string }> {
  const [provider, client] = [await newRepo(), await newRepo()]
  const file = join(await folder(), 'file')
  await writeFile(file, someBytes(3_000_000))
  const root = await ok(['add', '-Q', file], { repo: provider })
  const { address } = await startDaemon(provider)
  await startDaemon(client)
  await ok(['get', '--peer', address, '-o', `${file}.again`, root], { repo: client })
  return { provider, client, address, providerId: await idOf(provider), clientId: await idOf(client) }
}

async function idOf(repo: string): Promise<string> {
  return (JSON.parse(await ok(['id', '--json'], { repo })) as { ID: string }).ID
}

async function scores(repo: string): Promise<Scores> {
  return JSON.parse(await ok(['peers', '--json'], { repo })) as Scores
}

test('[P14][C4] peers are listed with score, share and credits, while the daemon runs and after', async () => {
  const { client, providerId } = await fetched()
  const running = await scores(client)
  expect(running).toMatchObject({ Known: 1, Peers: [{ Peer: providerId, Connected: true, Share: 1, Success24h: 1 }] })
  const [seen] = running.Peers as [Scores['Peers'][number]]
  expect(seen.Score).toBeGreaterThan(50)
  expect(seen.Credits).toBeGreaterThan(10)
  const table = await ok(['peers'], { repo: client })
  expect(table.split('\n')[0]).toMatch(/^peer +score +share +ok 24 h +ok 30 d +p50 +p95 +in flight +backups +credits$/)
  expect(table).toContain(`${providerId}  `)
  expect(table).toMatch(/ 100\.0 % .* ms .* \d+/)
  await ok(['shutdown'], { repo: client })
  // The lock goes with the process.
  for (;;) {
    const { code, stdout } = await run(['peers', '--json'], { repo: client })
    if (code !== 0) continue
    expect(JSON.parse(stdout)).toMatchObject({ Known: 1, Peers: [{ Peer: providerId, Connected: false, Credits: seen.Credits }] })
    break
  }
})

test('--watch prints again and again, and ends with Ctrl-C, or where nobody reads', async () => {
  const { client } = await fetched()
  const watching = start(['peers', '--watch', '--every', '50ms', '--json'], { repo: client })
  await watching.says('"Peers"')
  while (watching.stdout.toString().split('\n').length < 4) await new Promise((resolve) => setTimeout(resolve, 20))
  watching.child.kill('SIGINT')
  const { code, stdout, stderr } = await watching.finished
  expect({ code, stderr }).toEqual({ code: 130, stderr: '' })
  for (const line of stdout.trimEnd().split('\n')) expect(JSON.parse(line)).toMatchObject({ Known: 1, AtMs: expect.any(Number) as number })

  const pipe = start(['peers', '--watch', '--every', '20ms'], { repo: client })
  await pipe.says('credits')
  pipe.child.stdout.destroy()
  const end = await pipe.finished
  expect({ code: end.code, stderr: end.stderr }).toEqual({ code: 0, stderr: '' })
})

test('a node asks a peer how it stands there, and gets what that one signs', async () => {
  const { provider, address, providerId, clientId } = await fetched()
  const text = await ok(['peers', '--me-at', clientId, '--receipts'], { repo: provider })
  expect(text).toContain(`${clientId} says of ${providerId}`)
  expect(text).toContain('its signature is right')
  expect(text).toMatch(/you primary success \(credit\)/)
  const own = JSON.parse(await ok(['peers', '--me-at', clientId, '--receipts', '--json'], { repo: provider })) as Record<string, unknown>
  expect(own).toMatchObject({ By: clientId, About: providerId, Score: { Peer: providerId, Success24h: 1 } })
  expect(own['ReceiptsInAll']).toBe((own['Receipts'] as unknown[]).length)
  expect(own['Signed']).toHaveLength(1)
  // A multiaddr is connected first; no daemon is needed for that.
  const third = await newRepo()
  expect(await ok(['peers', '--me-at', address], { repo: third })).toMatch(/score +\d+\.\d %, new/)
  const past = await ok(['peers', '--me-at', clientId, '--period', '1999-01-01'], { repo: provider })
  expect(past).toMatch(/in 1999-01-01 +it has no account of this node/)
  expect(past).not.toContain('credits (')
  expect(text).toMatch(/in \d{4}-\d{2}-\d{2} +\d+ asked .*\(\d+ of them as a backup\)/)
  const unknown = await run(['peers', '--me-at', providerId.replace(/.$/, '!')], { repo: provider })
  expect(unknown).toMatchObject({ code: 2, stdout: '' })
  const gone = await run(['peers', '--me-at', '12D3KooWCizaGVPEo9SQQrpEV7DdhV2W8336W2M3dtvahAwm8jaU'], { repo: provider })
  expect(gone).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('is not connected') as string })
})

test('whom --me-at names is looked at before anything else: a typing error is wrong usage, with a daemon or without', async () => {
  const repo = await newRepo()
  for (const target of ['nonsense', '12D3KooW', '/ip4/nonsense']) {
    const { code, stdout, stderr } = await run(['peers', '--me-at', target], { repo })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(target)
  }
  for (const [option, words] of [
    ['--me-at <peer>', ['--me-at', '']],
    ['--period <name>', ['--me-at', '12D3KooWCizaGVPEo9SQQrpEV7DdhV2W8336W2M3dtvahAwm8jaU', '--period', '']]
  ] as const) {
    const empty = await run(['peers', ...words], { repo })
    expect(empty).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(`'${option}'`) as string })
  }
  // One that is right needs peers.
  const alone = await run(['peers', '--me-at', '12D3KooWCizaGVPEo9SQQrpEV7DdhV2W8336W2M3dtvahAwm8jaU'], { repo })
  expect(alone).toMatchObject({ code: 5, stderr: expect.stringContaining('offline') as string })
})

test('a record that is damaged is an error to look at, and a fresh start for the daemon, which loses nothing else', async () => {
  const path = await newRepo()
  const cid = await ok(['add', '-Q', '-'], { repo: path, stdin: 'hello' })
  const id = await idOf(path)
  const { Key } = await import('interface-datastore')
  const bad = new TextEncoder().encode('shardrec, but no record')
  const before = await openRepo(path)
  await before.datastore.put(new Key(recordName), bad)
  await before.close()
  const looked = await run(['peers'], { repo: path })
  expect(looked).toMatchObject({ code: 1, stdout: '' })
  expect(looked.stderr).toMatch(/^Error: MalformedError: what is remembered of peers cannot be used: .*\n$/)
  const { daemon } = await startDaemon(path)
  expect(daemon.stderr).toMatch(/^Warning: what is remembered of peers cannot be used: .*\n$/)
  expect(await ok(['peers'], { repo: path })).toContain('No peer is known yet')
  expect(await ok(['cat', cid], { repo: path })).toBe('hello')
  expect(await idOf(path)).toBe(id)
  daemon.child.kill('SIGTERM')
  await daemon.finished
  const after = await openRepo(path)
  expect(new Uint8Array(await after.datastore.get(new Key(damagedName)))).toEqual(bad)
  expect(await after.datastore.has(new Key(recordName))).toBe(false)
  await after.close()
})

test('--every goes with --watch, and is no shorter than the daemon can bear', async () => {
  const repo = await newRepo()
  expect(await run(['peers', '--every', '1s'], { repo })).toMatchObject({ code: 2, stderr: expect.stringContaining('goes with --watch') })
  expect(await run(['peers', '--watch', '--every', '0s'], { repo })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('10ms or more')
  })
})

test('without a daemon there is nothing to watch', async () => {
  const repo = await newRepo()
  expect(await ok(['peers'], { repo })).toContain('No peer is known yet')
  const { code, stderr } = await run(['peers', '--watch'], { repo })
  expect(code).toBe(2)
  expect(stderr).toContain('shardswap daemon')
})

test('on a terminal --watch draws in place, and within its size', () => {
  const drawn = screen(['peer  score', 'a very long line', 'third', 'fourth'], { columns: 12, rows: 4 })
  expect(drawn).toBe('\u001b[Hpeer  score\u001b[K\na very long\u001b[K\nthird\u001b[K\n\u001b[J')
  // A terminal of no size has not told it.
  expect(screen(['x'.repeat(100)], { columns: 0, rows: 0 })).toContain('x'.repeat(79))
})

test('ids are shortened on a narrow terminal, and nowhere else', () => {
  const peer = peerKey('12D3KooWCizaGVPEo9SQQrpEV7DdhV2W8336W2M3dtvahAwm8jaU')
  const unknown = { success24h: undefined, success30d: undefined, uptime24h: undefined, uptime30d: undefined }
  const times = { latencyP50Ms: 12_345, latencyP95Ms: 1.25, shutOutMs: 3_600_000, returnLeftMs: 90_000_000 }
  const counts = { backupTurns: 2, rewardable: 7 } as PeerScore['counts']
  const score: PeerScore = {
    peer,
    isConnected: false,
    isVetted: false,
    score: 12.34,
    share: 0,
    failChance: 0,
    inFlight: 1,
    ...unknown,
    ...times,
    counts
  }
  const scores = { peers: [score], known: 3, calibration: undefined }
  expect(scoreLines(scores)[1]).toMatch(
    /^12D3KooWCizaGVPEo9SQQrpEV7DdhV2W8336W2M3dtvahAwm8jaU +12\.3 % +– +– +– +12\.3 s +1\.[23] ms +1 +2 +7 {2}shut out for 1h 0m, not connected$/
  )
  const returning = { ...score, shutOutMs: 0, isConnected: true }
  expect(scoreLines({ ...scores, peers: [returning] })[1]).toMatch(/ {2}on its way back for 25h 0m$/)
  expect(scoreLines({ ...scores, peers: [{ ...returning, returnLeftMs: 0 }] })[1]).toMatch(/ {2}new$/)
  // A name that is none does nothing to the terminal.
  const odd = { ...scores, peers: [{ ...score, peer: peerKey('a\u001b[2J\u009bb') }] }
  expect(scoreLines(odd)[1]).toMatch(/^a\\x1b\[2J\\x9bb +12\.3 %/)
  // oxlint-disable-next-line no-control-regex -- what must not come out
  expect(scoreLines(odd, 80).join('')).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
  expect(scoreLines(scores, 80)[1]).toMatch(/^12D3…hAwm8jaU +12\.3 %/)
  expect(scoreLines(scores)[2]).toBe('and 2 more that are not connected')
})
