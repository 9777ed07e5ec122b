import { createHash } from 'node:crypto'
import { mkdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fixtures, folder, newRepo, ok, run, someBytes, start } from './command.ts'

const dirRoot = 'bafybeiaasiumvcklrndldw6tmi6szaqx3dab4zuhbr73ilrlbywosveicq'

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

test('a file goes in by add and comes out by cat and get, and add prints what Kubo prints', async () => {
  const repo = await newRepo()
  const cwd = await folder()
  const content = someBytes(700_000)
  await writeFile(join(cwd, 'data.bin'), content)
  const printed = await ok(['add', '--cid-version', '1', 'data.bin'], { repo, cwd })
  const cid = /^added (\S+) data\.bin$/.exec(printed)?.[1] ?? ''
  expect(sha256((await run(['cat', cid], { repo })).bytes)).toBe(sha256(content))
  const range = await run(['cat', '--offset', '300000', '--length', '5', `/ipfs/${cid}`], { repo })
  expect(range.bytes).toEqual(Buffer.from(content.subarray(300_000, 300_005)))
  await ok(['get', '-o', 'copy.bin', cid], { repo, cwd })
  expect(sha256(await readFile(join(cwd, 'copy.bin')))).toBe(sha256(content))
  await ok(['get', cid], { repo, cwd })
  expect(sha256(await readFile(join(cwd, cid)))).toBe(sha256(content))
  expect(await ok(['add', '-Q', '--cid-version=1', '--only-hash'], { repo, stdin: content })).toBe(cid)
  expect(await ok(['add', '--cid-version=1', '-'], { repo, stdin: content })).toBe(`added ${cid} ${cid}`)
})

test('the same bytes with the same options have the root that Kubo gave them', async () => {
  const repo = await newRepo()
  for (const [car, root, ...options] of [
    ['file-v0', 'QmWLbxt3tREFfYKg7JtcFJd6gd8Q7Kk2XHMB6ZWJzG2Pwk', '--chunker=size-4096', '--raw-leaves=false'],
    ['file-trickle', 'bafybeie3ol5ox6e6fq4hzlzblg535ew22ktszwkirur2nlnf5enbjz3634', '--cid-version=1', '--trickle', '--chunker=size-2048'],
    ['hash-blake3', 'bafyb4ihjnkemwhijarq4vgyio4uxuynqt6gpu2a7uxay6yzhqskfwkw5iq', '--hash=blake3', '--chunker=size-4096']
  ] as const) {
    expect(await ok(['dag', 'import', join(fixtures, `${car}.car`)], { repo })).toContain(`Pinned root\t${root}\tsuccess`)
    const { bytes } = await run(['cat', root], { repo })
    expect(await ok(['add', '-Q', ...options], { repo, stdin: bytes })).toBe(root)
  }
})

test('a folder keeps its names, links and hidden files, by add, ls and get', async () => {
  const repo = await newRepo()
  const cwd = await folder()
  await mkdir(join(cwd, 'tree/sub'), { recursive: true })
  await writeFile(join(cwd, 'tree/a b.txt'), 'one')
  await writeFile(join(cwd, 'tree/.hidden'), 'two')
  await symlink('../a b.txt', join(cwd, 'tree/sub/link'))
  expect((await run(['add', 'tree'], { repo, cwd })).stderr).toMatch(/-r/)
  const shown = await ok(['add', '-r', 'tree'], { repo, cwd })
  expect(shown.split('\n').map((line) => line.split(' ').slice(2).join(' '))).toEqual(['tree/a b.txt', 'tree/sub/link', 'tree/sub', 'tree'])
  const root = await ok(['add', '-r', '-Q', '-H', 'tree'], { repo, cwd })
  const list = (await ok(['ls', root], { repo })).split('\n').map((line) => line.split(' ').slice(1).join(' '))
  expect(list).toEqual(['3 .hidden', '3 a b.txt', '- sub/'])
  const names = (await ok(['ls', '--size=false', '--resolve-type=false', root], { repo }))
    .split('\n')
    .map((line) => line.slice(line.indexOf(' ') + 1))
  expect(names).toEqual(['.hidden', 'a b.txt', 'sub'])
  await ok(['get', '-o', 'copy', root], { repo, cwd })
  expect(await readFile(join(cwd, 'copy/a b.txt'), 'utf8')).toBe('one')
  expect(await readlink(join(cwd, 'copy/sub/link'))).toBe('../a b.txt')
  await ok(['get', '-o', 'one.txt', `${root}/a b.txt`], { repo, cwd })
  expect(await readFile(join(cwd, 'one.txt'), 'utf8')).toBe('one')
  const wrapped = await ok(['add', '-w', 'tree/a b.txt'], { repo, cwd })
  const wrapper = wrapped.split('\n').at(-1)?.split(' ')[1] ?? ''
  expect(await ok(['ls', wrapper], { repo })).toMatch(/ 3 a b\.txt$/)
})

