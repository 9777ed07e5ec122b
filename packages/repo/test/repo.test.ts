import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateKeyPair, privateKeyFromProtobuf } from '@libp2p/crypto/keys'
import { Key } from 'interface-datastore'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { apiAddress, initRepo, memoryRepo, openRepo, type Repo, repoExists, repoPath } from '../src/index.ts'

let folder: string
let path: string
const open: Repo[] = []

async function opened(options = {}): Promise<Repo> {
  const repo = await openRepo(path, options)
  open.push(repo)
  return repo
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shardswap-repo-'))
  path = join(folder, 'repo')
})

afterEach(async () => {
  for (const repo of open.splice(0)) await repo.close()
  await rm(folder, { recursive: true, force: true })
})

describe('repoPath', () => {
  test('is SHARDSWAP_PATH, else .shardswap at home', () => {
    expect(repoPath({ SHARDSWAP_PATH: '/somewhere' })).toBe('/somewhere')
    expect(repoPath({ SHARDSWAP_PATH: '' })).toBe(join(homedir(), '.shardswap'))
    expect(repoPath({})).toBe(join(homedir(), '.shardswap'))
  })
})

describe('init', () => {
  test('makes a repo that only its owner can read, once', async () => {
    expect(await repoExists(path)).toBe(false)
    await initRepo(path)
    expect(await repoExists(path)).toBe(true)
    expect((await stat(join(path, 'identity.key'))).mode & 0o777).toBe(0o600)
    expect((await stat(path)).mode & 0o777).toBe(0o700)
    expect((await readFile(join(path, 'version'), 'utf8')).trim()).toBe('2')
    const before = await readFile(join(path, 'identity.key'))
    await expect(initRepo(path)).rejects.toMatchObject({ name: 'RepoExistsError', code: 'ERR_REPO_EXISTS' })
    expect(await readFile(join(path, 'identity.key'))).toEqual(before)
  })

  test('keeps the identity as a protobuf of an Ed25519 key, over reopening', async () => {
    await initRepo(path)
    const first = await openRepo(path)
    expect(first.privateKey.type).toBe('Ed25519')
    expect(privateKeyFromProtobuf(new Uint8Array(await readFile(join(path, 'identity.key')))).equals(first.privateKey)).toBe(true)
    await first.close()
    const second = await opened()
    expect(second.peerId.toString()).toBe(first.peerId.toString())
  })

  test('takes the key of the caller', async () => {
    const privateKey = await generateKeyPair('Ed25519')
    await initRepo(path, { privateKey })
    expect((await opened()).privateKey.equals(privateKey)).toBe(true)
  })

  test('two that create one repo at once agree on one identity', async () => {
    const made = await Promise.allSettled([initRepo(path), initRepo(path), initRepo(path)])
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await opened()).privateKey.type).toBe('Ed25519')
  })
})

