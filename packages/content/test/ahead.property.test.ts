import { CID, type BlockSource } from '@shardswap/interface'
import * as fc from 'fast-check'
import { create as createDigest } from 'multiformats/hashes/digest'
import { describe, expect, it } from 'vitest'
import { type Planned, readAhead } from '../src/read/ahead.ts'
import { ByteBudget } from '../src/read/budget.ts'
import { errorOf } from './setup.ts'

/** A node of a made-up DAG: its block's size, what its parent claims, its children. */
interface Shape {
  readonly bytes: number
  readonly claim: 'nothing' | 'all below' | 'too little' | 'far too much'
  readonly children: readonly Shape[]
}

const shape: fc.Memo<Shape> = fc.memo((depth) =>
  fc.record({
    bytes: fc.integer({ min: 0, max: 2000 }),
    claim: fc.constantFrom('nothing', 'all below', 'too little', 'far too much'),
    children: depth <= 1 ? fc.constant([]) : fc.array(shape(depth - 1), { maxLength: 5 })
  })
)

function bytesBelow(shape: Shape): number {
  return shape.children.reduce((sum, child) => sum + bytesBelow(child), shape.bytes)
}

function spanOf(shape: Shape): number {
  const all = bytesBelow(shape)
  return { nothing: 0, 'all below': all, 'too little': Math.ceil(all / 10), 'far too much': all + 10 * 1024 * 1024 }[shape.claim]
}

function preorder(shape: Shape, to: Shape[] = []): Shape[] {
  to.push(shape)
  for (const child of shape.children) preorder(child, to)
  return to
}

/** Answers what is waiting one at a time, in an order that the numbers decide. */
class ShuffledSource implements BlockSource {
  readonly #order: readonly number[]
  readonly #sizes: readonly number[]
  readonly #waiting: (() => void)[] = []
  #turn = 0
  inFlightMax = 0

  constructor(order: readonly number[], sizes: readonly number[]) {
    this.#order = order
    this.#sizes = sizes
  }

