import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { faults, readReference, writeReference } from '../src/reference.ts'

const folder = join(import.meta.dirname, 'samples')
const reference = await readReference({ files: [join(folder, 'undocumented.ts')], tsconfig: join(folder, 'tsconfig.json') })

describe('the API reference', () => {
  it('finds exports, their methods and accessors, and options without a docstring, and links to nothing', () => {
    const found = faults(reference)
    const names = found.flatMap((fault) => / (\S+) has no docstring$/.exec(fault)?.[1] ?? [])
    expect(names.toSorted()).toEqual(['Choice', 'Derived', 'Half.legs', 'Half.walk', 'Untold', 'WalkOptions.depth', 'untold', 'untoldMax'])
    expect(found[0]).toMatch(/undocumented\.ts:\d+ /)
    expect(found.filter((fault) => !fault.includes('has no docstring'))).toEqual([expect.stringContaining('Nowhere')])
  })

  it('is written as pages, which tell the places and link to none of them', async () => {
    const target = await mkdtemp(join(tmpdir(), 'shardswap-api-'))
    try {
      await writeReference(reference, target)
      const page = await readFile(join(target, 'classes/Half.html'), 'utf8')
      expect(page).toContain('A class whose methods are told by its interface')
      expect(page).toMatch(/Defined in [^<]*undocumented\.ts:\d+/)
      expect(page).not.toContain('href="undocumented.ts')
    } finally {
      await rm(target, { recursive: true, force: true })
    }
  })
})
