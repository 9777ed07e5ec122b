import { assert } from '@shardswap/interface'
import type { ServeLimits } from './limits.ts'
import type { Envelope } from './want.ts'

/** Whose blocks: those of peers that read slowly, or the others'. */
export type Pool = 'fast' | 'slow'

/** The part of the memory that peers that read slowly share, whoever they are. */
const slowShare = 1 / 4
/** An envelope gets so much of what is left, so that some is always left. */
const envelopeShare = 1 / 8
/** What is read ahead leaves so much alone. */
const aheadShare = 1 / 2

/**
 * Bytes of blocks in memory, read or about to be, and not yet written. All together are never more than `responseBytesMax`.
 * A quarter of it is for peers that read slowly, the rest for the others: so neither waits for the other.
 */
export class ResponseMemory {
  readonly #bytesMax: number
  readonly #used: Record<Pool, number> = { fast: 0, slow: 0 }

  constructor({ responseBytesMax }: Pick<ServeLimits, 'responseBytesMax'>) {
    this.#bytesMax = responseBytesMax
  }

  get bytes(): number {
    return this.#used.fast + this.#used.slow
  }

  /** Bytes that a pool may not have for long: what moved there when its peers turned out to be slow. */
  get slowExcessBytes(): number {
    return Math.max(0, this.#used.slow - this.#bytesMax * slowShare)
  }

  /** Bytes that may be read for one more envelope; `isAhead`: behind another one of the same peer. */
  roomBytes(pool: Pool, isAhead: boolean): number {
    const poolBytes = this.#bytesMax * (pool === 'slow' ? slowShare : 1 - slowShare) * (isAhead ? aheadShare : 1)
    return Math.min(poolBytes - this.#used[pool], this.#bytesMax - this.bytes)
  }

  /** What of `roomBytes` one envelope should have at most, unless its first block is larger. */
  shareOf(roomBytes: number): number {
    return Math.floor(roomBytes * envelopeShare)
  }

  take(pool: Pool, bytes: number): void {
    this.#used[pool] += bytes
    assert(this.bytes <= this.#bytesMax, 'no more is in memory than responseBytesMax')
  }

  give(pool: Pool, bytes: number): void {
    this.#used[pool] -= bytes
    assert(this.#used[pool] >= 0, 'no more is released than was read')
  }

  /** The envelope's peer turned out to be slow. */
  slow(envelope: Envelope): void {
    if (envelope.pool === 'slow') return
    this.give('fast', envelope.bytes)
    envelope.pool = 'slow'
    this.take('slow', envelope.bytes)
  }
}
