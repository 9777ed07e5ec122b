import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { admissionLines } from '../src/commands/admission.ts'
import { folder, newRepo, ok, run, start, startDaemon } from './command.ts'

interface Binding {
  readonly Kind: string
  readonly Client: string
  readonly Server?: string
  readonly Owner: string
  readonly ExpiresMs: number
  readonly Renewed: boolean
}

interface Admission {
  readonly Running: boolean
  readonly Mode: string
  readonly Cap: number
  readonly Free: { readonly Score: number; readonly Decision: string; readonly Reason: string }
  readonly Decisions: Readonly<Record<string, number>>
  readonly Registry: { readonly Records: number; readonly Servers: number }
  readonly Own: { readonly Client: string; readonly Bindings: readonly Binding[] }
}

async function idOf(repo: string): Promise<string> {
  return (JSON.parse(await ok(['id', '--json'], { repo })) as { ID: string }).ID
}

async function admission(repo: string): Promise<Admission> {
  return JSON.parse(await ok(['admission', '--json'], { repo })) as Admission
}

test('[I3] an owner registers its nodes by its key, a server’s claim and a delegation, and revokes what it gave', async () => {
  const [server, client, owner] = [await newRepo(), await newRepo(), await newRepo()]
  await startDaemon(server)
  await startDaemon(client)
  const [serverId, clientId, ownerId] = [await idOf(server), await idOf(client), await idOf(owner)]
  const ownerKey = join(owner, 'identity.key')

  const own = await ok(['register'], { repo: server })
  expect(own).toMatch(new RegExp(`^${serverId} is its own server and owner, until \\S+Z, renewed while the daemon runs$`))
  const claim = join(await folder(), 'claim.txt')
  await writeFile(claim, `${await ok(['register', 'claim', ownerId, '--lifetime', '20d'], { repo: server })}\n`)
  const words = ['register', '--owner-key', ownerKey, '--server-claim', claim]
  const bound = JSON.parse(await ok([...words, '--lifetime', '2d', '--json'], { repo: client })) as Binding
  expect(bound).toMatchObject({ Kind: 'binding', Client: clientId, Server: serverId, Owner: ownerId, Renewed: false })
  expect(Math.abs(bound.ExpiresMs - Date.now() - 2 * 86_400_000)).toBeLessThan(600_000)
  expect((await admission(client)).Own.Bindings).toEqual([bound])
  expect(await ok(['admission'], { repo: client })).toContain(`client key ${clientId} belongs to the server ${serverId} of ${ownerId}`)

  // By pipes too, on standard input.
  const delegation = await ok(['register', 'delegate', clientId], { repo: server })
  expect(await ok(['register', 'use', '-'], { repo: client, stdin: `${delegation}\n` })).toContain(
    `under the client key ${serverId}, until`
  )
  expect((await admission(client)).Own.Client).toBe(serverId)
  expect(await ok(['register', 'use', '--none'], { repo: client })).toBe(`${clientId} makes its requests under its own identity`)

  const revoked = await ok(['unregister', '--owner-key', ownerKey], { repo: client })
  expect(revoked).toContain(`client key ${clientId} belongs to no server of ${ownerId} any more`)
  expect((await admission(client)).Own.Bindings).toEqual([])
  expect(await ok(['unregister', '--owner-key', ownerKey], { repo: client })).toBe('There was nothing to revoke.')
  expect(await ok(['admission'], { repo: client })).toContain('it is registered nowhere')
})

