/** Calls of the RPC, counted. Only commands that there are have a name here, so the names are few. */
export class CallCounts {
  /** Calls that are being answered. */
  open = 0
  readonly #calls = new Map<string, number>()
  readonly #failures = { caller: 0, node: 0 }

  /** A call begins; what is given back ends it. */
  begin(command: string): () => void {
    this.#calls.set(command, (this.#calls.get(command) ?? 0) + 1)
    this.open += 1
    let isOpen = true
    return () => {
      if (isOpen) this.open -= 1
      isOpen = false
    }
  }

  /** A call failed, by the caller's mistake or not. */
  failed(isCallersMistake: boolean): void {
    this.#failures[isCallersMistake ? 'caller' : 'node'] += 1
  }

  get calls(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#calls)
  }

  get failures(): Readonly<Record<'caller' | 'node', number>> {
    return { ...this.#failures }
  }
}
