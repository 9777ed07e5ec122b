import { asError, type BlockKey, type CID, timerMsMax } from '@shardswap/interface'
import type { GetOptions } from '../types.ts'
import { offAbort, onAbort } from './abort.ts'
import type { FetchProgress } from './progress.ts'

/** One caller that waits for a block. */
export class Waiter {
  readonly session: number
  /** Waits as long as its signal or its timeout lets it; others end when nothing goes on. */
  readonly patient: boolean
  readonly onProgress: ((event: FetchProgress) => void) | undefined
  /** It takes no larger block. */
  readonly maxBytes: number
  readonly #signal: AbortSignal | undefined
  readonly #resolve: (bytes: Uint8Array) => void
  readonly #reject: (error: Error) => void
  #onAbort: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(session: number, options: GetOptions, resolve: (bytes: Uint8Array) => void, reject: (error: Error) => void) {
    const { signal, timeoutMs, onProgress, patient, maxBytes } = options
    this.session = session
    this.patient = patient ?? (signal !== undefined || timeoutMs !== undefined)
    this.onProgress = onProgress
    this.maxBytes = maxBytes ?? Infinity
    this.#signal = signal
    this.#resolve = resolve
    this.#reject = reject
  }

  /** Calls back when its signal fires. */
  watchSignal(callback: (signal: AbortSignal) => void): void {
    const signal = this.#signal
    if (signal === undefined) return
    this.#onAbort = () => callback(signal)
    onAbort(signal, this.#onAbort)
  }

  /** Calls back after so many milliseconds. */
  watchTime(delayMs: number, callback: () => void): void {
    this.#timer = setTimeout(callback, Math.min(Math.max(delayMs, 0), timerMsMax))
  }

  resolve(bytes: Uint8Array): void {
    this.#unwatch()
    this.#resolve(bytes)
  }

  reject(error: unknown): void {
    this.#unwatch()
    this.#reject(asError(error))
  }

  #unwatch(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    if (this.#signal !== undefined && this.#onAbort !== undefined) offAbort(this.#signal, this.#onAbort)
  }
}

/**
 * A block that somebody waits for, and how far it is: looked for in the store,
 * wanted from peers, or here and being stored. All callers of one block share it;
 * most have one, so only further ones take a set.
 */
export class Entry {
  readonly cid: CID
  readonly key: BlockKey
  state: 'looking' | 'wanted' | 'storing' = 'looking'
  #only: Waiter | undefined
  #several: Set<Waiter> | undefined

  constructor(cid: CID, key: BlockKey) {
    this.cid = cid
    this.key = key
  }

  get isDeserted(): boolean {
    return this.#only === undefined && (this.#several === undefined || this.#several.size === 0)
  }

  add(waiter: Waiter): void {
    if (this.isDeserted) this.#only = waiter
    else {
      this.#several ??= new Set()
      if (this.#only !== undefined) this.#several.add(this.#only)
      this.#only = undefined
      this.#several.add(waiter)
    }
  }

  /** False where the waiter has left already. */
  remove(waiter: Waiter): boolean {
    if (this.#only !== waiter) return this.#several?.delete(waiter) === true
    this.#only = undefined
    return true
  }

  /** Those who wait, in the order in which they came; who comes or leaves meanwhile changes nothing of it. */
  waiters(): readonly Waiter[] {
    if (this.#only !== undefined) return [this.#only]
    return this.#several === undefined ? [] : Array.from(this.#several)
  }

  has(session: number): boolean {
    if (this.#only !== undefined) return this.#only.session === session
    for (const waiter of this.#several ?? []) if (waiter.session === session) return true
    return false
  }
}
