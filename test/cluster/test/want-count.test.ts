import { expect, test } from 'vitest'
import { WantCount } from '../src/want-count.ts'

const block = { cancel: false, wantType: 'block' } as const
const have = { cancel: false, wantType: 'have' } as const
const cancel = { cancel: true, wantType: 'block' } as const

test('a want stands until it is answered or cancelled, and is a repeat while it stands', () => {
  const count = new WantCount()
  expect(['a', 'b', 'c'].map((key) => count.take(key, block, false))).toEqual([true, true, true])
  expect(count.take('a', block, false)).toBe(false)
  expect(count.seen()).toMatchObject({ wantBlocks: 3, repeats: 1, standingBlocks: 3, standingBlocksMax: 3 })
  count.answer('a', 'block')
  count.answer('b', 'dont-have')
  count.take('c', cancel, false)
  expect(count.seen()).toMatchObject({ standingBlocks: 0, blocksSent: 1, dontHavesSent: 1, cancels: 1, repeats: 1 })
  expect(count.take('a', block, false)).toBe(true)
  expect(count.seen()).toMatchObject({ repeats: 1, standingMaxBySent: [3, 2] })
})

test('a HAVE ends a want-have, and a want-block after it is no repeat', () => {
  const count = new WantCount()
  expect(count.take('a', have, false)).toBe(true)
  count.answer('a', 'have')
  expect(count.seen()).toMatchObject({ standingHaves: 0, wantHaves: 1 })
  expect(count.take('a', block, false)).toBe(true)
  expect(count.take('a', have, false)).toBe(false)
  expect(count.seen()).toMatchObject({ standingBlocks: 1, standingHaves: 0, repeats: 1 })
})

test('a full list replaces what stood, and repeats nothing', () => {
  const count = new WantCount()
  for (const key of ['a', 'b']) count.take(key, block, false)
  count.restate(new Set(['b', 'c']))
  for (const key of ['b', 'c']) count.take(key, block, true)
  expect(count.seen()).toMatchObject({ wantBlocks: 3, repeats: 0, standingBlocks: 2 })
  expect(count.stands('a')).toBe(false)
})

test('want-blocks and want-haves count together to the most that ever stood', () => {
  const count = new WantCount()
  for (const key of ['a', 'b']) count.take(key, have, false)
  count.take('c', block, false)
  // A want-block in place of a want-have is one want still.
  count.take('a', block, false)
  count.answer('b', 'have')
  expect(count.seen()).toMatchObject({ standingBlocks: 2, standingHaves: 0, standingBlocksMax: 2, standingMax: 3 })
})
