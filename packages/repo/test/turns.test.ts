import { describe, expect, test } from 'vitest'
import { KeyTurns } from '../src/blocks/key-turns.ts'
import { Permits } from '../src/blocks/permits.ts'

/** Tasks that note when they begin and end, and end when told. */
class Stage {
  readonly log: string[] = []
  readonly #ends = new Map<string, PromiseWithResolvers<void>>()

  task(name: string): () => Promise<string> {
    const end = Promise.withResolvers<void>()
    this.#ends.set(name, end)
    return async () => {
      this.log.push(`${name} begins`)
      await end.promise
      this.log.push(`${name} ends`)
      return name
    }
  }

  end(name: string): void {
    this.#ends.get(name)?.resolve()
  }

  fail(name: string): void {
    this.#ends.get(name)?.reject(new Error(name))
  }
}

describe('KeyTurns', () => {
  test('tasks of one key follow each other, also after one that failed; other keys do not wait', async () => {
    const stage = new Stage()
    const turns = new KeyTurns<string>()
    const first = turns.run('k', stage.task('first'))
    const second = turns.run('k', stage.task('second'))
    const third = turns.run('k', stage.task('third'))
    const other = turns.run('other', stage.task('other'))
    expect(stage.log).toEqual(['first begins', 'other begins'])
    stage.end('third')
    stage.fail('first')
    await expect(first).rejects.toThrow('first')
    stage.end('other')
    stage.end('second')
    expect(await Promise.all([second, third, other])).toEqual(['second', 'third', 'other'])
    expect(stage.log.filter((line) => !line.startsWith('other'))).toEqual([
      'first begins',
      'second begins',
      'second ends',
      'third begins',
      'third ends'
    ])
  })
})

describe('Permits', () => {
  test('so many run at once; the next begins when one ends, however it ended, in the order asked', async () => {
    const stage = new Stage()
    const permits = new Permits(2)
    const runs = ['a', 'b', 'c', 'd'].map(async (name) => await permits.run(stage.task(name)))
    expect(stage.log).toEqual(['a begins', 'b begins'])
    stage.fail('b')
    await expect(runs[1]).rejects.toThrow('b')
    await new Promise(setImmediate)
    expect(stage.log).toEqual(['a begins', 'b begins', 'c begins'])
    for (const name of ['a', 'c', 'd']) stage.end(name)
    await Promise.allSettled(runs)
    expect(stage.log.filter((line) => line.endsWith('ends'))).toEqual(['a ends', 'c ends', 'd ends'])
    stage.end('e')
    expect(await permits.run(async () => 'later')).toBe('later')
  })
})
