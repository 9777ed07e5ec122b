import { AbortError } from '@shardswap/interface'

/** Lets one at a time in, in the order asked. */
export class Turn {
  #last: Promise<void> = Promise.resolve()

  /** Resolves to what ends the turn, once all earlier turns have ended. Errors: AbortError, and the signal's own reason. */
  async take(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    const before = this.#last
    const ended = Promise.withResolvers<void>()
    this.#last = before.then(async () => await ended.promise)
    const given = Promise.withResolvers<void>()
    const giveUp = (): void => given.reject(signal?.reason instanceof Error ? signal.reason : new AbortError())
    signal?.addEventListener('abort', giveUp, { once: true })
    try {
      await Promise.race([before, given.promise])
      return ended.resolve
    } catch (error) {
      ended.resolve()
      throw error
    } finally {
      signal?.removeEventListener('abort', giveUp)
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