describe('open', () => {
  test('says what to do where there is no repo, and makes one if told to', async () => {
    await expect(openRepo(path)).rejects.toMatchObject({
      name: 'RepoMissingError',
      code: 'ERR_REPO_MISSING',
      message: expect.stringContaining('shardswap init') as string
    })
    expect(await repoExists(path)).toBe(false)
    expect((await opened({ create: true })).path).toBe(path)
  })

  test('refuses a newer version, and leaves it unlocked', async () => {
    await initRepo(path)
    await writeFile(join(path, 'version'), '3\n')
    await expect(openRepo(path)).rejects.toMatchObject({
      name: 'RepoVersionError',
      code: 'ERR_REPO_VERSION',
      message: expect.stringMatching(/version 3.*up to 2/) as string
    })
    await writeFile(join(path, 'version'), '1\n')
    const repo = await opened()
    expect((await repo.stat()).version).toBe(1)
    await repo.raiseVersion()
    expect([repo.version, (await readFile(join(path, 'version'), 'utf8')).trim()]).toEqual([2, '2'])
  })

  test.each(['', 'one', '-1'])('names the file where the version is %j', async (text) => {
    await initRepo(path)
    await writeFile(join(path, 'version'), text)
    await expect(openRepo(path)).rejects.toMatchObject({
      name: 'RepoCorruptError',
      message: expect.stringContaining(join(path, 'version')) as string
    })
  })

  test.each(['missing', 'cut', 'rubbish'])('names the key file where it is %s, and leaves the repo unlocked', async (how) => {
    await initRepo(path)
    const file = join(path, 'identity.key')
    const bytes = await readFile(file)
    if (how === 'missing') await rm(file)
    else await writeFile(file, how === 'cut' ? bytes.subarray(0, 20) : 'not a key')
    await expect(openRepo(path)).rejects.toMatchObject({
      name: 'RepoCorruptError',
      message: expect.stringContaining(file) as string
    })
    await writeFile(file, bytes)
    await opened()
  })

  test('says what to do where a database is damaged', async () => {
    await (await openRepo(path, { create: true })).close()
    await writeFile(join(path, 'blocks', 'index', 'CURRENT'), 'MANIFEST-999999\n')
    await expect(openRepo(path)).rejects.toMatchObject({
      name: 'RepoCorruptError',
      message: expect.stringMatching(/blocks\/index.*backup/) as string
    })
  })

  test('says so where no folder can be made', async () => {
    await writeFile(path, 'a file in its place')
    await expect(openRepo(join(path, 'repo'), { create: true })).rejects.toMatchObject({ code: 'ENOTDIR' })
  })

  test('keeps the datastore over reopening', async () => {
    const first = await openRepo(path, { create: true })
    await first.datastore.put(new Key('/a/b'), new Uint8Array([1, 2, 3]))
    await first.close()
    const second = await opened()
    expect(new Uint8Array(await second.datastore.get(new Key('/a/b')))).toEqual(new Uint8Array([1, 2, 3]))
    expect(await second.datastore.has(new Key('/a/c'))).toBe(false)
    const keys: string[] = []
    for await (const { key } of second.datastore.query({ prefix: '/a' })) keys.push(key.toString())
    expect(keys).toEqual(['/a/b'])
  })

  test('tells its path, version and what it takes on disk', async () => {
    const repo = await opened({ create: true })
    const stat = await repo.stat()
    expect(stat).toMatchObject({ path, version: 2, blocks: 0, blockBytes: 0 })
    expect(stat.diskBytes).toBeGreaterThan(0)
  })
})

describe('the api file', () => {
  test('is read without opening the repo, and goes with the process that wrote it', async () => {
    const repo = await opened({ create: true })
    expect(await apiAddress(path)).toBeUndefined()
    await repo.setApiAddress('/ip4/127.0.0.1/tcp/5001')
    expect(await apiAddress(path)).toBe('/ip4/127.0.0.1/tcp/5001')
    await repo.setApiAddress(undefined)
    expect(await apiAddress(path)).toBeUndefined()
    await repo.setApiAddress('/ip4/127.0.0.1/tcp/5002')
    await repo.close()
    expect(await apiAddress(path)).toBeUndefined()
  })

  test('that a killed process left is removed by the next one', async () => {
    await initRepo(path)
    await writeFile(join(path, 'api'), '/ip4/127.0.0.1/tcp/1\n')
    await opened()
    expect(await apiAddress(path)).toBeUndefined()
  })
})

describe('memoryRepo', () => {
  test('is a repo without a disk', async () => {
    const privateKey = await generateKeyPair('Ed25519')
    const repo = await memoryRepo({ privateKey })
    expect(repo.privateKey.equals(privateKey)).toBe(true)
    await repo.datastore.put(new Key('/a'), new Uint8Array([1]))
    expect(await repo.datastore.get(new Key('/a'))).toEqual(new Uint8Array([1]))
    expect(await repo.stat()).toMatchObject({ version: 2, blocks: 0, diskBytes: 0 })
    await repo.close()
  })
})
