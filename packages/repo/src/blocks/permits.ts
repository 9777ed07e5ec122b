/**
 * Lets a bounded number of tasks run at once; the others wait their turn.
 * A task that waits costs its caller's memory only: it has opened nothing yet.
 */
export class Permits {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(atOnceMax: number) {
    this.#free = atOnceMax
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1
    else {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve)
      })
    }
    try {
      return await task()
    } finally {
      const next = this.#waiting.shift()
      // The permit passes on as it is, so that nobody slips in between.
      if (next === undefined) this.#free += 1
      else next()
    }
  }
}
