/** Holds the newest note of progress; an older one that nobody took is lost, so a slow reader costs nothing. */
export class ProgressSlot {
  #note: object | undefined
  #wake: (() => void) | undefined

  set(note: object): void {
    this.#note = note
    this.#wake?.()
  }

  take(): object | undefined {
    const note = this.#note
    this.#note = undefined
    return note
  }

  /** Resolves at the next note, at once where one waits. */
  async changed(): Promise<void> {
    if (this.#note !== undefined) return
    await new Promise<void>((resolve) => (this.#wake = resolve))
  }
}

/** Notes of progress between the lines, for as long as there are lines to come. */
export async function* withProgress(lines: AsyncIterable<object>, progress: ProgressSlot): AsyncGenerator<object> {
  const iterator = lines[Symbol.asyncIterator]()
  try {
    let next = iterator.next()
    for (;;) {
      const line = await Promise.race([next, progress.changed()])
      const note = progress.take()
      if (note !== undefined) yield note
      if (line === undefined) continue
      if (line.done === true) return
      yield line.value
      next = iterator.next()
    }
  } finally {
    await iterator.return?.()
  }
}
