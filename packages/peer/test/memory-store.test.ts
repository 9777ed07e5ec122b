import { blockKey, NotFoundError } from '@shardswap/interface'
import { multihashOf } from '@shardswap/hashes'
import { CID } from 'multiformats/cid'
import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../src/memory-store.ts'

function blockOf(text: string): { cid: CID; bytes: Uint8Array } {
  const bytes = new TextEncoder().encode(text)
  const multihash = multihashOf(0x12, 32, bytes)
  if (multihash === undefined) throw new Error('sha2-256 is known')
  return { cid: CID.createV1(0x55, multihash), bytes }
}

function read(store: MemoryStore, cid: CID): string {
  return Buffer.concat(Array.from(store.get(cid))).toString()
}

describe('MemoryStore', () => {
  const block = blockOf('a block')
  const other = blockOf('another')

  it('gives what was put, by multihash, whatever the codec of the CID', () => {
    const store = new MemoryStore()
    expect(store.put(block.cid, block.bytes)).toBe(block.cid)
    const asNode = CID.createV1(0x70, block.cid.multihash)
    expect(store.has(asNode)).toBe(true)
    expect(store.size(asNode)).toBe(7)
    expect(store.find(blockKey(asNode))).toBe(block.bytes)
    expect(read(store, asNode)).toBe('a block')
  })

  it('misses what was never put and what was deleted', () => {
    const store = new MemoryStore()
    store.put(block.cid, block.bytes)
    store.delete(block.cid)
    for (const { cid } of [block, other]) {
      expect(store.has(cid)).toBe(false)
      expect(store.size(cid)).toBeUndefined()
      expect(store.find(blockKey(cid))).toBeUndefined()
      expect(() => store.get(cid).next()).toThrow(NotFoundError)
    }
  })

  it('takes a block in parts, as they come', async () => {
    const store = new MemoryStore()
    const parts = [block.bytes.subarray(0, 3), block.bytes.subarray(3)]
    expect(await store.put(block.cid, parts)).toBe(block.cid)
    expect(read(store, block.cid)).toBe('a block')
  })

  it('lists all that it has, under CIDs of raw blocks', async () => {
    const store = new MemoryStore()
    store.put(block.cid, block.bytes)
    store.put(CID.createV0(other.cid.multihash as Parameters<typeof CID.createV0>[0]), other.bytes)
    const listed = new Map<string, string>()
    for await (const { cid, bytes } of store.getAll())
      listed.set(cid.toString(), Buffer.concat([...(bytes as Generator<Uint8Array>)]).toString())
    expect(listed).toEqual(
      new Map([
        [block.cid.toString(), 'a block'],
        [other.cid.toString(), 'another']
      ])
    )
  })

  it('does nothing for a signal that has fired', () => {
    const store = new MemoryStore()
    const signal = AbortSignal.abort(new Error('given up'))
    expect(() => store.put(block.cid, block.bytes, { signal })).toThrow('given up')
    expect(() => store.has(block.cid, { signal })).toThrow('given up')
    expect(() => store.get(block.cid, { signal }).next()).toThrow('given up')
    expect(store.has(block.cid)).toBe(false)
  })
})
