import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CID } from '@shardswap/interface'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { add, type AddSource, type TreeEntry, tree, walkFiles, writeTree, type WriteTreeOptions } from '../src/index.ts'
import { checkName, staysInside } from '../src/fs/names.ts'
import { collect, errorOf, fixtureLines, loadCar, MemoryBlocks, sha256 } from './setup.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shardswap-content-'))
})
afterEach(async () => {
  await chmod(folder, 0o700)
  await rm(folder, { recursive: true, force: true })
})

function text(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

async function* entries(list: Partial<TreeEntry>[]): AsyncGenerator<TreeEntry> {
  for (const entry of list) {
    const path = entry.path ?? ''
    yield { path, name: path.split('/').at(-1) ?? '', cid: CID.parse('bafkqaaa'), type: 'file', size: 0n, ...entry }
  }
}

function file(path: string, content: string): Partial<TreeEntry> {
  return {
    path,
    async *content() {
      yield text(content)
    }
  }
}

const directory = (path: string): Partial<TreeEntry> => ({ path, type: 'directory' })
const link = (path: string, symlinkTarget: string): Partial<TreeEntry> => ({ path, type: 'symlink', symlinkTarget })

async function* torn(): AsyncGenerator<Uint8Array> {
  yield text('half')
  throw new Error('torn')
}

/** A tree of a whole file and another one. */
function two(content: () => AsyncGenerator<Uint8Array>): AsyncGenerator<TreeEntry> {
  return entries([directory(''), file('whole', 'whole'), { path: 'part', content }])
}

async function pathsOf(files: string[], hidden: boolean): Promise<string[]> {
  return (await collect(walkFiles(files, { recursive: true, hidden }))).map(({ path }) => path)
}

/** Adds what is on disk, to be written and added again. */
async function addFiles(blocks: MemoryBlocks, target: string, preserve = false): Promise<string> {
  const options = { recursive: true, hidden: true, preserveMode: preserve, preserveMtime: preserve }
  return (await collect(add(walkFiles([target], options), blocks))).at(-1)?.cid.toString() ?? ''
}

async function addAll(blocks: MemoryBlocks, sources: AddSource[]): Promise<string> {
  return (await collect(add(sources, blocks))).at(-1)?.cid.toString() ?? ''
}

describe('writeTree', () => {
  it('writes dir.car with its odd names, links and empty directory, twice, and adds up to the same root again', async () => {
    const lines = fixtureLines().filter((line) => line.car === 'dir.car')
    const root = lines[0]?.root ?? ''
    const target = join(folder, 'dir')
    const blocks = await loadCar('dir.car')
    const passwd = await readFile('/etc/passwd')
    for (let time = 0; time < 2; time++) {
      const result = await writeTree(tree(blocks, root), target, { unsafeLinks: true })
      expect(result).toEqual({ files: 9, directories: 5, symlinks: 2, bytes: lines.reduce((sum, line) => sum + Number(line.bytes), 0) })
    }
    for (const line of lines) expect(sha256(await readFile(join(target, line.path)))).toBe(line.sha256)
    expect(await readlink(join(target, 'abs-link'))).toBe('/etc/passwd')
    expect(await readFile('/etc/passwd')).toEqual(passwd)
    const options = { cidVersion: 1, chunker: 'size-16384' } as const
    const added = await collect(add(walkFiles([target], { recursive: true, hidden: true }), new MemoryBlocks(), options))
    expect(added.at(-1)?.cid.toString()).toBe(root)
  })

  it('puts a lone file at the target, or into it where it is a folder', async () => {
    const root = 'bafkreiaij7wqrolyv5gx2glkordkq22yacpgg23bdwyweenwlknk37zjyu'
    const blocks = await loadCar('file-1.car')
    await writeTree(tree(blocks, root), join(folder, 'one'))
    await writeTree(tree(blocks, root), join(folder, 'one'))
    await mkdir(join(folder, 'sub'))
    await writeTree(tree(blocks, root), join(folder, 'sub'))
    await writeTree(tree(blocks, root), join(folder, 'sub'), { name: 'named' })
    expect((await readdir(folder)).sort()).toEqual(['one', 'sub'])
    expect((await readdir(join(folder, 'sub'))).sort()).toEqual([root, 'named'])
    expect((await lstat(join(folder, 'one'))).size).toBe(1)
  })

  it('writes many files at once, of many blocks each, and tells the bytes', async () => {
    const blocks = new MemoryBlocks()
    const sources = Array.from({ length: 100 }, (_, i) => ({ path: `d/${i % 7}/${i}`, content: new Uint8Array(10_000 + i).fill(i) }))
    const root = (await collect(add(sources, blocks, { chunker: 'size-1000' }))).at(-1)?.cid.toString() ?? ''
    let told = 0
    const options: WriteTreeOptions = { onProgress: (bytes) => (told = bytes) }
    const result = await writeTree(tree(blocks, root, { contents: true }), join(folder, 'd'), options)
    expect(result).toMatchObject({ files: 100, directories: 8, bytes: 1_004_950 })
    expect(told).toBe(1_004_950)
    for (const { path, content } of sources) expect(sha256(await readFile(join(folder, path)))).toBe(sha256(content))
  })

  it('leaves no partial file under its final name, nor any other, after an error or an abort', async () => {
    const abort = new AbortController()
    const endless = async function* (): AsyncGenerator<Uint8Array> {
      for (let i = 0; ; i++) {
        yield text('more')
        if (i === 100) abort.abort()
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const target = join(folder, 't')
    expect((await errorOf(writeTree(two(torn), target))).message).toBe('torn')
    expect((await errorOf(writeTree(two(endless), target, { signal: abort.signal }))).name).toBe('AbortError')
    expect((await readdir(target)).filter((name) => name !== 'whole')).toEqual([])
  })

  it('ends in an error where the root is no UnixFS, and writes nothing', async () => {
    const blocks = await loadCar('dag-cbor.car')
    const root = 'bafyreigik323hqlkebzykl7tqt76esbtdb6cihuh6he4stmxvz4l3w3qyi'
    const error = await errorOf(writeTree(tree(blocks, root), join(folder, 't')))
    expect([error.name, error.message]).toEqual(['NotAFileError', expect.stringContaining(root)])
    expect(await readdir(folder)).toEqual([])
  })

  it('ends in the error of the tree, and of the disk', async () => {
    const blocks = await loadCar('missing-block.car')
    const target = join(folder, 't')
    expect((await errorOf(writeTree(tree(blocks, 'QmReRTvohDK1pcGQxmyVupzFgUpAAMmYTskGx8ZrisYBeY'), target))).name).toBe('NotFoundError')
    expect(await readdir(folder)).toEqual([])
    expect((await errorOf(writeTree(entries([file('', 'x')]), join(folder, 'no/such/folder')))).code).toBe('ENOENT')
    await mkdir(join(target, 'x'), { recursive: true })
    expect((await errorOf(writeTree(entries([directory(''), file('x', 'x')]), target))).code).toMatch(/EISDIR|ENOTEMPTY|EEXIST/)
    expect(await readdir(target)).toEqual(['x'])
  })

  it('[F55] a tree deeper than any path of the system ends in the error of the system', async () => {
    const blocks = new MemoryBlocks()
    const path = ['d', ...Array.from({ length: 20 }, () => 'd'.repeat(255))].join('/')
    const root = await addAll(blocks, [{ path: `${path}/f`, content: text('deep') }])
    expect((await errorOf(writeTree(tree(blocks, root), join(folder, 'deep')))).code).toBe('ENAMETOOLONG')
  })
})

describe('[F61] links', () => {
  const unsafe: WriteTreeOptions = { unsafeLinks: true }

  it('that lead out of the target are left out with a warning, and the rest is written', async () => {
    const warnings: [string, string][] = []
    const onWarning = (path: string, { name }: Error): void => void warnings.push([path, name])
    const list = [
      directory(''),
      link('up', '..'),
      link('absolute', folder),
      link('here', '.'),
      link('next', 'sub/file'),
      directory('sub'),
      file('sub/file', 'kept'),
      link('sub/back', '../here'),
      link('sub/out', '../../victim'),
      link('sub/round', '../here/../../victim')
    ]
    const target = join(folder, 't')
    expect(await writeTree(entries(list), target, { onWarning })).toMatchObject({ files: 1, symlinks: 3 })
    expect(warnings).toEqual(['up', 'absolute', 'sub/out', 'sub/round'].map((path) => [path, 'UnsafePathError']))
    expect((await readdir(target)).sort()).toEqual(['here', 'next', 'sub'])
    expect((await readdir(join(target, 'sub'))).sort()).toEqual(['back', 'file'])
    expect((await errorOf(writeTree(entries([link('', '../victim')]), join(folder, 'lone')))).name).toBe('UnsafePathError')
    await writeTree(entries([link('', 'victim')]), join(folder, 'lone'))
    expect(await readlink(join(folder, 'lone'))).toBe('victim')
  })

  it.each([
    ['a', 0, true],
    ['./a//b/.', 0, true],
    ['', 0, false],
    ['..', 0, false],
    ['..', 1, true],
    ['../..', 1, false],
    ['../../a', 2, true],
    ['a/..', 5, false],
    ['/', 5, false],
    ['a\\..\\b', 0, true]
  ])('to %j from %d folders down stay inside: %s', (to, depth, stays) => {
    expect(staysInside(to, depth, 'linux')).toBe(stays)
  })

  it('of Windows have two sorts of slashes, and drives', () => {
    for (const to of ['\\a', 'C:a', 'c:\\a', '..\\a', 'a\\..\\b']) expect(staysInside(to, 0, 'win32')).toBe(false)
    expect(staysInside('..\\a', 1, 'win32')).toBe(true)
  })

  it('in a tree are never written through', async () => {
    const victim = join(folder, 'victim')
    await mkdir(victim)
    await writeFile(join(victim, 'file'), 'untouched')
    const lists = [
      [directory(''), link('x', '../victim'), directory('x'), file('x/pwn', 'pwned')],
      [directory(''), link('x', victim), directory('x'), file('x/file', 'pwned')],
      [directory(''), directory('sub'), link('sub/x', '../../victim'), directory('sub/x'), file('sub/x/pwn', 'pwned')]
    ]
    for (const [i, list] of lists.entries()) {
      const error = await errorOf(writeTree(entries(list), join(folder, `t${i}`), unsafe))
      expect([error.name, error.message]).toEqual(['UnsafePathError', expect.stringMatching(/a symlink is in its place/)])
    }
    // A file in the place of a link replaces the link.
    await writeTree(entries([directory(''), link('y', '../victim/file'), file('y', 'replaced')]), join(folder, 't4'), unsafe)
    expect(await readdir(victim)).toEqual(['file'])
    expect(await readFile(join(victim, 'file'), 'utf8')).toBe('untouched')
  })

  it('that were there before are replaced by files and links, and refused as folders', async () => {
    const victim = join(folder, 'victim')
    const target = join(folder, 't')
    await mkdir(victim)
    await mkdir(target)
    await writeFile(join(victim, 'file'), 'untouched')
    await symlink('../victim/file', join(target, 'a'))
    await symlink('../victim/new', join(target, 'b'))
    await symlink('../victim', join(target, 'c'))
    await writeTree(entries([directory(''), file('a', 'A'), file('b', 'B')]), target)
    expect((await errorOf(writeTree(entries([directory(''), directory('c'), file('c/x', 'X')]), target))).name).toBe('UnsafePathError')
    await writeTree(entries([directory(''), link('c', 'elsewhere')]), target)
    expect(await readlink(join(target, 'c'))).toBe('elsewhere')
    expect(await readFile(join(target, 'a'), 'utf8')).toBe('A')
    expect((await lstat(join(target, 'a'))).isFile()).toBe(true)
    expect(await readdir(victim)).toEqual(['file'])
    expect(await readFile(join(victim, 'file'), 'utf8')).toBe('untouched')
  })

  it('are added as links: dangling, cyclic and to directories', async () => {
    const source = join(folder, 'source')
    await mkdir(join(source, 'sub'), { recursive: true })
    await symlink('nowhere', join(source, 'dangling'))
    await symlink('.', join(source, 'self'))
    await symlink('../sub', join(source, 'sub/loop'))
    await symlink(source, join(source, 'absolute'))
    const found = await collect(walkFiles([source], { recursive: true }))
    expect(found.map(({ path, symlinkTarget }) => [path, symlinkTarget])).toEqual([
      ['source', undefined],
      ['source/absolute', source],
      ['source/dangling', 'nowhere'],
      ['source/self', '.'],
      ['source/sub', undefined],
      ['source/sub/loop', '../sub']
    ])
    const blocks = new MemoryBlocks()
    const root = await addFiles(blocks, source)
    await writeTree(tree(blocks, root), join(folder, 'copy'), unsafe)
    expect(await readlink(join(folder, 'copy/sub/loop'))).toBe('../sub')
    expect(await addFiles(new MemoryBlocks(), join(folder, 'copy'))).toBe(root)
  })
})

describe('[F62] names', () => {
  it('of every odd sort come back as they were', async () => {
    const names = [
      ':*?"<>|]',
      'trailing dot.',
      'trailing space ',
      ' leading',
      'CON',
      'a\nb',
      'a\tb',
      '\\',
      'a\\',
      '~',
      '$HOME',
      '-rf',
      '%2e%2e',
      '...',
      'n'.repeat(255),
      'é'.normalize('NFC'),
      'é'.normalize('NFD'),
      '🙂',
      'שלום',
      '\u202Egnp.exe',
      '__proto__',
      'constructor',
      '\uFFFD'
    ]
    const blocks = new MemoryBlocks()
    const root = await addAll(
      blocks,
      names.map((name) => ({ path: `d/${name}`, content: text(name) }))
    )
    await writeTree(tree(blocks, root), join(folder, 'd'))
    expect((await readdir(join(folder, 'd'))).sort()).toEqual([...names].sort())
    for (const name of names) expect(await readFile(join(folder, 'd', name), 'utf8')).toBe(name)
    expect(await addFiles(new MemoryBlocks(), join(folder, 'd'))).toBe(root)
  })

  it.each(['..', '.', '', 'a/b', '/etc/passwd', '../x', 'a\0b'])('that are none are refused: %j', async (name) => {
    for (const odd of [
      { ...file(name, 'x'), name },
      { ...directory(name), name },
      { ...link(name, 'x'), name }
    ]) {
      const error = await errorOf(writeTree(entries([directory(''), odd]), join(folder, 't')))
      expect([error.name, error.message]).toEqual(['UnsafePathError', expect.stringContaining('cannot be written')])
      expect(await readdir(folder)).toEqual(['t'])
      expect(await readdir(join(folder, 't'))).toEqual([])
    }
  })

  it.each(['con', 'LPT1.txt', 'a:b', 'a?', 'dot.', 'space ', 'a\nb', 'a\\b'])('that Windows has not are refused there: %j', (name) => {
    expect(() => checkName(name, name, 'win32')).toThrow(expect.objectContaining({ name: 'UnsafePathError' }))
    expect(() => checkName(name, name, 'linux')).not.toThrow()
  })

  it('on disk that are not UTF-8 are an error that names the folder', async () => {
    await writeFile(Buffer.concat([Buffer.from(`${folder}/a`), Buffer.from([0xff])]), 'x')
    expect((await errorOf(collect(walkFiles([folder], { recursive: true })))).message).toContain(`a name in ${folder} is not UTF-8`)
  })
})

describe('[F58] mode and time, back from disk', () => {
  it('are kept and restored; setuid is not, unless it is asked for', async () => {
    const source = join(folder, 'source')
    await mkdir(join(source, 'sub'), { recursive: true })
    const times: [string, number, number][] = [
      ['one', 0o755, 1_000_000_000.5],
      ['empty', 0o400, -5.25],
      ['setuid', 0o4755, 12],
      ['sub/deep', 0o640, 1e9]
    ]
    for (const [name, mode, seconds] of times) {
      await writeFile(join(source, name), name === 'empty' ? '' : name)
      await chmod(join(source, name), mode)
      await utimes(join(source, name), new Date(seconds * 1000), new Date(seconds * 1000))
    }
    await symlink('one', join(source, 'link'))
    await chmod(join(source, 'sub'), 0o550)
    await utimes(join(source, 'sub'), 3, 3)
    const blocks = new MemoryBlocks()
    const root = await addFiles(blocks, source, true)
    for (const specialBits of [false, true]) {
      const target = join(folder, `copy-${specialBits}`)
      const warnings: string[] = []
      await writeTree(tree(blocks, root), target, { specialBits, onWarning: (path) => warnings.push(path) })
      expect(warnings).toEqual([])
      for (const [name, mode, seconds] of times) {
        const found = await stat(join(target, name))
        expect(found.mode & 0o7777).toBe(specialBits ? mode : mode & 0o777)
        expect(found.mtimeMs).toBe(seconds * 1000)
      }
      expect((await stat(join(target, 'sub'))).mode & 0o7777).toBe(0o550)
      expect((await stat(join(target, 'sub'))).mtimeMs).toBe(3000)
      await chmod(join(target, 'sub'), 0o750)
    }
    await chmod(join(source, 'sub'), 0o750)
  })

  it('a failure to set them is a warning', async () => {
    const target = join(folder, 't')
    const warnings: string[] = []
    const remover = async function* (): AsyncGenerator<Uint8Array> {
      await rm(join(target, 'sub'), { recursive: true })
      yield text('a')
    }
    const list = entries([
      directory(''),
      { ...directory('sub'), mode: 0o700 },
      { path: 'a', content: remover },
      { path: 'cbor', type: 'other' }
    ])
    await writeTree(list, target, { onWarning: (path) => warnings.push(path) })
    expect(await readdir(target)).toEqual(['a'])
    expect(warnings).toEqual(['cbor', 'sub'])
  })
})

describe('walkFiles', () => {
  it('skips hidden files within folders by default, never those that are named', async () => {
    await mkdir(join(folder, 'd/.git'), { recursive: true })
    await writeFile(join(folder, 'd/.git/x'), 'x')
    await writeFile(join(folder, 'd/.hidden'), 'x')
    await writeFile(join(folder, 'd/seen'), 'x')
    expect(await pathsOf([join(folder, 'd')], false)).toEqual(['d', 'd/seen'])
    expect(await pathsOf([join(folder, 'd')], true)).toEqual(['d', 'd/.git', 'd/.git/x', 'd/.hidden', 'd/seen'])
    expect(await pathsOf([join(folder, 'd/.hidden'), `${folder}/d/.git/`], false)).toEqual(['.hidden', '.git', '.git/x'])
  })

  it('refuses directories without recursive, what is missing and what is no file', async () => {
    expect((await errorOf(collect(walkFiles([folder])))).message).toMatch(/is a directory: use -r/)
    expect((await errorOf(collect(walkFiles([join(folder, 'nothing')])))).code).toBe('ENOENT')
    expect((await errorOf(collect(walkFiles(['/dev/null'])))).message).toMatch(/neither a file, a directory nor a symlink/)
  })

  it('opens no file before its content is read, and closes it after', async () => {
    await writeFile(join(folder, 'a'), new Uint8Array(3_000_000).fill(7))
    const [source] = await collect(walkFiles([join(folder, 'a')]))
    await writeFile(join(folder, 'a'), new Uint8Array(2_500_000).fill(8))
    const added = await collect(add([source ?? { path: '' }], new MemoryBlocks()))
    const expected = await addAll(new MemoryBlocks(), [{ path: 'a', content: new Uint8Array(2_500_000).fill(8) }])
    expect(added[0]?.cid.toString()).toBe(expected)
  })
})