test("Kubo's archive of odd names is imported, listed, read by path, and exported byte for byte", async () => {
  const repo = await newRepo()
  const car = join(fixtures, 'dir.car')
  await ok(['dag', 'import', car], { repo })
  expect(JSON.parse(await ok(['ls', '--json', `${dirRoot}/sub`], { repo }))).toMatchObject({
    Objects: [{ Links: [{ Name: 'data.bin', Size: 100_000 }, {}, {}] }]
  })
  expect((await run(['cat', `/ipfs/${dirRoot}/żółć-日本-🙂.txt`], { repo })).code).toBe(0)
  const single = join(fixtures, 'file-v0.car')
  await ok(['dag', 'import', single], { repo })
  const exported = await run(['dag', 'export', 'QmWLbxt3tREFfYKg7JtcFJd6gd8Q7Kk2XHMB6ZWJzG2Pwk'], { repo })
  expect(sha256(exported.bytes)).toBe(sha256(await readFile(single)))
  expect((await run(['dag', 'import'], { repo, stdin: exported.bytes })).stdout).toContain('Imported 172 blocks')
})

test('bad archives are refused with the place of the fault', async () => {
  const repo = await newRepo()
  for (const [name, words] of [
    ['bad-flipped-byte', /does not match its CID Qm/],
    ['bad-truncated', /offset/],
    ['bad-length', /offset/],
    ['bad-header', /header/]
  ] as const) {
    const { code, stderr, stdout } = await run(['dag', 'import', join(fixtures, `${name}.car`)], { repo })
    expect({ name, code, stdout }).toEqual({ name, code: name === 'bad-flipped-byte' ? 6 : 1, stdout: '' })
    expect(stderr).toMatch(words)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  }
})

test('a file that is not there is named, to read and to write; no daemon to stop is no wrong usage', async () => {
  const repo = await newRepo()
  const cwd = await folder()
  const archive = await run(['dag', 'import', 'absent.car'], { repo, cwd })
  expect(archive).toMatchObject({ code: 1, stdout: '', stderr: 'Error: absent.car: no such file or directory\n' })
  const root = await ok(['add', '-Q'], { repo, stdin: 'one' })
  const written = await run(['get', '-o', 'absent/copy', root], { repo, cwd })
  expect(written).toMatchObject({ code: 1, stderr: 'Error: absent/copy: no such file or directory\n' })
  const stopped = await run(['shutdown'], { repo })
  expect(stopped.code).toBe(1)
  expect(stopped.stderr).toMatch(/no daemon serves/)
})

test('what is not here is not found at once, and the message says what would help', async () => {
  const repo = await newRepo()
  const { code, stderr } = await run(['cat', dirRoot], { repo })
  expect(code).toBe(3)
  expect(stderr).toMatch(/^Error: NotFoundError: .*--peer/)
  expect((await run(['cat', '--offline', dirRoot], { repo })).code).toBe(3)
  const peers = await run(['swarm', 'peers'], { repo })
  expect(peers.code).toBe(5)
  expect(peers.stderr).toMatch(/OfflineError.*shardswap daemon/)
})

