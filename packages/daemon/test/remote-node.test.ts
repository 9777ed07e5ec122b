import { lstat, mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createReadStream } from 'node:fs'
import type { AddSource } from '@shardswap/content'
import { TimeoutError } from '@shardswap/interface'
import { CID } from 'multiformats/cid'
import { expect, onTestFinished, test } from 'vitest'
import { connectDaemon, describeError, type SwapNode } from '../src/index.ts'
import { bytesOf, collect, newDaemon, someBytes } from './setup.ts'

const fixtures = fileURLToPath(new URL('../../../test/fixtures/', import.meta.url))
const missing = CID.parse('bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy')

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'shardswap-daemon-'))
  onTestFinished(async () => await rm(path, { recursive: true, force: true }))
  return path
}

/** The same node twice: in this process, and through its RPC. */
async function bothNodes(): Promise<{ local: SwapNode; remote: SwapNode }> {
  const daemon = await newDaemon()
  return { local: daemon.node, remote: await connectDaemon(daemon.api) }
}

function sources(): AddSource[] {
  return [
    { path: 't', mode: 0o750, mtime: { secs: 1_708_988_800n } },
    { path: 't/data.bin', content: someBytes(600_000), mode: 0o400, mtime: { secs: 981_173_106n, nsecs: 789_000_000 } },
    { path: 't/ä & "b"?%41.txt', content: [Buffer.from('one'), Buffer.from('two')] },
    { path: 't/empty.txt', content: [] },
    { path: 't/sub/old', content: Buffer.from('old'), mtime: { secs: -2n, nsecs: 500_000_000 } },
    { path: 't/sub/link', symlinkTarget: '../data.bin' }
  ]
}

test('adding through the daemon gives the CIDs that adding here gives', async () => {
  const { local, remote } = await bothNodes()
  for (const options of [
    {},
    { cidVersion: 1 as const, chunker: 'size-1000' },
    { trickle: true, rawLeaves: false },
    { wrapWithDirectory: true }
  ]) {
    const there = await collect(remote.add(sources(), options))
    expect(there).toEqual(await collect(local.add(sources(), { ...options, onlyHash: true })))
  }
})

test('getting through the daemon writes what getting here writes, mode and time included', async () => {
  const { local, remote } = await bothNodes()
  const root = (await collect(local.add(sources()))).at(-1)?.cid.toString() ?? ''
  const target = await folder()
  expect(await remote.get(root, join(target, 'remote'))).toEqual(await local.get(root, join(target, 'local')))
  for (const name of ['data.bin', 'ä & "b"?%41.txt', 'empty.txt', 'sub/old']) {
    const [there, here] = [join(target, 'remote', name), join(target, 'local', name)]
    expect(await readFile(there)).toEqual(await readFile(here))
    expect((await stat(there)).mode).toBe((await stat(here)).mode)
  }
  for (const name of ['', 'data.bin', 'sub/old']) {
    expect((await stat(join(target, 'remote', name))).mtimeMs).toBe((await stat(join(target, 'local', name))).mtimeMs)
  }
  expect((await stat(join(target, 'remote/sub/old'))).mtimeMs).toBe(-1500)
  expect(await readlink(join(target, 'remote/sub/link'))).toBe('../data.bin')
  expect((await lstat(join(target, 'remote'))).mode & 0o777).toBe(0o750)
  let size: bigint | undefined
  const one = await remote.get(`${root}/data.bin`, target, { onSize: (bytes) => (size = bytes) })
  expect({ ...one, size }).toEqual({ files: 1, directories: 0, symlinks: 0, bytes: 600_000, size: 600_000n })
  expect(await readdir(target)).toContain('data.bin')
})

test('archives of Kubo give the same tree through the daemon and here', async () => {
  const { local, remote } = await bothNodes()
  const target = await folder()
  for (const name of ['dir', 'dir-mode-mtime', 'dir-hamt-16', 'file-inline', 'file-trickle']) {
    const { roots } = await remote.dagImport(createReadStream(`${fixtures}${name}.car`))
    const root = roots[0]?.toString() ?? ''
    expect(await remote.get(root, join(target, `${name}-r`))).toEqual(await local.get(root, join(target, `${name}-l`)))
    expect(await collect(remote.ls(root))).toMatchObject(
      (await collect(local.ls(root))).map(({ name, cid, size }) => ({ name, cid, size }))
    )
    expect(await bytesOf(remote.dagExport(root))).toEqual(await bytesOf(local.dagExport(root)))
  }
})

