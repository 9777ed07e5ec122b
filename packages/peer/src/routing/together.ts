/** Several sources as one, in the order in which their items come. */
import { onAbort } from '../fetch/abort.ts'

/** What a source gives until the signal fires; then throws its reason, whether the source hears of it or not. */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const offAbort = onAbort(signal, () => reject(signal.reason))
  aborted.catch(() => undefined)
  try {
    for (;;) {
      signal.throwIfAborted()
      const result = await Promise.race([iterator.next(), aborted])
      if (result.done === true) return
      yield result.value
    }
  } finally {
    offAbort()
    // It is told, and not waited for: a generator that is stuck would never say that it has ended.
    const ended = Promise.resolve(iterator.return?.())
    ended.catch(() => undefined)
  }
}

/** What a promise gives, unless the signal fires first; then rejects with its reason, whether the promise hears of it or not. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const offAbort = onAbort(signal, () => reject(signal.reason))
  promise.catch(() => undefined)
  try {
    signal.throwIfAborted()
    return await Promise.race([promise, aborted])
  } finally {
    offAbort()
  }
}

interface Pull<T> {
  readonly source: AsyncIterator<T>
  readonly result?: IteratorResult<T>
  readonly error?: unknown
}

async function pullFrom<T>(source: AsyncIterator<T>): Promise<Pull<T>> {
  try {
    return { source, result: await source.next() }
  } catch (error) {
    return { source, error }
  }
}

/**
 * All that the sources give, each asked for one item ahead. A source that fails is
 * reported to `onFailure` and left out; ends when all have ended. Sources must end
 * by themselves once nobody reads any more, as those of `untilAborted` do.
 */
export async function* together<T>(
  sources: readonly AsyncIterable<T>[],
  onFailure: (at: number, error: unknown) => void
): AsyncGenerator<T> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]())
  const pulls = new Map(iterators.map((iterator) => [iterator, pullFrom(iterator)]))
  try {
    while (pulls.size > 0) {
      const { source, result, error } = await Promise.race(pulls.values())
      if (result === undefined) onFailure(iterators.indexOf(source), error)
      // Taken out and put at the end, so that one which always has something keeps no other from its turn.
      pulls.delete(source)
      if (result === undefined || result.done === true) continue
      pulls.set(source, pullFrom(source))
      yield result.value
    }
  } finally {
    for (const iterator of pulls.keys()) void Promise.resolve(iterator.return?.()).catch(() => undefined)
  }
}
