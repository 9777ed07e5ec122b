import type { BlockKey, Random } from '@shardswap/interface'

const wordsPerSlot = 4
const slotsMin = 64
/** Share of the slots that may be taken: with linear probing a look-up takes some three steps then. */
const loadMax = 0.75

/**
 * A set of block keys that holds 128 bits of each, not the key: some 21 to 43
 * bytes a key, and as much again for the moment in which it grows. What it holds
 * depends on a seed that nobody else knows, so nobody can make two keys that
 * look alike, and by chance they do not. Keys cannot be listed or taken out.
 */
export class KeySet {
  readonly #seeds: readonly [number, number, number, number]
  readonly #found = new Uint32Array(wordsPerSlot)
  #slots: Uint32Array
  #size = 0

  /** `random` is drawn four times. */
  constructor(random: Random) {
    const seed = (): number => Math.floor(random.next() * 2 ** 32)
    this.#seeds = [seed(), seed(), seed(), seed()]
    this.#slots = new Uint32Array(0)
  }

  get size(): number {
    return this.#size
  }

  /** Bytes that the set takes. */
  get bytes(): number {
    return this.#slots.byteLength
  }

  has(key: BlockKey, tag = 0): boolean {
    if (this.#size === 0) return false
    this.#digest(key, tag)
    return this.#slots[this.#slotOf(this.#slots)] !== 0
  }

  /** Adds a key under a tag, a whole number that tells equal keys apart. Returns whether it is new. */
  add(key: BlockKey, tag = 0): boolean {
    if (this.#size + 1 > (this.#slots.length / wordsPerSlot) * loadMax) this.#grow()
    this.#digest(key, tag)
    const at = this.#slotOf(this.#slots)
    if (this.#slots[at] !== 0) return false
    this.#slots.set(this.#found, at)
    this.#size += 1
    return true
  }

  /** Where what `#found` holds stands, or the free slot where it would. */
  #slotOf(slots: Uint32Array): number {
    // Taken out one by one: destructuring would go through an iterator, which costs more than all else here.
    const a = this.#found[0]
    const b = this.#found[1]
    const c = this.#found[2]
    const d = this.#found[3]
    const mask = slots.length / wordsPerSlot - 1
    for (let slot = (b as number) & mask; ; slot = (slot + 1) & mask) {
      const at = slot * wordsPerSlot
      const first = slots[at]
      if (first === 0) return at
      if (first === a && slots[at + 1] === b && slots[at + 2] === c && slots[at + 3] === d) return at
    }
  }

  #grow(): void {
    const before = this.#slots
    const after = new Uint32Array(Math.max(slotsMin * wordsPerSlot, before.length * 2))
    for (let at = 0; at < before.length; at += wordsPerSlot) {
      if (before[at] === 0) continue
      this.#found.set(before.subarray(at, at + wordsPerSlot))
      after.set(this.#found, this.#slotOf(after))
    }
    this.#slots = after
  }

  /** Four independent mixes of the key's bytes, four bytes at a time (the steps of MurmurHash3, Appleby 2011). */
  #digest(key: BlockKey, tag: number): void {
    const found = this.#found
    for (let lane = 0; lane < wordsPerSlot; lane++) {
      let hash = mixed(this.#seeds[lane] as number, tag + lane)
      for (let at = 0; at < key.length; at += 4) {
        // Beyond the end the code is NaN, which counts as 0 here; the length goes in at the end.
        const word = key.charCodeAt(at) | (key.charCodeAt(at + 1) << 8) | (key.charCodeAt(at + 2) << 16) | (key.charCodeAt(at + 3) << 24)
        hash = mixed(hash, word)
      }
      found[lane] = finished(hash ^ key.length)
    }
    // A first word of 0 means a free slot.
    if (found[0] === 0) found[0] = 1
  }
}

function mixed(hash: number, word: number): number {
  let scrambled = Math.imul(word, 0xcc9e2d51)
  scrambled = Math.imul((scrambled << 15) | (scrambled >>> 17), 0x1b873593)
  const turned = hash ^ scrambled
  return (Math.imul((turned << 13) | (turned >>> 19), 5) + 0xe6546b64) | 0
}

function finished(hash: number): number {
  let last = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  last = Math.imul(last ^ (last >>> 13), 0xc2b2ae35)
  return (last ^ (last >>> 16)) >>> 0
}
