import { expect, test } from 'vitest'
import { Gathering } from '../src/rpc/gathering.ts'

async function* parts(...lengths: number[]): AsyncGenerator<Uint8Array> {
  for (const length of lengths) yield new Uint8Array(length)
}

const anySize = (): void => {}

function refuse(bytes: number): void {
  if (bytes > 10) throw new Error('too large')
}

test('blocks of several calls share a bound, and what one held is free once it is stored, refused or broken off', async () => {
  const gathering = new Gathering(100)
  const stored = Promise.withResolvers<void>()
  const first = gathering.run(parts(30, 30), anySize, async (bytes) => {
    await stored.promise
    return bytes.byteLength
  })
  await expect.poll(() => gathering.bytes).toBe(60)
  await expect(gathering.run(parts(30, 30), anySize, async () => 'stored')).rejects.toMatchObject({ code: 'ERR_BUSY' })
  expect(gathering.bytes).toBe(60)
  await expect(gathering.run(parts(20), refuse, async () => 'stored')).rejects.toThrow('too large')
  await expect(gathering.run(parts(40), anySize, () => Promise.reject(new Error('the disk is full')))).rejects.toThrow('full')
  stored.resolve()
  expect(await first).toBe(60)
  expect(gathering.bytes).toBe(0)
  expect(await gathering.run(parts(50, 50), anySize, async ({ byteLength }) => byteLength)).toBe(100)
})
