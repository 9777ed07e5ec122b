import { type BlockKey, peerKey } from '@shardswap/interface'
import { describe, expect, it } from 'vitest'
import { Partners } from '../src/partners.ts'
import { chiSquare, peer } from './scene.ts'

const names = [
  '12D3KooWPjceQrSwdWXPyLLeABRXmuqt69Rg3sBYbU1Nft9HyQ6X',
  '12D3KooWSHj3RRbBjD15g6wekV8y3mm57Pobmps2g2WJm6F67Lay',
  '12D3KooWDMCQbZZvLgHiHntG1KwcHoqHPAxL37KvhgibWqFtpqUY'
]

/** What each of them thinks whose block it is. */
function sides(): ((key: BlockKey) => string)[] {
  return names.map((self) => {
    const partners = new Partners(peerKey(self), 16)
    for (const name of names) if (name !== self) partners.add(peer(name))
    return (key) => partners.ownerOf(key)?.key ?? self
  })
}

function keyOf(i: number): BlockKey {
  // The end of a multihash is what differs.
  return `\u0012\u0020${String.fromCharCode(...Array.from({ length: 32 }, (_, n) => (Math.imul(i + 1, 2654435761) >>> ((n % 4) * 8)) & 255))}` as BlockKey
}

describe('partners', () => {
  it('[B7] give each block one owner, the same from every side, and each of them as many', () => {
    const all = sides()
    const counts = new Map<string, number>(names.map((name) => [name, 0]))
    for (let i = 0; i < 3000; i++) {
      const owners = new Set(all.map((ownerOf) => ownerOf(keyOf(i))))
      expect(owners.size).toBe(1)
      for (const owner of owners) counts.set(owner, (counts.get(owner) ?? 0) + 1)
    }
    // Two degrees of freedom: chance alone passes this once in a thousand times.
    expect(chiSquare([...counts.values()], [1 / 3, 1 / 3, 1 / 3])).toBeLessThan(13.82)
  })

  it('[B7] leave only the blocks of one who goes to the others, and take none from them', () => {
    const partners = new Partners(peerKey(names[0]!), 16)
    for (const name of names.slice(1)) partners.add(peer(name))
    const before = Array.from({ length: 500 }, (_, i) => partners.ownerOf(keyOf(i))?.key)
    partners.remove(peerKey(names[1]!))
    const after = Array.from({ length: 500 }, (_, i) => partners.ownerOf(keyOf(i))?.key)
    expect(before.filter((owner, i) => owner !== after[i] && owner !== names[1])).toEqual([])
    expect(after.includes(peerKey(names[1]!))).toBe(false)
  })

  it('are bounded', () => {
    const partners = new Partners(peerKey(names[0]!), 2)
    for (const name of ['X', 'Y', 'Z']) partners.add(peer(name))
    expect([partners.size, partners.has(peerKey('Z'))]).toEqual([2, false])
  })
})
