/** What recursive pins lead to. Nothing of it is stored, so each question is a walk over blocks that are here. */
import { isIdentity } from '@shardswap/hashes'
import { blockKey, CID, readBlock } from '@shardswap/interface'
import type { SizedBlockstore } from '@shardswap/repo'
import type { PinEntry } from '../api/pins.ts'
import { KeySet } from '../gc/key-set.ts'
import { hasLinks, linkedCids, tagOf } from '../gc/links.ts'
import { unforeseen } from '../gc/unforeseen.ts'
import type { Pin, PinStore } from './pin-store.ts'

export class IndirectPins {
  readonly #pins: PinStore
  readonly #blocks: SizedBlockstore

  constructor(pins: PinStore, blocks: SizedBlockstore) {
    this.#pins = pins
    this.#blocks = blocks
  }

  /** Every CID below a recursive pin that has no pin of its own, each once. Errors: NotFoundError where a block is missing. */
  async *all(signal: AbortSignal | undefined): AsyncGenerator<PinEntry> {
    for await (const { cid } of this.#below(signal)) {
      if ((await this.#pins.get(cid)) === undefined) yield { cid, type: 'indirect' }
    }
  }

  /** A recursive pin that leads to a CID, or undefined. Errors: NotFoundError where a block is missing. */
  async via(wanted: CID, signal: AbortSignal | undefined): Promise<CID | undefined> {
    for await (const { cid, root } of this.#below(signal)) if (cid.equals(wanted)) return root
    return undefined
  }

  /** Each CID below recursive pins once, with the first pin that led to it; CIDs of one block that differ are told apart. */
  async *#below(signal: AbortSignal | undefined): AsyncGenerator<{ cid: CID; root: CID }> {
    const met = new KeySet(unforeseen)
    const walked = new KeySet(unforeseen)
    for await (const pin of this.#pins.all()) {
      if (pin.isRecursive) yield* this.#belowOne(pin, met, walked, signal)
    }
  }

  async *#belowOne(
    { cid: root }: Pin,
    met: KeySet,
    walked: KeySet,
    signal: AbortSignal | undefined
  ): AsyncGenerator<{ cid: CID; root: CID }> {
    const waiting: CID[] = [root]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (!hasLinks(next) || !walked.add(blockKey(next), tagOf(next))) continue
      signal?.throwIfAborted()
      const bytes = isIdentity(next) ? next.multihash.digest : await readBlock(this.#blocks, next, { signal })
      for (const cid of linkedCids(next, bytes)) {
        // Version and codec, beside the multihash that the key is.
        if (!met.add(blockKey(cid), cid.version + 2 * cid.code)) continue
        waiting.push(cid)
        yield { cid, root }
      }
    }
  }
}
