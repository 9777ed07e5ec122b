import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fixtures, folder, newRepo, ok, run, someBytes, start, startDaemon } from './command.ts'

/** Kubo's archive of a file, without its first leaf. */
const broken = 'QmReRTvohDK1pcGQxmyVupzFgUpAAMmYTskGx8ZrisYBeY'

test('a command without a daemon fetches from the peer that it is given, and keeps what it got', async () => {
  const provider = await newRepo()
  const { address } = await startDaemon(provider)
  const content = someBytes(3_000_000)
  const cid = await ok(['add', '-Q', '--cid-version=1'], { repo: provider, stdin: content })
  await ok(['dag', 'import', join(fixtures, 'dir-hamt-16.car')], { repo: provider })
  const hamt = 'bafybeihut5my4kh7s4y4oaai2j6a4bawilk7qydp7qzyjdqogkzu6puaxm'
  const repo = await newRepo()
  const cwd = await folder()
  expect((await run(['cat', '--peer', address, cid], { repo })).bytes).toEqual(Buffer.from(content))
  expect((await run(['cat', '--offline', cid], { repo })).bytes).toEqual(Buffer.from(content))
  await ok(['get', '--peer', address, '-o', 'out', hamt], { repo, cwd })
  const names = await readdir(join(cwd, 'out'))
  expect(names).toHaveLength(400)
  expect(await readFile(join(cwd, 'out/file-17.txt'), 'utf8')).toBe('17')
  expect((await ok(['ls', '--peer', address, hamt], { repo: await newRepo() })).split('\n')).toHaveLength(400)
})

test('two daemons swap: connect, then get, and a block put at one is known at the other', async () => {
  const one = await newRepo()
  const two = await newRepo()
  const { address } = await startDaemon(one)
  await startDaemon(two)
  expect(await ok(['swarm', 'connect', address], { repo: two })).toBe(`connect ${address.split('/').at(-1) ?? ''} success`)
  expect(await ok(['swarm', 'peers'], { repo: two })).toBe(address)
  expect(await ok(['swarm', 'peers', '-v'], { repo: one })).toMatch(/inbound$/)
  const cid = await ok(['block', 'put'], { repo: one, stdin: 'hello' })
  expect(await ok(['block', 'get', cid], { repo: two })).toBe('hello')
  // One that is wanted before it is there.
  const later = await ok(['block', 'put'], { repo: await newRepo(), stdin: 'later' })
  const waiting = start(['block', 'get', later], { repo: two, stdin: '' })
  await expect.poll(async () => (await run(['block', 'stat', '--offline', later], { repo: one })).code, { timeout: 60_000 }).toBe(3)
  await ok(['block', 'put'], { repo: one, stdin: 'later' })
  expect(await waiting.finished).toMatchObject({ code: 0, stdout: 'later' })
})

test('a peer that is not there is named; where another is there it is a warning', async () => {
  const repo = await newRepo()
  const { address } = await startDaemon(await newRepo())
  const gone = '/ip4/127.0.0.1/tcp/1/p2p/12D3KooWQvCb7rumRb7t1DMtTaEmfnQgPC5DGxqXeyS9dtZrBa1w'
  const none = await run(['ls', '--peer', gone, broken], { repo })
  expect(none.code).toBe(5)
  expect(none.stderr).toMatch(/^Error: ConnectError: could not connect to \/ip4\/127\.0\.0\.1\/tcp\/1/)
  const some = await run(['swarm', 'peers', '--peer', gone, '--peer', address], { repo })
  expect(some.code).toBe(0)
  expect(some.stdout.trim()).toBe(address)
  expect(some.stderr).toMatch(/^Warning: could not connect/)
})

/** Resolves once a command prints something else than `before`. */
async function printsOther(args: readonly string[], repo: string, before: string): Promise<void> {
  await expect.poll(async () => (await run(args, { repo })).stdout, { timeout: 120_000 }).not.toBe(before)
}