test('[I16] what is registered without a daemon is kept, and told to others once one runs', async () => {
  const [repo, other, third] = [await newRepo(), await newRepo(), await newRepo()]
  const [id, otherId] = [await idOf(repo), await idOf(other)]
  expect(await ok(['register', '--lifetime', '5d'], { repo })).toContain(`${id} is its own server and owner`)
  const offline = await admission(repo)
  expect(offline).toMatchObject({ Running: false, Registry: { Records: 1, Servers: 1 }, Own: { Bindings: [{ Owner: id, Renewed: true }] } })
  expect(await ok(['admission'], { repo })).toContain('No daemon runs on this repo, so nothing is served: this is what it remembers.')
  const delegation = join(await folder(), 'delegation.txt')
  await writeFile(delegation, await ok(['register', 'delegate', otherId], { repo }))
  expect(await ok(['register', 'use', delegation], { repo: other })).toContain(`under the client key ${id}`)

  const { address } = await startDaemon(repo)
  expect((await admission(repo)).Own.Bindings).toEqual(offline.Own.Bindings)
  await startDaemon(other, '--peer', address)
  // Whoever connects learns of it, and who comes with the delegation counts as the same owner's.
  const { address: thirdAddress } = await startDaemon(third, '--peer', address)
  await ok(['swarm', 'connect', thirdAddress], { repo: other })
  const seen = async (): Promise<unknown> => {
    const { Peers } = JSON.parse(await ok(['admission', '--json'], { repo: third })) as { Peers: readonly { Owner?: string }[] }
    return Peers.map(({ Owner }) => Owner)
  }
  await expect.poll(seen, { timeout: 120_000 }).toEqual([id, id])
  expect(await ok(['admission', '--peers'], { repo: third })).toMatch(new RegExp(`^${id} +2 +0/1 .* admitted: score$`, 'm'))
})

test('[I12][I14] the report says whom the mode and the free score let in, peer by peer', async () => {
  const [server, client] = [await newRepo(), await newRepo()]
  await writeFile(join(server, 'config'), '{"serve":{"mode":"registered","cap":10,"freeScore":0}}')
  const { address } = await startDaemon(server)
  await startDaemon(client, '--peer', address)
  await expect.poll(async () => await ok(['swarm', 'peers'], { repo: server }), { timeout: 60_000 }).not.toBe('')
  const lines = (await ok(['admission', '--peers'], { repo: server })).split('\n')
  expect(lines[0]).toBe('mode registered: 0 of 10 requests open, 0 served in 24 h, 0 servers that count')
  expect(lines[1]).toMatch(/^owner +peers +servers +A 24 h +A 30 d +tests +served +weight +score +open +turned away +now$/)
  expect(lines.join('\n')).toMatch(/^strangers .* 0\.0 +0 +0 +refused: low-free-score$/m)
  expect(lines.join('\n')).toMatch(new RegExp(`^${await idOf(client)} +its own +stranger +refused: low-free-score$`, 'm'))
  expect(lines.join('\n')).toMatch(
    /^tests +none are made while this node is registered nowhere; 0 servers with known blocks; none, under 0 identities$/m
  )
  expect(await admission(server)).toMatchObject({ Running: true, Cap: 10, Free: { Decision: 'refuse', Reason: 'low-free-score' } })
})

test.each([
  ['off', 'off'],
  ['registered', 'low-free-score']
])('[I14] with serve.mode %s a stranger without a score is refused, and it is counted why', async (mode, reason) => {
  const [server, client] = [await newRepo(), await newRepo()]
  await writeFile(join(server, 'config'), JSON.stringify({ serve: { mode, freeScore: 0 } }))
  const cid = await ok(['block', 'put'], { repo: server, stdin: 'not for everybody' })
  const { address } = await startDaemon(server)
  const asking = start(['block', 'get', '--peer', address, '--timeout', '170s', cid], { repo: client, stdin: '' })
  const refused = async (): Promise<number> => (await admission(server)).Decisions[reason] ?? 0
  await expect.poll(refused, { timeout: 120_000 }).toBeGreaterThan(0)
  expect((await admission(server)).Decisions).not.toHaveProperty('free')
  expect(asking.stdout.toString()).toBe('')
  asking.child.kill('SIGINT')
  expect(await asking.finished).toMatchObject({ code: 130, stdout: '' })
})

