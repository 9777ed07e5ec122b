import { blockKeyOfMultihash, CID, UnknownHashError, HashMismatchError } from '@shardswap/interface'
import { create } from 'multiformats/hashes/digest'
import { describe, expect, it } from 'vitest'
import { blockKeyFor, hashFunctions, isEmptyBlock, isVerifiable, matches, multihashOf, verify } from '../src/index.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const abc = new TextEncoder().encode('abc')

// Digests of "abc" from the functions' own specifications.
const knownOfAbc: Record<string, string> = {
  sha1: 'a9993e364706816aba3e25717850c26c9cd0d89d',
  'sha2-256': 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  'sha3-256': '3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532',
  'keccak-256': '4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45',
  blake3: '6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85',
  'blake2b-256': 'bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319',
  'blake2s-256': '508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982'
}

describe('hashes', () => {
  it.each(Object.entries(knownOfAbc))('%s of "abc" is what its specification says', (name, digest) => {
    const fn = hashFunctions().find((each) => each.name === name)
    expect(fn).toBeDefined()
    expect(hex(fn!.digest(abc, fn!.digestBytes))).toBe(digest)
  })

  it('gives every function its own digest length', () => {
    for (const fn of hashFunctions()) expect(fn.digest(abc, fn.digestBytes)).toHaveLength(fn.digestBytes)
  })

  it('gives BLAKE3 a longer digest whose head is the short one, and truncates sha2-256', () => {
    expect(hex(multihashOf(0x1e, 64, abc)!.digest).slice(0, 64)).toBe(knownOfAbc['blake3'])
    expect(hex(multihashOf(0x12, 20, abc)!.digest)).toBe(knownOfAbc['sha2-256']!.slice(0, 40))
  })

  it('files a block under the multihash of its bytes, whatever the function and the length of the digest', () => {
    for (const { code, digestBytes, digestBytesMax } of hashFunctions()) {
      for (const bytes of new Set([20, digestBytes, digestBytesMax])) {
        expect(blockKeyFor(code, bytes, abc)).toBe(blockKeyOfMultihash(multihashOf(code, bytes, abc)!.bytes))
      }
    }
  })

  it('proves nothing by identity, a short digest, a long one or an unknown function', () => {
    for (const [code, size] of [
      [0, 3],
      [0x12, 19],
      [0x12, 33],
      [0x1e, 129],
      [0x9999, 32]
    ] as const) {
      expect(blockKeyFor(code, size, abc)).toBeUndefined()
    }
  })

  it('names an unknown hash by its code and a mismatch by its CID', () => {
    const unknown = CID.createV1(0x55, create(0x9999, new Uint8Array(32)))
    expect(isVerifiable(unknown)).toBe(false)
    expect(() => verify(unknown, abc)).toThrow(UnknownHashError)
    expect(() => verify(unknown, abc)).toThrow('unsupported hash 0x9999')
    const cid = CID.createV1(0x55, multihashOf(0x12, 32, abc)!)
    expect(matches(cid, abc)).toBe(true)
    expect(() => verify(cid, new Uint8Array(3))).toThrow(HashMismatchError)
    expect(() => verify(cid, new Uint8Array(3))).toThrow(cid.toString())
  })

  it('knows the block of no bytes under every function, and no other', () => {
    for (const { code, digestBytes } of hashFunctions()) {
      expect(isEmptyBlock(CID.createV1(0x55, multihashOf(code, digestBytes, new Uint8Array(0))!))).toBe(true)
      expect(isEmptyBlock(CID.createV1(0x55, multihashOf(code, digestBytes, new Uint8Array(1))!))).toBe(false)
    }
    expect(isEmptyBlock(CID.createV1(0x55, multihashOf(0x12, 20, new Uint8Array(0))!))).toBe(true)
    expect(isEmptyBlock(CID.createV1(0x55, create(0, new Uint8Array(0))))).toBe(false)
    expect(isEmptyBlock(CID.createV1(0x55, create(0x9999, new Uint8Array(32))))).toBe(false)
  })
})
