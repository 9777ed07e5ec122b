import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const file = new URL('./fetch.ts', import.meta.url)

describe('the example of the README', () => {
  it('fetches a file from three peers, each block once', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [file.pathname])
    // Kubo 0.42 gives these bytes the same root; five leaves of 256 KiB and the root are six blocks.
    expect(stdout).toBe('1300000 bytes of QmQiad3LJkY3hVjthT8M2fjxsDDKDxj9KbkTyvFacigDo4 in 6 blocks\n')
  }, 60_000)

  it('stands in the README as it is', async () => {
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
    expect(readme).toContain(await readFile(file, 'utf8'))
  })
})
