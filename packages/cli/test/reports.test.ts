/** Field reports whose clauses speak of the command. */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CID } from 'multiformats/cid'
import { expect, test } from 'vitest'
import { folder, newRepo, ok, run, startDaemon } from './command.ts'

/** A CID, by hand: version, codec, hash and length, and a digest of zeros. */
function cidOf(head: readonly number[], digestBytes: number): string {
  return CID.decode(Uint8Array.from([...head, ...new Uint8Array(digestBytes)])).toString()
}

test('[F13] what nobody has is not found at once without peers, and ends at its timeout with a daemon that has none', async () => {
  const repo = await newRepo()
  const nowhere = cidOf([1, 0x55, 0x12, 0x20], 32)
  const commands = [
    ['block', 'get', nowhere],
    ['cat', nowhere]
  ]
  for (const command of commands) {
    const alone = await run([...command, '--timeout', '1h'], { repo })
    expect(alone).toMatchObject({ code: 3, stdout: '' })
    expect(alone.stderr).toMatch(/^Error: NotFoundError: /)
  }
  await startDaemon(repo)
  for (const command of commands) {
    const offline = await run([...command, '--offline'], { repo })
    expect(offline).toMatchObject({ code: 3, stdout: '' })
    expect(offline.stderr).toMatch(/^Error: NotFoundError: /)
    const startMs = performance.now()
    const late = await run([...command, '--timeout', '2s'], { repo })
    expect(late).toMatchObject({ code: 4, stdout: '' })
    expect(late.stderr).toMatch(/^Error: TimeoutError: /)
    // Not sooner; how much later is the machine's affair.
    expect(performance.now() - startMs).toBeGreaterThan(2000)
  }
})

test('[F43] identity CIDs are answered here, and never stored', async () => {
  const repo = await newRepo()
  expect(await run(['cat', '--offline', 'bafkqaaa'], { repo })).toMatchObject({ code: 0, stdout: '', stderr: '' })
  const { bytes } = await run(['block', 'get', '--offline', 'bafyqacnbmrqxgzdgdeaui'], { repo })
  expect(bytes.toString('hex')).toBe('a16461736466190144')
  const { code, stderr } = await run(['cat', '--offline', 'bafyqacnbmrqxgzdgdeaui'], { repo })
  expect(code).toBe(1)
  expect(stderr).toMatch(/NotAFileError/)
  const refused = await run(['block', 'get', '--offline', cidOf([1, 0x55, 0, 0x80, 0x20], 4096)], { repo })
  expect(refused.code).toBe(1)
  expect(refused.stdout).toBe('')
  expect(JSON.parse(await ok(['repo', 'stat', '--json'], { repo }))).toMatchObject({ NumObjects: 0 })
})

test('[F44] a block goes in and out under each hash function, as CID version 1, and all are listed and verified', async () => {
  const repo = await newRepo()
  const options = [
    ['sha2-512'],
    ['blake2b-256'],
    ['blake3'],
    ['blake3', '--mhlen', '64'],
    ['sha1'],
    ['keccak-256'],
    ['sha2-256', '--mhlen', '20']
  ]
  const cids: string[] = []
  for (const option of options) cids.push(await ok(['block', 'put', '--mhtype', ...option], { repo, stdin: 'hi' }))
  expect(new Set(cids).size).toBe(options.length)
  for (const cid of cids) expect(cid).toMatch(/^bafk/)
  expect(await ok(['cat', ...cids], { repo })).toBe('hi'.repeat(options.length))
  expect(await ok(['repo', 'verify'], { repo })).toContain(`all ${options.length} blocks validated`)
  // Raw, code 0xb401, 32 bytes: a hash that nobody here can compute.
  const unknown = await run(['block', 'get', cidOf([1, 0x55, 0x81, 0xe8, 0x02, 32], 32)], { repo })
  expect(unknown.code).toBe(1)
  expect(unknown.stderr).toMatch(/unsupported hash 0xb401/)
  expect((await run(['block', 'put', '--mhtype', 'md4'], { repo, stdin: 'hi' })).code).toBe(2)
})

test('[F56] a file whose sizes lie ends in an error that names its CID, and in no file', async () => {
  const repo = await newRepo()
  const cwd = await folder()
  // A UnixFS file of the two bytes "ab" that says it has three.
  const node = Buffer.from([0x0a, 8, 0x08, 2, 0x12, 2, 0x61, 0x62, 0x18, 3])
  const cid = await ok(['block', 'put', '--cid-codec', 'dag-pb'], { repo, stdin: node })
  for (const command of [['cat'], ['get', '-o', 'out']]) {
    const { code, stderr } = await run([...command, cid], { repo, cwd })
    expect(code).toBe(1)
    expect(stderr).toContain('SizeMismatchError')
    expect(stderr).toContain(cid)
  }
  expect(await readdir(cwd)).toEqual([])
})

test('[F59] empty and one-byte files and empty directories come out of get as what they are', async () => {
  const repo = await newRepo()
  const cwd = await folder()
  await writeFile(join(cwd, 'empty'), '')
  await writeFile(join(cwd, 'one'), '1')
  for (const [index, version] of ['0', '1'].entries()) {
    for (const name of ['empty', 'one']) {
      const cid = await ok(['add', '-Q', '--cid-version', version, name], { repo, cwd })
      await ok(['get', '-o', `${name}-${index}`, cid], { repo, cwd })
      expect(await readFile(join(cwd, `${name}-${index}`))).toEqual(await readFile(join(cwd, name)))
    }
  }
  const directory = await ok(['block', 'put', '--cid-codec', 'dag-pb'], { repo, stdin: Buffer.from([0x0a, 2, 0x08, 1]) })
  await ok(['get', '-o', 'folder', directory], { repo, cwd })
  expect((await stat(join(cwd, 'folder'))).isDirectory()).toBe(true)
  expect(await readdir(join(cwd, 'folder'))).toEqual([])
  const { code, stderr } = await run(['cat', directory], { repo })
  expect(code).toBe(1)
  expect(stderr).toMatch(/is a directory, not a file/)
})
