import { assert } from '@shardswap/interface'
import type { OwnerKey } from './binding.ts'
import { faded } from './formulas.ts'

/** So many owners are looked at to find one that makes room. */
const looksMax = 64

/** Who was served less than this of a request, as it fades, need not be remembered. */
const leastSum = 0.01

/** [I13] Requests served, in a window that fades. */
export class ServedSum {
  readonly #windowMs: number
  #sum = 0
  #atMs: number

  constructor(windowMs: number, nowMs: number) {
    this.#windowMs = windowMs
    this.#atMs = nowMs
  }

  at(nowMs: number): number {
    return faded(this.#sum, nowMs - this.#atMs, this.#windowMs)
  }

  add(nowMs: number, requests: number): void {
    this.#sum = this.at(nowMs) + requests
    this.#atMs = Math.max(this.#atMs, nowMs)
  }
}

/** What this server knows of an owner by its clients, and the score that it last had. */
export class Owner {
  readonly key: OwnerKey
  readonly served: ServedSum
  /** Peers that are connected and make their requests in its name. */
  peers = 0
  open = 0
  /** Times that a request of its had to wait or was refused. */
  turnedAway = 0
  weight = 1
  score = 0
  isBlacklisted = false
  /** A server of its was verified of late. */
  isProven = false
  /** The refresh at which weight and score were taken; they are older ones' while it is another. */
  refresh = -1

  constructor(key: OwnerKey, windowMs: number, nowMs: number) {
    this.key = key
    this.served = new ServedSum(windowMs, nowMs)
  }

  get isBusy(): boolean {
    return this.peers > 0 || this.open > 0
  }
}

/**
 * Owners by key, at most `ownersMax`. Of those of whom nobody is here the least served makes room among the oldest, so that
 * nobody gets rid of a weight by a flood of other owners.
 */
export class Owners {
  readonly #ownersMax: number
  readonly #windowMs: number
  readonly #byKey = new Map<OwnerKey, Owner>()

  constructor({ ownersMax, servedWindowMs }: { readonly ownersMax: number; readonly servedWindowMs: number }) {
    this.#ownersMax = ownersMax
    this.#windowMs = servedWindowMs
  }

  get size(): number {
    return this.#byKey.size
  }

  all(): Iterable<Owner> {
    return this.#byKey.values()
  }

  get(key: OwnerKey): Owner | undefined {
    return this.#byKey.get(key)
  }

  /** The owner of this key; undefined where there is no room for another. */
  open(key: OwnerKey, nowMs: number): Owner | undefined {
    const known = this.#byKey.get(key)
    if (known) return known
    if (this.#byKey.size >= this.#ownersMax && !this.#makeRoom(nowMs)) return undefined
    const owner = new Owner(key, this.#windowMs, nowMs)
    this.#byKey.set(key, owner)
    return owner
  }

  /** What to remember over a restart: owners that were served something, the most served first. */
  saved(nowMs: number): [OwnerKey, number][] {
    const served = Array.from(this.#byKey.values(), (owner): [OwnerKey, number] => [owner.key, owner.served.at(nowMs)])
    return served.filter(([, sum]) => sum >= leastSum).sort(([, one], [, other]) => other - one)
  }

  /** Takes back what `saved` gave. */
  restore(owners: readonly (readonly [OwnerKey, number])[], nowMs: number): void {
    for (const [key, sum] of owners.slice(0, this.#ownersMax)) this.open(key, nowMs)?.served.add(nowMs, sum)
  }

  /** Owners that stay go to the end, so that the next search goes on behind them. */
  #makeRoom(nowMs: number): boolean {
    let least: Owner | undefined
    for (let look = Math.min(looksMax, this.#byKey.size); look > 0; look--) {
      const [owner] = this.#byKey.values()
      assert(owner !== undefined, 'as many are looked at as there are')
      this.#byKey.delete(owner.key)
      this.#byKey.set(owner.key, owner)
      if (owner.isBusy || (least && least.served.at(nowMs) <= owner.served.at(nowMs))) continue
      least = owner
    }
    if (least) this.#byKey.delete(least.key)
    return least !== undefined
  }
}
