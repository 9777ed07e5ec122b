import { afterEach, describe, expect, it, vi } from 'vitest'
import * as fc from 'fast-check'
import { SumTree } from '../src/sum-tree.ts'

let touched = 0

/** Counts how often an element of a typed array is read or written. */
function countTouches(): void {
  const Real = Float64Array
  vi.stubGlobal('Float64Array', function counting(length: number) {
    return new Proxy(new Real(length), {
      get(nodes, name) {
        if (typeof name === 'string' && /^\d+$/.test(name)) touched += 1
        return Reflect.get(nodes, name) as unknown
      },
      set(nodes, name, value) {
        touched += 1
        return Reflect.set(nodes, name, value)
      }
    })
  })
}

function touches(of: () => unknown): number {
  touched = 0
  of()
  return touched
}

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('the tree of weights', () => {
  it('draws each index for the part of [0, 1) that its weight has of the sum, in the order of indices', () => {
    const tree = new SumTree()
    for (const [index, weight] of [100, 50, 0, 1, 49].entries()) tree.set(index, weight)
    expect(tree.total).toBe(200)
    const drawn = Array.from({ length: 200 }, (_, i) => tree.sample(i / 200))
    expect([0, 1, 2, 3, 4].map((index) => drawn.filter((of) => of === index).length)).toEqual([100, 50, 0, 1, 49])
    expect(drawn).toEqual(drawn.toSorted((a, b) => a - b))
  })

  it('is the same as running sums over a list, whatever is set in whatever order', () => {
    const sets = fc.array(fc.tuple(fc.nat(40), fc.nat(5)), { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(sets, fc.nat(999), (changes, draw) => {
        const tree = new SumTree()
        const list = Array.from({ length: 41 }, () => 0)
        for (const [index, weight] of changes) {
          tree.set(index, weight)
          list[index] = weight
        }
        const total = list.reduce((sum, weight) => sum + weight, 0)
        expect(tree.total).toBe(total)
        expect(list.map((_, index) => tree.weight(index))).toEqual(list)
        fc.pre(total > 0)
        let rest = (draw / 1000) * total
        const expected = list.findIndex((weight) => {
          rest -= weight
          return rest < 0
        })
        expect(tree.sample(draw / 1000)).toBe(expected)
      })
    )
  })

  it('never draws what weighs nothing, however the sums are rounded', () => {
    const tree = new SumTree()
    for (let i = 0; i < 100; i++) tree.set(i, i % 3 === 0 ? 0.1 : 0)
    for (let i = 0; i < 1000; i++) expect(tree.sample(i / 1000) % 3).toBe(0)
    expect(tree.sample(1 - 2 ** -53)).toBe(99)
  })

  it('[C3] changes and draws in O(log n): ten times the peers cost so many more levels, not more', () => {
    countTouches()
    const costs = [10, 100, 1000, 10_000].map((size) => {
      const tree = new SumTree()
      for (let i = 0; i < size; i++) tree.set(i, 1)
      const levels = Math.ceil(Math.log2(size))
      return { levels, set: touches(() => tree.set(size - 1, 2)), draw: touches(() => tree.sample(0.999)) }
    })
    // A change writes its leaf, and a sum from two children on each level; a draw reads the root and two children on each.
    expect(costs).toEqual([4, 7, 10, 14].map((levels) => ({ levels, set: 1 + 3 * levels, draw: 1 + 2 * levels })))
  })
})
