import { CID } from '@shardswap/interface'
import { describe, expect, it } from 'vitest'
import { BlockSizes } from '../src/sizes.ts'

const raw = CID.parse('bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy')
const node = CID.createV1(0x70, raw.multihash)
const KiB = 1024

describe('what a block is taken for before it is here', () => {
  it('[B15] is 256 KiB at first, then for raw blocks their mean, and an eighth of each further one from the eighth on', () => {
    const sizes = new BlockSizes()
    expect([sizes.expected(raw), sizes.expected(node)]).toEqual([256 * KiB, 256 * KiB])
    sizes.add(raw, 64 * KiB)
    expect(sizes.expected(raw)).toBe(64 * KiB)
    sizes.add(raw, 128 * KiB)
    expect(sizes.expected(raw)).toBe(96 * KiB)
    for (let i = 0; i < 6; i++) sizes.add(raw, 96 * KiB)
    expect(sizes.expected(raw)).toBe(96 * KiB)
    sizes.add(raw, 16 * KiB)
    expect(sizes.expected(raw)).toBe(86 * KiB)
  })

  it('[B15] of nodes moves by an eighth with each, and says nothing of raw blocks', () => {
    const sizes = new BlockSizes()
    sizes.add(node, 64 * KiB)
    expect(sizes.expected(node)).toBe(232 * KiB)
    sizes.add(node, 0)
    expect(sizes.expected(node)).toBe(203 * KiB)
    expect(sizes.expected(raw)).toBe(256 * KiB)
  })
})
