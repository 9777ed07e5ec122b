import { describe, expect, test } from 'vitest'
import { together, untilAborted } from '../../src/routing/together.ts'
import { collect } from '../support.ts'

async function* countTo(end: number, name: string): AsyncGenerator<string> {
  for (let i = 0; i < end; i++) yield `${name}${i}`
}

async function* failing(): AsyncGenerator<string> {
  yield 'before'
  throw new Error('broken')
}

async function* silent(): AsyncGenerator<string> {
  await new Promise(() => undefined)
  yield 'never'
}

const ignore = (): void => undefined

describe('sources together', () => {
  test('all that all give comes, each source in its order, and none waits for another to end', async () => {
    const all = await collect(together([countTo(3, 'a'), countTo(50, 'b'), countTo(0, 'c')], ignore))
    expect(all.filter((text) => text.startsWith('a'))).toEqual(['a0', 'a1', 'a2'])
    expect(all.filter((text) => text.startsWith('b'))).toHaveLength(50)
    expect(all.indexOf('a2')).toBeLessThan(10)
    expect(all.indexOf('b0')).toBeLessThan(3)
  })

  test('one that fails is reported and left out', async () => {
    const failures: unknown[] = []
    const all = await collect(together([failing(), countTo(5, 'a')], (at, error) => failures.push([at, error])))
    expect(all.sort()).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'before'])
    expect(failures).toEqual([[0, new Error('broken')]])
  })

  test('one that hangs holds nobody back, and a reader that leaves is not held either', async () => {
    const found: string[] = []
    for await (const text of together([silent(), countTo(5, 'a')], ignore)) {
      found.push(text)
      if (found.length === 5) break
    }
    expect(found).toHaveLength(5)
  })

  test('a source that does not hear of an abort ends by it all the same', async () => {
    const ending = new AbortController()
    const reading = collect(untilAborted(silent(), ending.signal))
    ending.abort(new Error('enough'))
    await expect(reading).rejects.toThrow('enough')
  })
})