test('what is no key, claim or delegation is told as wrong usage, and nothing of it is repeated', async () => {
  const repo = await newRepo()
  await startDaemon(repo)
  const file = join(await folder(), 'secret')
  await writeFile(file, 'secret words')
  for (const args of [
    ['register', '--owner-key', file],
    ['register', '--client-key', file],
    ['register', '--server-claim', file],
    ['register', '--lifetime', '100d'],
    ['register', 'delegate', await idOf(repo), '--client-key', file],
    ['register', 'use', file],
    ['unregister', '--owner-key', file]
  ]) {
    const { code, stdout, stderr } = await run(args, { repo })
    expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' })
    expect(stderr).toMatch(/^Error: .*\n$/)
    expect(stderr).not.toContain('secret words')
  }
  const other = join(await folder(), 'folder')
  await mkdir(other)
  expect(await run(['register', '--owner-key', other], { repo })).toMatchObject({ code: 1, stderr: `Error: ${other}: is a directory\n` })
  await writeFile(file, new Uint8Array(20_000))
  expect(await run(['register', '--owner-key', file], { repo })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('TooLargeError') as string
  })
  expect((await admission(repo)).Registry).toMatchObject({ Records: 0 })
})

test('a config that cannot be is told by the key that is wrong, and nothing starts', async () => {
  const repo = await newRepo()
  await writeFile(join(repo, 'config'), '{"serve":{"cap":10,"freeScore":11}}')
  const { code, stdout, stderr } = await run(['daemon'], { repo })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^Error: ConfigError: config: serve\.freeScore must be a number from 0 to serve\.cap, which is 10, not 11\n$/)
})

test('[I8][I10][I13] each owner has a line with its figures and what it would be told now', () => {
  const tests = { sent: 97, received: 96 }
  const figures = { peers: 2, registered: 3, servers: 1, aShort: 0.98, aLong: 0.972, tests, served: 1203.6, weight: 0.714 }
  const waits = { action: 'wait', reason: 'low-score' } as const
  const owner = { owner: 'one' as never, ...figures, score: 99.21, open: 4, turnedAway: 5, decision: waits }
  const own = { peer: 'me', client: 'key', delegationExpiresMs: 0, bindings: [] }
  const lines = admissionLines(
    {
      isRunning: false,
      report: {
        mode: 'open',
        openRequestsMax: 100,
        open: 100,
        served: 2000.4,
        servers: 9,
        free: { score: 12.5, open: 96, turnedAway: 7, decision: { action: 'wait', reason: 'low-free-score' } },
        owners: [owner],
        peers: [{ peer: 'p', client: 'c', owner: 'one', decision: waits }],
        decisions: { score: 3, 'low-score': 5 },
        registry: { records: 1, servers: 2, outcomes: { taken: 1 }, refused: { frame: 4 }, speakers: 1, frames: 0, reading: 0 },
        own,
        tests: { state: 'on', servers: 6, visits: 1, outcomes: { verified: 7, silent: 8 }, identities: 2 }
      },
      ownersKnown: 3,
      peersKnown: 2
    },
    true
  )
  const text = lines.join('\n')
  expect(lines[0]).toContain('No daemon runs on this repo')
  expect(text).toContain('mode open: 100 of 100 requests open, 2000 served in 24 h, 9 servers that count')
  expect(text).toMatch(/^one +2 +1\/3 +98\.0 % +97\.2 % +96\/97 +1204 +0\.71 +99\.2 +4 +5 {2}waits: low-score$/m)
  expect(text).toMatch(/^strangers +(– +){7}12\.5 +96 +7 {2}waits: low-free-score$/m)
  expect(text).toContain('and 2 owners more')
  expect(text).toContain('decisions   3 score, 5 low-score')
  expect(text).toContain('registry    1 records, 2 servers; records that came: 1 taken; refused besides: 4 frame')
  expect(text).toContain('tests       on; 6 servers with known blocks; 7 verified, 8 silent, under 2 identities')
  expect(text).toContain('this node   me makes its requests under the client key key, until 1970-01-01T00:00:00.000Z')
  expect(text).toContain('p     c           one    waits: low-score')
  expect(lines.at(-1)).toBe('and 1 peers more')
})
