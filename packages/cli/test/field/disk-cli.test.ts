/** Field reports of the kind `disk-cli`, by the command over a daemon's API. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { lstat, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Daemon, startDaemon } from '@shardswap/daemon'
import { openRepo } from '@shardswap/repo'
import { describe, expect, onTestFinished, test } from 'vitest'
import { folder, ok, run, someBytes, start } from '../command.ts'
import { quietDaemon } from './ways.ts'

const loopback = '/ip4/127.0.0.1/tcp/0'
const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** What a shell makes of a line in which `shardswap` is the command, with the outcome of the first command of a pipe. */
async function shell(line: string, cwd: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const script = `set -o pipefail; shardswap() { "${process.execPath}" "${main}" "$@"; }; ${line}`
  return await new Promise((resolve) => {
    execFile('bash', ['-c', script], { cwd, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr })
    })
  })
}

async function addTo(daemon: Daemon, sources: Parameters<Daemon['node']['add']>[0], chunker = 'size-262144'): Promise<string> {
  let root = ''
  for await (const { cid } of daemon.node.add(sources, { chunker, cidVersion: 1, pin: false })) root = cid.toString()
  return root
}

/** 100 MB of which no block is like another. */
async function* manyBlocks(): AsyncGenerator<Uint8Array> {
  const part = Buffer.alloc(262_144, 7)
  for (let at = 0; at < 382; at++) {
    part.writeUInt32BE(at)
    yield Uint8Array.from(part)
  }
}

describe('[F64] a pipe whose reader has had enough', () => {
  test('ends cat, ls and stat quietly, and the fetch with them; progress is on standard error', async () => {
    const [provider, daemon, cwd] = [await quietDaemon(), await quietDaemon(), await folder()]
    const root = await addTo(provider, [{ path: 'f', content: manyBlocks() }])
    // A list that no pipe holds: more than 64 KiB.
    const names = Array.from({ length: 1500 }, (_, at) => ({ path: `d/${at}`, content: [Buffer.from(String(at))] }))
    const directory = await addTo(daemon, names)
    await daemon.node.swarmConnect(provider.addresses[0] ?? '')
    const peer = await daemon.node.peer()
    const api = `--api ${daemon.api}`
    expect(await shell(`shardswap cat ${api} ${root} | head -c1`, cwd)).toEqual({ code: 0, stdout: '\0', stderr: '' })
    await expect.poll(() => [peer.wantlist(), peer.gauges().sessions], { timeout: 20_000 }).toEqual([[], 0])
    // What was asked for ahead of a reader that was gone, and no more.
    expect(peer.stat().fetch.bytes).toBeLessThan(90_000_000)
    const listed = await shell(`shardswap ls ${api} ${directory} | head -1`, cwd)
    expect(listed).toEqual({ code: 0, stdout: expect.stringMatching(/^baf\S+ \d+ \d+\n$/) as string, stderr: '' })
    expect(await shell(`shardswap repo stat ${api} | true`, cwd)).toEqual({ code: 0, stdout: '', stderr: '' })
    const got = await shell(`shardswap get ${api} -o out ${directory}/7 | cat`, cwd)
    expect(got).toEqual({ code: 0, stdout: '', stderr: 'Saved 1 B (1 file) to out\n' })
  })

  test('ends quietly too where it is found out while the next block is awaited', async () => {
    const daemon = await quietDaemon()
    const leaves = ['first ', 'second', 'third '].map((text) => Buffer.from(text))
    const root = await addTo(daemon, [{ path: 'f', content: leaves }], 'size-6')
    const missing = []
    for (const leaf of leaves.slice(1)) missing.push((await daemon.node.blockPut(leaf)).cid)
    for await (const { error } of daemon.node.blockRm(missing)) expect(error).toBeUndefined()
    const reading = start(['cat', '--api', daemon.api, '--timeout', '1h', root], { stdin: '' })
    await reading.says('first ')
    reading.child.stdout.destroy()
    await daemon.node.blockPut(leaves[1] ?? new Uint8Array())
    expect(await reading.finished).toMatchObject({ code: 0, stderr: '' })
    const peer = await daemon.node.peer()
    await expect.poll(() => peer.wantlist(), { timeout: 20_000 }).toEqual([])
  })

  test.runIf(existsSync('/usr/bin/script'))('shows its progress on a terminal that is standard error alone', async () => {
    const [daemon, cwd] = [await quietDaemon(), await folder()]
    const root = await addTo(daemon, [{ path: 'f', content: someBytes(3_000_000) }])
    await writeFile(join(cwd, 'get.sh'), `"${process.execPath}" "${main}" get --api ${daemon.api} -o out ${root} > stdout.txt\n`)
    const { code, stdout } = await shell('script -qec "sh get.sh" /dev/null', cwd)
    expect(code).toBe(0)
    expect(stdout).toContain('get  ')
    expect(stdout).toContain('%')
    expect(await readFile(join(cwd, 'stdout.txt'), 'utf8')).toBe('')
    expect((await stat(join(cwd, 'out'))).size).toBe(3_000_000)
  })
})

