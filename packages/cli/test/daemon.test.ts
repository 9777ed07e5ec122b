import { createServer } from 'node:net'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fixtures, folder, newRepo, ok, run, someBytes, start, startDaemon } from './command.ts'

const freePorts = ['--listen', '/ip4/127.0.0.1/tcp/0', '--api', '/ip4/127.0.0.1/tcp/0']
const dirRoot = 'bafybeiaasiumvcklrndldw6tmi6szaqx3dab4zuhbr73ilrlbywosveicq'

test('a daemon makes its repo, says where it listens, serves commands, and stops at SIGTERM', async () => {
  const cwd = await folder()
  const repo = join(cwd, 'repo')
  const { daemon, address } = await startDaemon(repo)
  expect(address).toMatch(/^\/ip4\/127\.0\.0\.1\/tcp\/\d+\/p2p\/12D3/)
  expect(daemon.stdout.toString()).toMatch(/RPC API server listening on \/ip4\/127\.0\.0\.1\/tcp\/\d+\nDaemon is ready\n$/)
  const api = (await readFile(join(repo, 'api'), 'utf8')).trim()
  expect(api).toMatch(/^\/ip4\/127\.0\.0\.1\/tcp\/\d+$/)
  const content = someBytes(600_000)
  const cid = await ok(['add', '-Q', '--cid-version=1'], { repo, stdin: content })
  expect((await run(['cat', cid], { repo })).bytes).toEqual(Buffer.from(content))
  expect(JSON.parse(await ok(['id'], { repo }))).toMatchObject({ Addresses: [address] })
  expect(await ok(['dag', 'import', join(fixtures, 'dir.car')], { repo })).toContain(dirRoot)
  expect((await ok(['ls', dirRoot], { repo })).split('\n')).toHaveLength(10)
  await ok(['get', '-o', 'out', dirRoot], { repo, cwd })
  expect(await readFile(join(cwd, 'out/with space/file name.txt'), 'utf8')).toHaveLength(3)
  // Named by its API alone, it serves whoever has no repo.
  expect((await run(['cat', '--api', api, cid])).bytes).toEqual(Buffer.from(content))
  expect(await ok(['swarm', 'peers'], { repo })).toBe('')
  daemon.child.kill('SIGTERM')
  expect(await daemon.finished).toMatchObject({ code: 0, stderr: expect.stringContaining('Making a repo') as string })
  await expect(readFile(join(repo, 'api'))).rejects.toMatchObject({ code: 'ENOENT' })
  expect((await run(['cat', cid], { repo })).bytes).toEqual(Buffer.from(content))
})

test('Ctrl-C and shutdown stop a daemon well', async () => {
  const repo = await newRepo()
  const first = await startDaemon(repo)
  first.daemon.child.kill('SIGINT')
  expect((await first.daemon.finished).code).toBe(0)
  const second = await startDaemon(repo)
  await ok(['shutdown'], { repo })
  expect((await second.daemon.finished).code).toBe(0)
  expect((await run(['shutdown'], { repo })).code).toBe(1)
})

test('[F65] a second daemon on one repo is refused and told who has it', async () => {
  const repo = await newRepo()
  const { daemon } = await startDaemon(repo)
  const second = await run(['daemon', ...freePorts], { repo })
  expect(second.code).toBe(1)
  expect(second.stdout).toBe('')
  expect(second.stderr).toContain(`pid ${daemon.child.pid ?? 0}`)
  // The first one is none the worse for it.
  expect((await run(['id'], { repo })).code).toBe(0)
})

test('[F65] after kill -9 neither the lock nor the API address that stays behind is in the way', async () => {
  const repo = await newRepo()
  const { daemon } = await startDaemon(repo)
  const cid = await ok(['add', '-Q'], { repo, stdin: someBytes(300_000) })
  const api = await readFile(join(repo, 'api'), 'utf8')
  daemon.child.kill('SIGKILL')
  await daemon.finished
  expect(await readFile(join(repo, 'api'), 'utf8')).toBe(api)
  expect((await run(['cat', cid], { repo })).bytes.byteLength).toBe(300_000)
  // Another program may have taken the port since.
  const other = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi\n'))
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const taken = other.address()
  await writeFile(join(repo, 'api'), `/ip4/127.0.0.1/tcp/${taken !== null && typeof taken === 'object' ? taken.port : 0}\n`)
  expect((await run(['cat', cid], { repo })).bytes.byteLength).toBe(300_000)
  other.close()
  await startDaemon(repo)
})

test('[F65] a taken port is named, and lock and other listeners are given back', async () => {
  const repo = await newRepo()
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const address = other.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  for (const args of [
    ['--listen', `/ip4/127.0.0.1/tcp/${port}`, '--api', '/ip4/127.0.0.1/tcp/0'],
    ['--listen', '/ip4/127.0.0.1/tcp/0', '--api', `/ip4/127.0.0.1/tcp/${port}`]
  ]) {
    const { code, stdout, stderr } = await run(['daemon', ...args], { repo })
    expect(code).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toContain(`port ${port} is in use`)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect((await run(['repo', 'stat'], { repo })).code).toBe(0)
  }
  other.close()
})

test('[F70] the command tells the same failure alike with and without a daemon', async () => {
  const repo = await newRepo()
  const cases = [
    ['cat', '--offline', dirRoot],
    ['block', 'stat', '--offline', dirRoot],
    ['ls', 'frob'],
    ['block', 'rm', dirRoot]
  ]
  const without = []
  for (const args of cases) without.push(await run(args, { repo }))
  await startDaemon(repo)
  for (const [at, args] of cases.entries()) {
    const { code, stdout, stderr } = await run(args, { repo })
    expect({ code, stdout, stderr }).toEqual({ code: without[at]?.code, stdout: without[at]?.stdout, stderr: without[at]?.stderr })
  }
  const late = await run(['cat', '--timeout', '300ms', dirRoot], { repo })
  expect(late.code).toBe(4)
  expect(late.stderr).toMatch(/^Error: TimeoutError: .*timed out/)
})

test('output through the daemon to a pipe that closes ends quietly too', async () => {
  const repo = await newRepo()
  await startDaemon(repo)
  const cid = await ok(['add', '-Q'], { repo, stdin: someBytes(20_000_000) })
  const running = start(['cat', cid], { repo, stdin: '' })
  running.child.stdout.once('data', () => running.child.stdout.destroy())
  expect(await running.finished).toMatchObject({ code: 0, stderr: '' })
})

test('a large upload that is refused early says why', async () => {
  const repo = await newRepo()
  await startDaemon(repo)
  const { code, stderr } = await run(['block', 'put'], { repo, stdin: someBytes(3_500_000) })
  expect(code).toBe(1)
  expect(stderr).toMatch(/TooLargeError.*--allow-big-block/)
  const archive = await readFile(join(fixtures, 'bad-header.car'))
  const refused = await run(['dag', 'import'], { repo, stdin: Buffer.concat([archive, someBytes(3_000_000)]) })
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(/MalformedError/)
})
