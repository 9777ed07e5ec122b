import { describe, expect, it } from 'vitest'
import { readWhole } from '../src/ports.ts'

async function* parts(...lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  for (const [i, length] of lengths.entries()) yield new Uint8Array(length).fill(i)
}

describe('readWhole', () => {
  it('puts what comes behind each other', async () => {
    expect(await readWhole(parts(1, 0, 2), () => undefined)).toEqual(Uint8Array.of(0, 2, 2))
    expect(await readWhole(parts(), () => undefined)).toEqual(new Uint8Array(0))
  })

  it('reads no further than to what is too much', async () => {
    const counted: number[] = []
    const check = (bytes: number): void => {
      counted.push(bytes)
      if (bytes > 3) throw new Error('too much')
    }
    await expect(readWhole(parts(1, 2, 1, 7), check)).rejects.toThrow('too much')
    expect(counted).toEqual([1, 3, 4])
  })
})
