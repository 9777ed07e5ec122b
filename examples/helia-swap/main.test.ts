import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const file = new URL('./main.ts', import.meta.url)

describe('the example of Helia with one line swapped', () => {
  it('has the same file of the same providers without the duplicates', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [file.pathname])
    const [before = '', after = '', saved = ''] = stdout.split('\n')
    expect(before).toMatch(/^withBitswap\(helia\) +: [\d.]+ MB sent for 6\.3 MB, \d+ % duplicates$/)
    // Half of the file at the very least: each of the four is asked for each block, and sends most of them.
    expect(Number(/(\d+) % duplicates/.exec(before)?.[1])).toBeGreaterThan(50)
    expect(after).toMatch(/^withShardswap\(helia\): [\d.]+ MB sent for 6\.3 MB, \d+ % duplicates$/)
    // On a machine that does other things besides, a provider may be late, and its block asked for at a second one.
    expect(Number(/(\d+) % duplicates/.exec(after)?.[1])).toBeLessThan(20)
    expect(Number(/^saved: ([\d.]+) MB$/.exec(saved)?.[1])).toBeGreaterThan(3)
  }, 60_000)
})
