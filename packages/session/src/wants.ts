import { type BlockKey, Heap } from '@shardswap/interface'
import { heapKeyOf, type Want, type WantState } from './want.ts'

/** All wants of a session, by their phases: the only place that changes a phase, and what goes with it. */
export class Wants {
  readonly #byKey = new Map<BlockKey, Want>()
  #ready = new Heap<Want>()
  /** Ready wants that somebody said HAVE for: they may go out where others have no space. */
  readonly promised = new Set<Want>()
  readonly exhausted = new Set<Want>()
  readonly #asked = new Set<Want>()

  get size(): number {
    return this.#byKey.size
  }

  /** Wants in phase `asked`. */
  get asking(): number {
    return this.#asked.size
  }

  get(key: BlockKey): Want | undefined {
    return this.#byKey.get(key)
  }

  keys(): Iterable<BlockKey> {
    return this.#byKey.keys()
  }

  get oldest(): Want | undefined {
    for (const want of this) return want
    return undefined
  }

  /** In the order in which they came. */
  [Symbol.iterator](): IterableIterator<Want> {
    return this.#byKey.values()
  }

  add(want: Want): void {
    this.#byKey.set(want.block.key, want)
    if (want.block.inFlight === 0) this.setReady(want)
  }

  remove(want: Want): void {
    this.#leave(want)
    this.#byKey.delete(want.block.key)
    // What is left in the heap is stale.
    if (this.#byKey.size === 0) this.#ready = new Heap<Want>()
  }

  /** The ready want with the greatest potential, the oldest among equals (B8). */
  top(): Want | undefined {
    for (;;) {
      const want = this.#ready.top
      if (want === undefined) return undefined
      if (want.state.phase === 'ready' && want.state.heapKey === this.#ready.topKey && this.#byKey.get(want.block.key) === want) {
        if (heapKeyOf(want) === want.state.heapKey) return want
        this.setReady(want)
      }
      this.#ready.pop()
    }
  }

  setReady(want: Want): void {
    const heapKey = heapKeyOf(want)
    if (want.state.phase !== 'ready' || want.state.heapKey !== heapKey) {
      this.move(want, { phase: 'ready', heapKey })
      this.#ready.push(heapKey, want)
    }
    if (isPromised(want)) this.promised.add(want)
  }

  /** Others may be asked about those that nobody had. */
  wakeExhausted(): void {
    for (const want of this.exhausted) this.setReady(want)
  }

  /** Somebody is awake again who may have what nobody had, or what others are asked about: all of it may be sent, in its order. */
  wake(): void {
    for (const want of [...this.exhausted, ...this.#asked]) {
      want.deferred = false
      this.setReady(want)
    }
  }

  move(want: Want, next: WantState): void {
    this.#leave(want)
    want.state = next
    if (next.phase === 'blocked') for (const candidate of next.at) candidate.blocked.add(want)
    else if (next.phase === 'exhausted') this.exhausted.add(want)
    else if (next.phase === 'asked') this.#asked.add(want)
  }

  /** Wants for which nothing went on for so long, with the time that it was. */
  quiet(lastProgressMs: number, giveUpMs: number, nowMs: number): { readonly want: Want; readonly quietMs: number }[] {
    const quiet: { readonly want: Want; readonly quietMs: number }[] = []
    if (nowMs - lastProgressMs < giveUpMs) return quiet
    for (const want of this) {
      let sinceMs = Math.max(want.quietSinceMs, lastProgressMs)
      for (const { phase, peer } of want.block.stances.values()) {
        if (phase === 'in-flight') sinceMs = Math.max(sinceMs, peer.lastBytesAtMs)
      }
      if (nowMs - sinceMs < giveUpMs) continue
      quiet.push({ want, quietMs: nowMs - sinceMs })
      // Whoever is patient waits on, and hears of it again after as long.
      want.quietSinceMs = nowMs
    }
    return quiet
  }

  #leave(want: Want): void {
    const { state } = want
    this.promised.delete(want)
    if (state.phase === 'blocked') for (const candidate of state.at) candidate.blocked.delete(want)
    else if (state.phase === 'exhausted') this.exhausted.delete(want)
    else if (state.phase === 'asked') this.#asked.delete(want)
  }
}

/** Whether somebody said HAVE for it, and was not asked for it since. */
export function isPromised(want: Want): boolean {
  if (want.block.stances.size === 0) return false
  for (const { phase } of want.block.stances.values()) if (phase === 'have') return true
  return false
}