describe('[F62] names', () => {
  const names = [
    ':*?"<>|]',
    'trailing dot.',
    'trailing space ',
    'CON',
    'n'.repeat(255),
    'é'.normalize('NFC'),
    'é'.normalize('NFD'),
    '🙂',
    'שלום',
    'a\nb',
    '-rf'
  ]

  test('of every odd sort go in by add and come out by get through a daemon, and have the same CID again', async () => {
    const [daemon, cwd] = [await quietDaemon(), await folder()]
    const api = ['--api', daemon.api]
    await mkdir(join(cwd, 'odd'))
    for (const name of names) await writeFile(join(cwd, 'odd', name), name)
    const root = await ok(['add', '-r', '-Q', ...api, 'odd'], { cwd })
    await ok(['get', ...api, '-o', 'copy', root], { cwd })
    expect((await readdir(join(cwd, 'copy'))).sort()).toEqual([...names].sort())
    for (const name of names) expect(await readFile(join(cwd, 'copy', name), 'utf8')).toBe(name)
    expect(await ok(['add', '-r', '-Q', '-n', ...api, 'copy'], { cwd })).toBe(root)
    // One line for each, whatever line breaks a name holds.
    expect((await ok(['ls', ...api, root], { cwd })).split('\n')).toHaveLength(names.length)
  })
})

describe('[F61] links', () => {
  test('through a daemon are never written through, nor made where they lead out, and get twice does the same', async () => {
    const [daemon, cwd] = [await quietDaemon(), await folder()]
    const api = ['--api', daemon.api]
    const root = await addTo(daemon, [
      { path: 't', mode: 0o755 },
      { path: 't/inside', symlinkTarget: 'sub/file' },
      { path: 't/out', symlinkTarget: '../victim' },
      { path: 't/sub/file', content: Buffer.from('kept') }
    ])
    await mkdir(join(cwd, 'victim'))
    await mkdir(join(cwd, 'copy'))
    await symlink('../victim/file', join(cwd, 'copy/inside'))
    for (let time = 0; time < 2; time++) {
      const { code, stderr } = await run(['get', ...api, '-o', 'copy', root], { cwd })
      expect(code).toBe(0)
      expect(stderr).toMatch(/Warning: \S*out: .*leads out of the target/)
      expect((await readdir(join(cwd, 'copy'))).sort()).toEqual(['inside', 'sub'])
      expect(await readlink(join(cwd, 'copy/inside'))).toBe('sub/file')
    }
    await ok(['get', ...api, '--unsafe-links', '-o', 'whole', root], { cwd })
    expect(await readlink(join(cwd, 'whole/out'))).toBe('../victim')
    await mkdir(join(cwd, 'other'))
    await symlink('../victim', join(cwd, 'other/sub'))
    expect((await run(['get', ...api, '-o', 'other', root], { cwd })).stderr).toMatch(/UnsafePathError: .*a symlink is in its place/)
    expect(await readdir(join(cwd, 'victim'))).toEqual([])
    expect((await lstat(join(cwd, 'other/sub'))).isSymbolicLink()).toBe(true)
  })
})

/** A daemon on a repo on disk, for blocks that are damaged there. */
async function diskDaemon(path: string): Promise<Daemon> {
  const repo = await openRepo(path, { create: true })
  const daemon = await startDaemon({ repo, listen: [loopback], api: loopback })
  onTestFinished(async () => await daemon.stop())
  return daemon
}

/** Flips a bit in the file of one block of so many bytes. */
async function damage(path: string, bytes: number): Promise<void> {
  const files = await readdir(path, { recursive: true, withFileTypes: true })
  const blocks = files.map((file) => join(file.parentPath, file.name)).filter((file) => file.includes('/blocks/'))
  const sizes = await Promise.all(blocks.map(async (file) => (await stat(file)).size))
  const file = blocks[sizes.indexOf(bytes)] ?? ''
  const content = await readFile(file)
  content[1000] = (content[1000] ?? 0) ^ 1
  await writeFile(file, content)
}

describe('[F68] a block that is damaged on the disk', () => {
  test('is not served: who asks has it from others, and thinks no worse of who has it damaged', async () => {
    const path = join(await folder(), 'repo')
    const [damaged, good, reader] = [await diskDaemon(path), await quietDaemon(), await quietDaemon()]
    const content = someBytes(2_000_000)
    const root = await addTo(damaged, [{ path: 'f', content }])
    await damage(path, 262_144)
    for (const each of [damaged, good]) await reader.node.swarmConnect(each.addresses[0] ?? '')
    await addTo(good, [{ path: 'f', content }])
    const parts: Uint8Array[] = []
    for await (const part of reader.node.cat(root)) parts.push(part)
    expect(Buffer.concat(parts).equals(content)).toBe(true)
    const { peers } = (await reader.node.peer()).stat()
    expect(peers.every(({ unaskedBlocks }) => unaskedBlocks === 0)).toBe(true)
    // Found out when it was to be served or read, it is fetched anew, and the repo is whole again.
    await damaged.node.swarmConnect(good.addresses[0] ?? '')
    for await (const _ of damaged.node.cat(root));
    for await (const { ok: isWhole } of damaged.node.repoVerify()) expect(isWhole).toBe(true)
  })
})
