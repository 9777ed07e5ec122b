/** Every archive of test/fixtures through the command: in, read in each way, out, and to a second repo over TCP. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fixtures, newRepo, ok, run, Running } from './command.ts'

interface Row {
  readonly car: string
  readonly root: string
  readonly path: string
  readonly bytes: number
  readonly sha256: string
}

const [, ...lines] = readFileSync(join(fixtures, 'index.tsv'), 'utf8').trimEnd().split('\n')
const rows: Row[] = lines.map((line) => {
  const [car = '', root = '', path = '', bytes = '', sha256 = ''] = line.split('\t')
  return { car, root, path, bytes: Number(bytes), sha256 }
})
const whole = rows.filter(({ car }) => car !== '(none)' && !/^(bad|missing|no-root)-/.test(car))
/** The archives, by root: several hold the same file. The first of each is as Kubo exports it. */
const archives = whole.filter(({ root }, index) => whole.findIndex((row) => row.root === root) === index)
const files = whole.filter(({ sha256 }) => sha256 !== '-')
const cars = [...new Set(whole.map(({ car }) => car))]
const pathOf = ({ root, path }: Row): string => (path === '-' ? root : `${root}/${path}`)
const rootOf = (car: string): string => rows.find((row) => row.car === car)?.root ?? ''

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The digests of files that were written one after another. */
function digestsOf(bytes: Buffer): string[] {
  let at = 0
  return files.map((row) => sha256(bytes.subarray(at, (at += row.bytes))))
}

const names: Readonly<Record<string, readonly (readonly [name: string, content: string])[]>> = {
  'dir-hamt-16.car': Array.from({ length: 400 }, (_, index) => [`file-${index + 1}.txt`, String(index + 1)]),
  'dir-hamt-256.car': Array.from({ length: 1500 }, (_, index) => [String(index + 1), String(index + 1)])
}

