/**
 * Lets one task at a time run for a key, in the order asked. What it holds is
 * bounded by the tasks under way: a key with none is forgotten.
 */
export class KeyTurns<Key> {
  readonly #last = new Map<Key, Promise<unknown>>()

  /** Runs `task` once every earlier one of `key` has ended, however it ended. */
  async run<T>(key: Key, task: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key)
    const mine = before === undefined ? task() : before.then(task, task)
    this.#last.set(key, mine)
    try {
      return await mine
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key)
    }
  }
}
