import { onAbort } from '../fetch/abort.ts'

/** So many at a time; the others wait in the order in which they came, or until they are given up. */
export class Turns {
  readonly #waiting = new Set<() => void>()
  #free: number

  constructor(atOnceMax: number) {
    this.#free = atOnceMax
  }

  /** Resolves to what ends the turn. Errors: the signal's reason. */
  async take(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#free > 0) this.#free--
    else await this.#wait(signal)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#next()
    }
  }

  async #wait(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#waiting.add(resolve)
    const offAbort = signal === undefined ? undefined : onAbort(signal, () => reject(signal.reason))
    try {
      await promise
    } finally {
      offAbort?.()
      this.#waiting.delete(resolve)
    }
  }

  #next(): void {
    const [first] = this.#waiting
    if (first === undefined) {
      this.#free++
      return
    }
    this.#waiting.delete(first)
    first()
  }
}