  async get(cid: CID): Promise<Uint8Array> {
    const answered = new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.inFlightMax = Math.max(this.inFlightMax, this.#waiting.length)
    if (this.#waiting.length === 1) setImmediate(this.#answer)
    await answered
    return new Uint8Array(this.#sizes[indexOf(cid)] ?? 0)
  }

  readonly #answer = (): void => {
    const pick = (this.#order[this.#turn++ % this.#order.length] ?? 0) % this.#waiting.length
    this.#waiting.splice(pick, 1)[0]?.()
    if (this.#waiting.length > 0) setImmediate(this.#answer)
  }
}

function cidOf(index: number): CID {
  const digest = new Uint8Array(32)
  new DataView(digest.buffer).setUint32(0, index)
  return CID.createV1(0x55, createDigest(0x12, digest))
}

function indexOf(cid: CID): number {
  const { digest } = cid.multihash
  return new DataView(digest.buffer, digest.byteOffset).getUint32(0)
}

function childless(): { value: undefined; children: [] } {
  return { value: undefined, children: [] }
}

const setting = fc.record({
  root: shape(6),
  order: fc.array(fc.nat(1000), { minLength: 1, maxLength: 50 }),
  bytesMax: fc.constantFrom(0, 1, 3000, 300_000, 32 * 1024 * 1024),
  blocksMax: fc.constantFrom(1, 2, 10, 4096)
})

describe('readAhead, whatever arrives first', () => {
  it('gives every node in depth-first order, within its bounds, and holds nothing at the end', async () => {
    await fc.assert(
      fc.asyncProperty(setting, fc.nat(200), async ({ root, order, bytesMax, blocksMax }, stopAfter) => {
        const all = preorder(root)
        const indexes = new Map(all.map((shape, i) => [shape, i]))
        const plan = (shape: Shape): Planned<Shape> => ({ cid: cidOf(indexes.get(shape) ?? 0), span: spanOf(shape), context: shape })
        const walk = async (limit: number): Promise<{ seen: Shape[]; held: number; inFlightMax: number }> => {
          const source = new ShuffledSource(
            order,
            all.map(({ bytes }) => bytes)
          )
          const budget = new ByteBudget(bytesMax)
          const seen: Shape[] = []
          const nodes = readAhead<Shape, number>({
            source,
            roots: [plan(root)],
            open: ({ context }, bytes) => ({ value: bytes.byteLength, children: context.children.map(plan) }),
            budget,
            readAheadBlocksMax: blocksMax
          })
          for await (const { context, value } of nodes) {
            if (value !== context.bytes) throw new Error('the bytes are those of another node')
            seen.push(context)
            if (seen.length >= limit) break
          }
          return { seen, held: budget.held, inFlightMax: source.inFlightMax }
        }
        const whole = await walk(Infinity)
        expect(whole.seen.map((shape) => indexes.get(shape))).toEqual(all.map((_, i) => i))
        expect(whole.held).toBe(0)
        // The block that the consumer waits for is above the bound.
        expect(whole.inFlightMax).toBeLessThanOrEqual(blocksMax + 1)
        expect((await walk(stopAfter + 1)).held).toBe(0)
      }),
      { numRuns: 150 }
    )
  }, 120_000)

  it('leaves out what is skipped, with all below it', async () => {
    const leaf: Shape = { bytes: 1, claim: 'nothing', children: [] }
    await fc.assert(
      fc.asyncProperty(setting, fc.array(fc.nat(40)), async ({ root: drawn, order, bytesMax }, skipped) => {
        const root: Shape = { ...drawn, children: [...drawn.children, leaf] }
        const all = preorder(root)
        const indexes = new Map(all.map((shape, i) => [shape, i]))
        const plan = (shape: Shape): Planned<Shape> => ({ cid: cidOf(indexes.get(shape) ?? 0), span: spanOf(shape), context: shape })
        const skips = new Set(skipped)
        const skip = ({ context }: Planned<Shape>): boolean => skips.has(indexes.get(context) ?? -1)
        const expected = (shape: Shape): number[] =>
          skips.has(indexes.get(shape) ?? -1) ? [] : [indexes.get(shape) ?? -1, ...shape.children.flatMap(expected)]
        const budget = new ByteBudget(bytesMax)
        const seen: number[] = []
        const source = new ShuffledSource(
          order,
          all.map(({ bytes }) => bytes)
        )
        const open = ({ context }: Planned<Shape>): { value: undefined; children: Planned<Shape>[] } => ({
          value: undefined,
          children: context.children.map(plan)
        })
        for await (const { context } of readAhead<Shape, undefined>({ source, roots: [plan(root)], open, skip, budget })) {
          seen.push(indexes.get(context) ?? -1)
        }
        expect(seen).toEqual(expected(root))
        expect(budget.held).toBe(0)
      }),
      { numRuns: 100 }
    )
  }, 120_000)

  it('an error comes in its place in the order, after all before it', async () => {
    const sizes = Array.from({ length: 50 }, () => 10)
    const source: BlockSource = {
      get: async (cid) => {
        if (indexOf(cid) === 30) throw new Error('block 30 is lost')
        await new Promise((resolve) => setTimeout(resolve, 50 - indexOf(cid)))
        return new Uint8Array(sizes[indexOf(cid)] ?? 0)
      }
    }
    const seen: number[] = []
    const read = async (): Promise<void> => {
      const roots = sizes.map((_, i) => ({ cid: cidOf(i), span: 10, context: i }))
      for await (const { context } of readAhead<number, undefined>({ source, roots, open: childless })) seen.push(context)
    }
    expect((await errorOf(read())).message).toBe('block 30 is lost')
    expect(seen).toEqual(Array.from({ length: 30 }, (_, i) => i))
  })
})
