import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { partOf } from './range.ts'

const file = new URL('./main.ts', import.meta.url)

describe('the example of a web server', () => {
  it('streams the whole and parts of a file, and ends the wants of a reader that leaves', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [file.pathname])
    expect(stdout.trimEnd().split('\n')).toEqual([
      'a reader that leaves: 0 wants stay',
      'the whole: 200 8388608, 8388608 bytes right',
      'a part: 206 bytes 1000000-1099999/8388608, 100000 bytes right',
      'its end: 206 bytes 8388108-8388607/8388608, 500 bytes right',
      'behind its end: 416 bytes */8388608',
      'only the head: 200 8388608, 0 bytes right',
      'a write: 405 -',
      'no CID: 400 -',
      'a bad escape: 400 -',
      'a block that nobody has: 404 -'
    ])
  }, 60_000)

  it.each([
    [undefined, 'all'],
    ['bytes=0-', { offset: 0, length: 10 }],
    ['bytes=2-4', { offset: 2, length: 3 }],
    ['bytes=9-9', { offset: 9, length: 1 }],
    ['bytes=2-99', { offset: 2, length: 8 }],
    ['bytes=-3', { offset: 7, length: 3 }],
    ['bytes=-99', { offset: 0, length: 10 }],
    ['bytes=10-', 'none'],
    ['bytes=-0', 'none'],
    ['bytes=4-2', 'all'],
    ['bytes=-', 'all'],
    ['bytes=0-1,3-4', 'all'],
    ['lines=0-1', 'all']
  ] as const)('%s of ten bytes is %o', (header, expected) => {
    expect(partOf(header, 10)).toEqual(expected)
  })

  it('has nothing of an empty file to give in parts', () => {
    expect([partOf('bytes=0-', 0), partOf('bytes=-1', 0), partOf(undefined, 0)]).toEqual(['none', 'none', 'all'])
  })
})
