import type { ExchangeCore, WantEntry } from '@shardswap/broker'
import { type BlockKey, type PeerKey, peerKey } from '@shardswap/interface'
import type { Random } from '../random.ts'
import { chance, numberOf } from './setting.ts'

interface Due {
  readonly atMs: number
  readonly key: BlockKey
  readonly type: 'want-block' | 'want-have'
}

/** What an honest peer's answers need of the run. */
export interface Answering {
  readonly core: ExchangeCore
  readonly blockBytes: number
  readonly ended: (key: BlockKey) => void
}

/** A presence on the wire, about. */
const presenceBytes = 60

/** A peer that answers whatever it is asked after a fixed time, and has some of the blocks, or all. */
export class Honest {
  readonly key: PeerKey
  readonly supportsHave: boolean
  readonly #delayMs: number
  readonly #every: number
  readonly #offset: number
  #due: Due[] = []

  /** `of`: how many honest peers there are; together they have every block. */
  constructor(index: number, of: number, random: Random) {
    this.key = peerKey(`honest${index}`)
    this.supportsHave = !chance(random, 30)
    this.#delayMs = 1 + random.below(40)
    this.#every = chance(random, 50) ? 1 : of
    this.#offset = index
  }

  has(key: BlockKey): boolean {
    return numberOf(key) % this.#every === this.#offset % this.#every
  }

  get dueMs(): number {
    return Math.min(...this.#due.map(({ atMs }) => atMs), Number.POSITIVE_INFINITY)
  }

  receive(entry: WantEntry, nowMs: number): void {
    if (entry.type === 'cancel') this.#due = this.#due.filter(({ key }) => key !== entry.key)
    else this.#due.push({ atMs: nowMs + this.#delayMs, key: entry.key, type: entry.type })
  }

  /** The connection ended: it owes nothing. */
  forget(): void {
    this.#due = []
  }

  /** Sends what is due. Returns how a block was received that must not have been, or undefined. */
  answer({ core, blockBytes, ended }: Answering, nowMs: number): string | undefined {
    const due = this.#due.filter(({ atMs }) => atMs <= nowMs)
    this.#due = this.#due.filter(({ atMs }) => atMs > nowMs)
    for (const { key, type } of due) {
      if (this.has(key) && type === 'want-block') {
        core.receiveBytes(this.key, blockBytes, nowMs)
        const { kind } = core.receiveBlock(this.key, key, blockBytes, nowMs)
        if (kind === 'unasked') return `${this.key}: block ${numberOf(key)} counts as unasked`
        if (kind === 'wanted') ended(key)
      } else if (this.supportsHave) {
        // An older protocol has no word for what is not there.
        core.receiveBytes(this.key, presenceBytes, nowMs)
        core.receiveTalk(this.key, presenceBytes)
        core.receivePresence(this.key, key, this.has(key) ? 'have' : 'dont-have', nowMs)
      }
    }
    return undefined
  }
}
