import { type BlockKey, CID, type Random, seededRandom } from '@shardswap/interface'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { GarbageCore } from '../src/gc/core.ts'
import { KeySet } from '../src/gc/key-set.ts'

const random: Random = seededRandom(7)

const keys = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)), maxLength: 70 })

test('a key set holds what was added, under its tag, and nothing else', () => {
  const step = fc.record({ key: keys, tag: fc.integer({ min: 0, max: 2 }) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), fc.array(step, { maxLength: 50 }), (added, others) => {
      const set = new KeySet(random)
      const model = new Set<string>()
      for (const { key, tag } of added) {
        const name = `${tag} ${key}`
        expect(set.add(key as BlockKey, tag)).toBe(!model.has(name))
        model.add(name)
      }
      expect(set.size).toBe(model.size)
      for (const { key, tag } of [...added, ...others]) expect(set.has(key as BlockKey, tag)).toBe(model.has(`${tag} ${key}`))
    })
  )
})

function keyOf(number: number): BlockKey {
  return String.fromCharCode(0x12, 0x20, ...new Uint8Array(new Uint32Array([number, 0, 0, 0, 0, 0, 0, 0]).buffer)) as BlockKey
}

test('a key set takes 43 bytes a key at most, and tells apart keys that differ in one bit', () => {
  const set = new KeySet(random)
  const count = 50_000
  let added = 0
  for (let number = 0; number < count; number++) if (set.add(keyOf(number))) added += 1
  expect(added).toBe(count)
  for (let bit = 16; bit < 32; bit++) expect(set.has(keyOf(2 ** bit + count))).toBe(false)
  expect(set.size).toBe(count)
  expect(set.bytes / count).toBeLessThanOrEqual(43)
})

const block = fc.integer({ min: 0, max: 5 }).map((number) => `block ${number}` as BlockKey)
const hold = fc.integer({ min: 0, max: 2 })
const event = fc.oneof(
  fc.record({ type: fc.constant('open'), hold, isReader: fc.boolean() }),
  fc.record({ type: fc.constant('close'), hold }),
  fc.record({ type: fc.constant('touch'), hold, key: block }),
  fc.record({ type: fc.constant('write'), key: block }),
  fc.record({ type: fc.constant('begin'), sparesReaders: fc.boolean() }),
  fc.record({ type: fc.constant('mark'), key: block, tag: fc.constantFrom(0, 0x70) }),
  fc.record({ type: fc.constant('remove'), key: block }),
  fc.record({ type: fc.constant('end') })
)

test('what may be removed is what is not marked, not touched since, and under no hold that counts; nothing else is spared', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const core = new GarbageCore(random)
      const open = new Map<number, { hold: ReturnType<GarbageCore['open']>; keys: Set<BlockKey> }>()
      let spared: (() => ReadonlySet<BlockKey>)[] = []
      let sparesReaders = true
      const answers: boolean[] = []
      const expected: boolean[] = []
      for (const next of events) {
        switch (next.type) {
          case 'open': {
            if (open.has(next.hold)) break
            const keys = new Set<BlockKey>()
            open.set(next.hold, { hold: core.open([], next.isReader), keys })
            if (sparesReaders || !next.isReader) spared.push(() => keys)
            break
          }
          case 'close': {
            const found = open.get(next.hold)
            if (found !== undefined) core.close(found.hold)
            open.delete(next.hold)
            break
          }
          case 'touch':
          case 'write': {
            const found = next.type === 'touch' ? open.get(next.hold) : undefined
            core.touch(next.key, found?.hold)
            found?.keys.add(next.key)
            if (core.isCollecting) spared.push(() => new Set([next.key]))
            break
          }
          case 'begin':
            if (core.isCollecting) break
            core.begin(next.sparesReaders)
            sparesReaders = next.sparesReaders
            spared = [...open.values()]
              .filter(({ hold: each }) => next.sparesReaders || !each.isReader)
              .map(
                ({ keys }) =>
                  () =>
                    keys
              )
            break
          case 'mark':
            if (!core.isCollecting) break
            core.mark(next.key, next.tag)
            spared.push(() => new Set([next.key]))
            break
          case 'remove':
            if (!core.isCollecting) break
            expected.push(!spared.some((keysOf) => keysOf().has(next.key)))
            answers.push(core.startRemoval(next.key))
            core.removed(next.key)
            break
          case 'end':
            if (core.isCollecting) core.end()
        }
      }
      expect(answers).toEqual(expected)
    }),
    { numRuns: 500 }
  )
})

test('a block on its way out is not begun twice, and a collection does not end before it is gone', () => {
  const core = new GarbageCore(random)
  const key = 'block' as BlockKey
  core.begin(true)
  expect(core.startRemoval(key)).toBe(true)
  expect([core.startRemoval(key), core.isRemoving(key)]).toEqual([false, true])
  expect(() => core.end()).toThrow(/removals end/)
  core.removed(key)
  core.end()
  expect([core.isCollecting, core.isRemoving(key)]).toEqual([false, false])
})

test('a collection marks from the roots of holds; one that is pressed leaves readers out', () => {
  const core = new GarbageCore(random)
  const [one, other] = [
    'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy',
    'bafkreiepsfo46rznrj6b7pa37s2c7s5k7jv7xkrwjxyrztqwxh7xd6kqoy'
  ].map((text) => CID.parse(text)) as [CID, CID]
  core.open([one], true)
  core.open([other], false)
  expect(core.begin(true)).toEqual([one, other])
  core.end()
  expect(core.begin(false)).toEqual([other])
})