describe('what Kubo exported', () => {
  let folder: string
  let repo: string
  let daemon: Running
  let address: string
  let importing: Running

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shardswap-cli-'))
    repo = join(folder, 'repo')
    daemon = new Running(
      ['daemon', '--init', '--init-profile', 'local', '--listen', '/ip4/127.0.0.1/tcp/0', '--api', '/ip4/127.0.0.1/tcp/0'],
      { repo }
    )
    await daemon.says('Daemon is ready')
    address = /Swarm listening on (\S+)/.exec(daemon.stdout.toString())?.[1] ?? ''
    importing = new Running(['dag', 'import', ...cars.map((car) => join(fixtures, car))], { repo })
    importing.child.stdin.end()
    await importing.finished
  }, 180_000)
  afterAll(async () => {
    daemon.child.kill('SIGINT')
    await daemon.finished
    await rm(folder, { recursive: true, force: true })
  })

  test('dag import takes every archive and prints its root', async () => {
    const { code, stdout } = await importing.finished
    expect(code).toBe(0)
    const printed = stdout.split('\n').flatMap((line) => /^Pinned root\t(\S+)\tsuccess$/.exec(line)?.[1] ?? [])
    expect(printed).toEqual(cars.map(rootOf))
  })

  test('cat gives each file its bytes', async () => {
    const { code, bytes } = await run(['cat', ...files.map(pathOf)], { repo })
    expect(code).toBe(0)
    expect(digestsOf(bytes)).toEqual(files.map((row) => row.sha256))
  })

  test('ls lists each root', async () => {
    const { Objects } = JSON.parse(await ok(['ls', '--json', ...archives.map(({ root }) => root)], { repo })) as {
      Objects: { Hash: string; Links: { Name: string; Size: number }[] }[]
    }
    const listed = new Map(Objects.map(({ Hash, Links }) => [Hash, Links]))
    for (const { root, bytes } of archives.filter(({ sha256, path }) => sha256 !== '-' && path === '-')) {
      expect(listed.get(root)).toMatchObject([{ Size: bytes }])
    }
    const namesIn = (car: string): Set<string> => new Set(listed.get(rootOf(car))?.map(({ Name }) => Name))
    for (const [car, all] of Object.entries(names)) expect(namesIn(car)).toEqual(new Set(all.map(([name]) => name)))
    expect(namesIn('dir.car')).toEqual(
      new Set([...whole.filter(({ car }) => car === 'dir.car').map(({ path }) => path.split('/')[0]), 'abs-link', 'empty'])
    )
  })

  const { 'file-inline.car': inline, 'dag-cbor.car': cbor, ...usual } = Object.fromEntries(archives.map((row) => [row.car, row]))

  test.for(Object.values(usual))('get writes $car, and dag export gives it back', async ({ car, root }) => {
    const target = join(folder, `${car}-out`)
    const [got, exported] = await Promise.all([run(['get', '-o', target, root], { repo }), run(['dag', 'export', root], { repo })])
    expect([got.code, exported.code]).toEqual([0, 0])
    expect(sha256(exported.bytes)).toBe(sha256(await readFile(join(fixtures, car))))
    for (const row of files.filter((row) => row.root === root)) {
      expect(sha256(await readFile(row.path === '-' ? target : join(target, row.path)))).toBe(row.sha256)
    }
    for (const [name, content] of names[car] ?? []) expect(await readFile(join(target, name), 'utf8')).toBe(content)
  })

  test('get writes file-inline.car, and dag export leaves out what its CIDs hold', async () => {
    const target = join(folder, 'inline')
    await ok(['get', '-o', target, inline?.root ?? ''], { repo })
    expect(sha256(await readFile(target))).toBe(inline?.sha256)
    const { code, bytes } = await run(['dag', 'export', inline?.root ?? ''], { repo })
    expect(code).toBe(0)
    expect(bytes.length).toBeLessThan((await readFile(join(fixtures, 'file-inline.car'))).length)
    const second = await newRepo()
    await ok(['dag', 'import'], { repo: second, stdin: bytes })
    expect(sha256((await run(['cat', '--offline', inline?.root ?? ''], { repo: second })).bytes)).toBe(inline?.sha256)
  })

  test('dag export gives dag-cbor.car back; get refuses what is no file', async () => {
    const root = cbor?.root ?? ''
    const exported = await run(['dag', 'export', root], { repo })
    expect(sha256(exported.bytes)).toBe(sha256(await readFile(join(fixtures, 'dag-cbor.car'))))
    const { code, stderr } = await run(['get', '-o', join(folder, 'cbor'), root], { repo })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^Error: NotAFileError/)
    expect(stderr).toContain(root)
  })

  test('[F58] get restores modes and times, and add keeps them, under the CID that Kubo gave', async () => {
    const target = join(folder, 'modes')
    const root = rootOf('dir-mode-mtime.car')
    await ok(['get', '-o', target, root], { repo })
    const hello = await stat(join(target, 'hello.txt'))
    expect([hello.mode & 0o7777, hello.mtimeMs]).toEqual([0o400, Date.UTC(2001, 1, 3, 4, 5, 6, 789)])
    expect((await stat(join(target, 'sub/data.bin'))).mtimeMs).toBe(-2000)
    // Whole seconds only: what Node sets is off by some nanoseconds, and any of them makes another CID.
    const listed = (await ok(['ls', `${root}/sub`], { repo })).split('\n').find((line) => line.endsWith(' data.bin'))
    const options = ['-Q', '--cid-version=1', '--chunker=size-16384', '--preserve-mode', '--preserve-mtime']
    expect(await ok(['add', ...options, join(target, 'sub/data.bin')], { repo })).toBe(listed?.split(' ')[0])
  })

  test('a second repo fetches all of it over TCP', async () => {
    const second = await newRepo()
    const { code, bytes } = await run(['cat', '--peer', address, ...files.map(pathOf)], { repo: second })
    expect(code).toBe(0)
    expect(digestsOf(bytes)).toEqual(files.map((row) => row.sha256))
    expect((await run(['cat', '--offline', ...files.map(pathOf)], { repo: second })).bytes.equals(bytes)).toBe(true)
    for (const car of ['dag-cbor.car', 'dir-hamt-256.car', 'dir-mode-mtime.car']) {
      const exported = await run(['dag', 'export', '--peer', address, rootOf(car)], { repo: second })
      expect(sha256(exported.bytes)).toBe(sha256(await readFile(join(fixtures, car))))
    }
  })
})

test('[F72] an archive that lacks its root or a leaf is imported, with a warning for the root, and reading it fails at once', async () => {
  for (const car of ['no-root-block.car', 'missing-block.car']) {
    const repo = await newRepo()
    const imported = await run(['dag', 'import', join(fixtures, car)], { repo })
    expect(imported.code).toBe(0)
    expect(imported.stdout).toContain(`Imported root\t${rootOf(car)}\nImported 15 blocks`)
    expect(imported.stderr.includes('neither in the archive nor in the repo')).toBe(car === 'no-root-block.car')
    expect(imported.stderr).toMatch(/Warning: .* is not pinned/)
    const read = await run(['cat', rootOf(car)], { repo })
    expect(read.code).toBe(3)
    expect(read.stderr).toMatch(/NotFoundError/)
  }
})