test('bytes, ranges, blocks and statistics are the same through the daemon', async () => {
  const { local, remote } = await bothNodes()
  const content = someBytes(1_000_000)
  const [entry] = await collect(remote.add([{ path: 'f', content }]))
  const path = entry?.cid.toString() ?? ''
  expect(await bytesOf(remote.cat(path))).toEqual(Buffer.from(content))
  let size: bigint | undefined
  expect(await bytesOf(remote.cat(path, { offset: 999_990, length: 100, onSize: (bytes) => (size = bytes) }))).toEqual(
    Buffer.from(content.subarray(999_990))
  )
  expect(size).toBe(10n)
  const block = await remote.blockPut(Buffer.from('hi'), { codec: 'dag-json', mhtype: 'blake3' })
  expect(Buffer.from(await remote.blockGet(block.cid)).toString()).toBe('hi')
  expect(await remote.blockStat(block.cid)).toEqual(await local.blockStat(block.cid))
  expect(await remote.repoStat()).toEqual(await local.repoStat())
  expect(await remote.id()).toEqual(await local.id())
  expect(await remote.version()).toEqual(await local.version())
  expect((await collect(remote.repoVerify())).every((result) => result.ok)).toBe(true)
  const many = Array.from({ length: 450 }, () => missing)
  const removed = await collect(remote.blockRm([block.cid, ...many], { force: true }))
  // As with Kubo, what is not there counts as removed where that is forced.
  expect(removed).toEqual([{ cid: block.cid }, ...many.map((cid) => ({ cid }))])
})

test('[F70] an error has the same name and code here and through the daemon', async () => {
  const { local, remote } = await bothNodes()
  const directory = (await collect(local.add(sources()))).at(-1)?.cid.toString() ?? ''
  const failures: ((node: SwapNode) => Promise<unknown>)[] = [
    async (node) => await node.blockGet(missing, { offline: true }),
    async (node) => await node.blockGet(missing, { patient: true, signal: AbortSignal.timeout(100) }),
    async (node) => await node.blockGet(missing, { patient: true, signal: AbortSignal.abort() }),
    async (node) => await collect(node.cat('frob')),
    async (node) => await collect(node.cat(directory)),
    async (node) => await collect(node.cat(`${directory}/nope`)),
    async (node) => await node.blockPut(new Uint8Array(3_000_000)),
    async (node) => await node.blockPut(new Uint8Array(3), { mhtype: 'md4' }),
    async (node) => await node.dagImport(createReadStream(`${fixtures}bad-flipped-byte.car`)),
    async (node) => await node.dagImport(createReadStream(`${fixtures}bad-truncated.car`)),
    async (node) => await node.swarmConnect('/ip4/127.0.0.1/tcp/1')
  ]
  const seen: string[] = []
  for (const fail of failures) {
    const [here, there] = await Promise.all(
      [local, remote].map(async (node) => describeError(await fail(node).catch((error: unknown) => error)))
    )
    expect({ name: there?.name, code: there?.code }).toEqual({ name: here?.name, code: here?.code })
    seen.push(there?.code ?? '')
  }
  expect(seen.slice(0, 4)).toEqual(['ERR_NOT_FOUND', 'ERR_TIMEOUT', 'ABORT_ERR', 'ERR_INVALID_CID'])
})

async function* broken(): AsyncGenerator<Uint8Array> {
  yield someBytes(1000)
  throw new TimeoutError('the source broke')
}

test('a source that fails ends the upload with its own error', async () => {
  const { remote } = await bothNodes()
  await expect(collect(remote.add([{ path: 'f', content: broken() }]))).rejects.toThrow('the source broke')
  await expect(remote.dagImport(broken())).rejects.toThrow('the source broke')
})

/** More than any buffer between client and daemon holds. */
async function* endless(first: Uint8Array): AsyncGenerator<Uint8Array> {
  yield first
  for (let i = 0; i < 200; i++) yield new Uint8Array(65_536)
}

test('an upload that is refused early says why, whatever is still to be sent', async () => {
  const { remote } = await bothNodes()
  for (let turn = 0; turn < 10; turn++) {
    await expect(remote.dagImport(endless(someBytes(100)))).rejects.toMatchObject({ code: 'ERR_MALFORMED' })
    await expect(remote.blockPut(new Uint8Array(4_000_000))).rejects.toMatchObject({ code: 'ERR_TOO_LARGE' })
    const twice = [
      { path: 'same', content: someBytes(10) },
      { path: 'same', content: endless(someBytes(10)) },
      { path: 'x', content: endless(someBytes(1)) }
    ]
    await expect(collect(remote.add(twice))).rejects.toMatchObject({ code: 'ERR_INVALID_PARAMETERS' })
  }
})

test('a daemon that is not there, or is none, is said to be so', async () => {
  await expect(connectDaemon('/ip4/127.0.0.1/tcp/1')).rejects.toMatchObject({ code: 'ERR_DAEMON_UNREACHABLE' })
  const daemon = await newDaemon()
  const swarmPort = daemon.addresses[0]?.split('/')[4] ?? ''
  await expect(connectDaemon(`/ip4/127.0.0.1/tcp/${swarmPort}`)).rejects.toMatchObject({ code: 'ERR_DAEMON_UNREACHABLE' })
})