test('[F46] a block of more than 2 MiB is refused without --allow-big-block', async () => {
  const repo = await newRepo()
  const stdin = someBytes(2 * 1024 * 1024 + 1)
  const refused = await run(['block', 'put'], { repo, stdin })
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(/TooLargeError.*--allow-big-block/)
  const cid = await ok(['block', 'put', '--allow-big-block'], { repo, stdin })
  expect((await run(['block', 'get', cid], { repo })).bytes.byteLength).toBe(stdin.byteLength)
  expect(await ok(['block', 'put'], { repo, stdin: stdin.subarray(1) })).toMatch(/^bafkrei/)
})

test('blocks go in with a codec and a hash, and out again', async () => {
  const repo = await newRepo()
  const cid = await ok(['block', 'put', '--cid-codec', 'dag-cbor', '--mhtype', 'sha2-512'], { repo, stdin: Buffer.from([0xa0]) })
  expect(cid).toMatch(/^bafyrg/)
  expect(JSON.parse(await ok(['block', 'stat', '--json', cid], { repo }))).toEqual({ Key: cid, Size: 1 })
  expect(await ok(['block', 'stat', cid], { repo })).toBe(`Key: ${cid}\nSize: 1 bytes`)
  expect(await ok(['repo', 'verify'], { repo })).toMatch(/all 1 blocks validated/)
  expect(await ok(['block', 'rm', cid], { repo })).toBe(`removed ${cid}`)
  expect((await run(['block', 'rm', cid], { repo })).code).toBe(1)
  expect((await run(['block', 'rm', '--force', cid], { repo })).code).toBe(0)
  expect(JSON.parse(await ok(['repo', 'stat', '--json'], { repo }))).toMatchObject({ NumObjects: 0, RepoPath: repo })
})

test('[F64] output to a pipe that closes ends quietly', async () => {
  const repo = await newRepo()
  const cid = await ok(['add', '-Q'], { repo, stdin: someBytes(20_000_000) })
  const running = start(['cat', cid], { repo, stdin: '' })
  running.child.stdout.once('data', () => running.child.stdout.destroy())
  expect(await running.finished).toMatchObject({ code: 0, stderr: '' })
})

test('Ctrl-C ends a command with 130 and nothing on standard output', async () => {
  const repo = await newRepo()
  const running = start(['add'], { repo })
  running.child.stdin.write('the end of this never comes')
  // The lock file names the command once it is at work. To ask by another command would take the
  // lock for a moment itself, and the first one could find the repo locked.
  const holder = async (): Promise<string> => await readFile(join(repo, 'repo.lock'), 'utf8').catch(() => '')
  await expect.poll(async () => (await holder()).trim(), { timeout: 120_000 }).toBe(String(running.child.pid))
  expect((await run(['id'], { repo })).code).toBe(1)
  running.child.kill('SIGINT')
  expect(await running.finished).toEqual({ code: 130, stdout: '', stderr: '', bytes: Buffer.alloc(0) })
  expect((await run(['id'], { repo })).code).toBe(0)
})

test('Ctrl-C ends a command whose reader does not read', async () => {
  const repo = await newRepo()
  const cid = await ok(['add', '-Q'], { repo, stdin: someBytes(20_000_000) })
  const running = start(['cat', cid], { repo, stdin: '' })
  running.child.stdout.once('data', () => running.child.stdout.pause())
  await expect.poll(() => running.stdout.byteLength, { timeout: 120_000 }).toBeGreaterThan(0)
  running.child.kill('SIGINT')
  await new Promise<void>((resolve) => running.child.once('exit', () => resolve()))
  running.child.stdout.resume()
  expect(await running.finished).toMatchObject({ code: 130, stderr: '' })
  expect(running.stdout.byteLength).toBeLessThan(20_000_000)
})

test('init leaves a repo that is there alone', async () => {
  const repo = await newRepo()
  const before = await ok(['id'], { repo })
  const again = await run(['init'], { repo })
  expect(again.code).toBe(1)
  expect(again.stderr).toContain('already')
  expect(await ok(['id'], { repo })).toBe(before)
})
