import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const file = new URL('./main.ts', import.meta.url)

describe('the example of a transport of one’s own', () => {
  it('fetches over plain sockets from three peers, hardly a block twice', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [file.pathname])
    const [, twice] = /^96 of 96 blocks from 3 peers, (\d+) of them twice\n$/.exec(stdout) ?? []
    // None, unless the machine does so much besides that a peer is late and a second one is asked.
    expect(Number(twice)).toBeLessThan(10)
  }, 60_000)
})
