import type { Random } from '@shardswap/interface'
import { exp, ln } from './exact-math.ts'

/** Numbers thrown away after seeding, so that similar seeds give unlike streams. */
const warmUpDraws = 16

/**
 * Chris Doty-Humphrey's sfc32: 128 bits of state, of which one is a counter, so
 * no seed gives a short cycle. Additions and shifts of 32 bits only.
 */
export class SeededRandom implements Random {
  #a: number
  #b: number
  #c: number
  #counter = 1
  readonly #seed: number

  /** A whole number; and which of the streams of this seed. Streams do not depend on how much is drawn from others. */
  constructor(seed: number, stream = '') {
    this.#seed = seed
    let hash = 0x811c9dc5
    for (let i = 0; i < stream.length; i++) hash = Math.imul(hash ^ stream.charCodeAt(i), 0x01000193)
    this.#a = seed >>> 0
    this.#b = Math.floor(seed / 2 ** 32) >>> 0
    this.#c = hash >>> 0
    for (let i = 0; i < warmUpDraws; i++) this.#draw()
  }

  /** Uniform in [0, 1), 53 bits. */
  next(): number {
    const high = this.#draw() >>> 5
    return (high * 67_108_864 + (this.#draw() >>> 6)) / 9_007_199_254_740_992
  }

  /** A whole number from 0 to `below` − 1. */
  integer(below: number): number {
    return Math.floor(this.next() * below)
  }

  /** Another stream of the same seed. */
  fork(stream: string): SeededRandom {
    return new SeededRandom(this.#seed, stream)
  }

  #draw(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (this.#c << 21) | (this.#c >>> 11)
    this.#c = (this.#c + sum) | 0
    return sum >>> 0
  }
}

/** Where a number of a scenario comes from. A plain number stands for itself. */
export type Distribution =
  | number
  /** Clipped at 0. */
  | { readonly normal: { readonly mean: number; readonly deviation: number } }
  /** `sigma` is the deviation of the logarithm. */
  | { readonly logNormal: { readonly median: number; readonly sigma: number } }
  | { readonly uniform: { readonly from: number; readonly to: number } }
  /** One of several, by weight. */
  | { readonly mixture: readonly { readonly weight: number; readonly of: Distribution }[] }

export function sample(distribution: Distribution, random: Random): number {
  if (typeof distribution === 'number') return distribution
  if ('normal' in distribution) return Math.max(0, distribution.normal.mean + distribution.normal.deviation * standardNormal(random))
  if ('logNormal' in distribution) return distribution.logNormal.median * exp(distribution.logNormal.sigma * standardNormal(random))
  if ('uniform' in distribution) return distribution.uniform.from + (distribution.uniform.to - distribution.uniform.from) * random.next()
  let total = 0
  for (const part of distribution.mixture) total += part.weight
  let at = random.next() * total
  for (const part of distribution.mixture) {
    at -= part.weight
    if (at < 0) return sample(part.of, random)
  }
  return sample(distribution.mixture.at(-1)?.of ?? 0, random)
}

/** Marsaglia's polar method; the second of its two numbers is not kept, so that a draw depends on nothing before it. */
function standardNormal(random: Random): number {
  for (;;) {
    const x = 2 * random.next() - 1
    const y = 2 * random.next() - 1
    const square = x * x + y * y
    if (square < 1 && square > 0) return x * Math.sqrt((-2 * ln(square)) / square)
  }
}
