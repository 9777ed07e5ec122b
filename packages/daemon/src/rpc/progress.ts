/** Holds the newest note of progress; an older one that nobody took is lost, so a slow reader costs nothing. */
export class ProgressSlot {
  #note: object | undefined
  #isWoken = false
  #wake: (() => void) | undefined

  set(note: object): void {
    this.#note = note
    this.wake()
  }

  take(): object | undefined {
    const note = this.#note
    this.#note = undefined
    return note
  }

  /** Ends the wait of `changed`, without a note. */
  wake(): void {
    this.#isWoken = true
    this.#wake?.()
  }

  /** Resolves once there was a note or a wake since it last did. */
  async changed(): Promise<void> {
    if (!this.#isWoken) await new Promise<void>((resolve) => (this.#wake = resolve))
    this.#isWoken = false
    this.#wake = undefined
  }
}

/** Notes of progress between the lines, for as long as there are lines to come. */
export async function* withProgress(lines: AsyncIterable<object>, progress: ProgressSlot): AsyncGenerator<object> {
  const iterator = lines[Symbol.asyncIterator]()
  let settled: (() => IteratorResult<object>) | undefined
  // Each line is waited for once: a race for each note would keep something of every note until the line comes.
  const ask = (): void => {
    settled = undefined
    const settle = (result: () => IteratorResult<object>): void => {
      settled = result
      progress.wake()
    }
    iterator.next().then(
      (line) => settle(() => line),
      (error: unknown) =>
        settle(() => {
          throw error
        })
    )
  }
  ask()
  try {
    for (;;) {
      await progress.changed()
      const note = progress.take()
      if (note !== undefined) yield note
      const line = settled?.()
      if (line === undefined) continue
      if (line.done === true) return
      yield line.value
      ask()
    }
  } finally {
    await iterator.return?.()
  }
}
