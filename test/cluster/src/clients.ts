import { WantCount, type WantsSeen } from './want-count.ts'
import type { DecodedMessage, WantlistEntry } from '@shardswap/protocol'

/** A want-block that waits for its turn. */
interface Due {
  readonly key: string
  readonly entry: WantlistEntry
}

/** One client of a witness: the counts of its wants, and those to be answered, in order. */
export class Client {
  readonly peer: string
  readonly due: Due[] = []
  readonly #groupOf: (key: string) => string | undefined
  readonly #all = new WantCount()
  readonly #groups = new Map<string, WantCount>()

  constructor(peer: string, groupOf: (key: string) => string | undefined) {
    this.peer = peer
    this.#groupOf = groupOf
  }

  /** Counts a message's entries; gives the new want-haves, and queues the new want-blocks. */
  take({ full, entries }: DecodedMessage): Due[] {
    const named = entries.map((entry) => ({ key: keyOf(entry), entry }))
    if (full) {
      const keys = new Set(named.map(({ key }) => key))
      for (const count of [this.#all, ...this.#groups.values()]) count.restate(keys)
    }
    const haves: Due[] = []
    for (const due of named) {
      const { key, entry } = due
      this.#group(key)?.take(key, entry, full)
      if (!this.#all.take(key, entry, full)) continue
      if (entry.wantType === 'have') haves.push(due)
      else this.due.push(due)
    }
    return haves
  }

  stands(key: string): boolean {
    return this.#all.stands(key)
  }

  answer(key: string, answer: 'block' | 'have' | 'dont-have'): void {
    this.#all.answer(key, answer)
    this.#group(key)?.answer(key, answer)
  }

  seen(group?: string): WantsSeen {
    return (group === undefined ? this.#all : (this.#groups.get(group) ?? new WantCount())).seen()
  }

  #group(key: string): WantCount | undefined {
    const name = this.#groupOf(key)
    if (name === undefined) return undefined
    const group = this.#groups.get(name) ?? new WantCount()
    this.#groups.set(name, group)
    return group
  }
}

function keyOf({ cid }: WantlistEntry): string {
  return Buffer.from(cid.multihash.bytes).toString('hex')
}
