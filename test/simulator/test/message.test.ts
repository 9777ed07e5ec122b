import { encodeMessageLists } from '@shardswap/protocol'
import { expect, it } from 'vitest'
import { makeBlocks } from '../src/engine/block.ts'
import { type Message, wireBytes } from '../src/engine/message.ts'
import { bytesOfLength } from '../src/nodes/bytes.ts'

const blocks = makeBlocks(20, (index) => 1000 * (index + 1))

function encodedBytes(message: Message): number {
  const outgoing = {
    full: message.full,
    entries: message.entries,
    blocks: message.blocks.map(({ block }) => ({ cid: block.cid, bytes: bytesOfLength(block.bytes) })),
    presences: message.presences.map(({ block, presence }) => ({ cid: block.cid, presence })),
    pendingBytes: message.pendingBytes
  }
  let length = 0
  for (const frame of encodeMessageLists(outgoing, '1.2.0')) length += frame.byteLength
  return length
}

it('counts bytes as the encoder writes them, within 2 %', () => {
  const entries = blocks.map(({ cid }, index) => ({
    cid,
    priority: index % 3 === 0 ? 0 : 2 ** 31 - 1 - index,
    cancel: index % 3 === 0,
    wantType: index % 3 === 2 ? ('have' as const) : ('block' as const),
    sendDontHave: index % 3 !== 0
  }))
  const nothing: Message = { full: false, entries: [], blocks: [], presences: [], pendingBytes: 0 }
  const presences = blocks.map((block, index) => ({ block, presence: index % 2 === 0 ? ('have' as const) : ('dont-have' as const) }))
  const samples: Message[] = [
    { ...nothing, entries },
    { ...nothing, presences, pendingBytes: 100_000 },
    { ...nothing, blocks: blocks.map((block) => ({ block, isSound: true })) }
  ]
  for (const sample of samples) expect(wireBytes(sample) / encodedBytes(sample)).toBeCloseTo(1, 1)
  for (const sample of samples) expect(Math.abs(wireBytes(sample) / encodedBytes(sample) - 1)).toBeLessThan(0.02)
})

it('names blocks apart', () => {
  expect(new Set(blocks.map(({ key }) => key)).size).toBe(20)
})
