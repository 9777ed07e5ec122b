import { unlessAborted } from './unless-aborted.ts'

/** Lets one at a time in, in the order asked. */
export class Turn {
  #last: Promise<void> = Promise.resolve()

  /** Resolves to what ends the turn, once all earlier turns have ended. Errors: AbortError, and the signal's own reason. */
  async take(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    const before = this.#last
    const ended = Promise.withResolvers<void>()
    this.#last = before.then(async () => await ended.promise)
    try {
      await unlessAborted(before, signal)
      return ended.resolve
    } catch (error) {
      ended.resolve()
      throw error
    }
  }

  /** Runs a task in a turn of its own. */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const done = await this.take(signal)
    try {
      return await task()
    } finally {
      done()
    }
  }
}
