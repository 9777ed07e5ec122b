import { lstat, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { add, tree, walkFiles, writeTree } from '../src/index.ts'
import { collect, fixtureLines, loadCar, MemoryBlocks, sha256 } from './setup.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shardswap-content-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

describe('writeTree', () => {
  it('writes dir.car with its odd names, links and empty directory, and adds up to the same root again', async () => {
    const lines = fixtureLines().filter((line) => line.car === 'dir.car')
    const root = lines[0]?.root ?? ''
    const target = join(folder, 'dir')
    await writeTree(tree(await loadCar('dir.car'), root), target)
    for (const line of lines) expect(sha256(await readFile(join(target, line.path)))).toBe(line.sha256)
    const names = await readdir(target, { withFileTypes: true })
    const links = names.filter((name) => name.isSymbolicLink())
    expect(await Promise.all(links.map((link) => readlink(join(target, link.name))))).toContain('/etc/passwd')
    const added = await collect(
      add(walkFiles([target], { recursive: true, hidden: true }), new MemoryBlocks(), { cidVersion: 1, chunker: 'size-16384' })
    )
    expect(added.at(-1)?.cid.toString()).toBe(root)
  })

  it('writes a lone file as the target, and leaves nothing else', async () => {
    const root = 'bafkreiaij7wqrolyv5gx2glkordkq22yacpgg23bdwyweenwlknk37zjyu'
    await writeTree(tree(await loadCar('file-1.car'), root), join(folder, 'one'))
    expect(await readdir(folder)).toEqual(['one'])
    expect((await lstat(join(folder, 'one'))).size).toBe(1)
  })
})