test.each([
  ['get', 'a daemon'],
  ['cat', 'a daemon'],
  ['get', 'the command alone'],
  ['cat', 'the command alone']
])('Ctrl-C during %s through %s: 130, no partial file, no message', async (command, through) => {
  const provider = await newRepo()
  const { address } = await startDaemon(provider)
  await ok(['dag', 'import', join(fixtures, 'missing-block.car')], { repo: provider })
  const repo = await newRepo()
  if (through === 'a daemon') await startDaemon(repo)
  const cwd = join(await folder(), 'here')
  await mkdir(cwd)
  const running = start([command, '--timeout', '1h', '--peer', address, broken], { repo, cwd, stdin: '' })
  // All but the first leaf is there: once it is connected and has the root, it waits for that one.
  await printsOther(['swarm', 'peers'], provider, '')
  if (through === 'a daemon') await printsOther(['block', 'stat', '--offline', broken], repo, '')
  running.child.kill('SIGINT')
  expect(await running.finished).toMatchObject({ code: 130, stderr: '' })
  expect(await readdir(cwd)).toEqual([])
})

test('a block that the only peer lacks ends at the timeout, or sooner by itself', async () => {
  const { address } = await startDaemon(await newRepo())
  const repo = await newRepo()
  const { code, stderr, stdout } = await run(['block', 'get', '--timeout', '1s', '--peer', address, broken], { repo })
  expect({ code, stdout }).toEqual({ code: 4, stdout: '' })
  expect(stderr).toMatch(/^Error: TimeoutError/)
})

test('[F68] a block that the disk damaged is found by verify, never handed out, and fetched again', async () => {
  const content = someBytes(600_000)
  const provider = await newRepo()
  const { address } = await startDaemon(provider)
  const repo = await newRepo()
  for (const at of [provider, repo]) await ok(['add', '-Q', '--cid-version=1'], { repo: at, stdin: content })
  const cid = await ok(['add', '-Q', '--cid-version=1', '--only-hash'], { repo, stdin: content })
  const files = await readdir(repo, { recursive: true, withFileTypes: true })
  const leaf = files.map((file) => join(file.parentPath, file.name)).filter((path) => path.includes('/blocks/'))
  const sizes = await Promise.all(leaf.map(async (path) => (await stat(path)).size))
  const damaged = leaf[sizes.indexOf(262_144)] ?? ''
  const bytes = await readFile(damaged)
  bytes[1000] = (bytes[1000] ?? 0) ^ 1
  await writeFile(damaged, bytes)
  const verified = await run(['repo', 'verify'], { repo })
  expect(verified.code).toBe(6)
  expect(verified.stdout).toMatch(/block bafkrei\S+ was corrupt/)
  expect(verified.stderr).toMatch(/^Error: 1 of 4 blocks are corrupt/)
  const offline = await run(['cat', '--offline', cid], { repo })
  expect(offline.code).toBe(3)
  expect(offline.stderr.trim().split('\n')).toHaveLength(1)
  expect((await run(['cat', '--peer', address, cid], { repo })).bytes).toEqual(Buffer.from(content))
  expect((await run(['repo', 'verify'], { repo })).code).toBe(0)
})

test('what get would write outside its target is not written', async () => {
  const repo = await newRepo()
  const cwd = await folder()
  await writeFile(join(cwd, 'victim'), 'unharmed')
  // A dag-pb directory whose only entry is named "../victim", written out by hand.
  const leaf = await ok(['block', 'put'], { repo, stdin: 'harm' })
  const cid = Buffer.from((await import('multiformats/cid')).CID.parse(leaf).bytes)
  const name = Buffer.from('../victim')
  const link = Buffer.concat([Buffer.from([0x0a, cid.length]), cid, Buffer.from([0x12, name.length]), name, Buffer.from([0x18, 4])])
  const node = Buffer.concat([Buffer.from([0x12, link.length]), link, Buffer.from([0x0a, 2, 0x08, 1])])
  const root = await ok(['block', 'put', '--cid-codec', 'dag-pb'], { repo, stdin: node })
  const here = await run(['get', '-o', 'out', root], { repo, cwd })
  expect(here.code).toBe(1)
  await startDaemon(repo)
  const there = await run(['get', '-o', 'out2', root], { repo, cwd })
  expect(there.code).toBe(1)
  expect(await readFile(join(cwd, 'victim'), 'utf8')).toBe('unharmed')
})
