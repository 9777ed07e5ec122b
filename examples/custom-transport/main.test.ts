import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const file = new URL('./main.ts', import.meta.url)

describe('the example of a transport of one’s own', () => {
  it('fetches over plain sockets from three peers, each block once', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [file.pathname])
    expect(stdout).toBe('96 of 96 blocks from 3 peers, 0 of them twice\n')
  })
})
