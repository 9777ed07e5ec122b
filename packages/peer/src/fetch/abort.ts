import { AbortError, TimeoutError } from '@shardswap/interface'

const callbacks = new WeakMap<AbortSignal, Set<() => void>>()
const listeners = new WeakMap<AbortSignal, () => void>()

/**
 * Calls back once when `signal` aborts, until the returned function is called.
 * However many calls wait on one signal, it carries one listener, and none when
 * nobody waits: a signal shared by thousands of gets neither leaks nor warns.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  let set = callbacks.get(signal)
  if (set === undefined) {
    const waiting = new Set<() => void>()
    const listener = (): void => {
      for (const each of waiting) {
        waiting.delete(each)
        each()
      }
      // A signal that has fired may live on: it must not keep those who waited.
      callbacks.delete(signal)
      listeners.delete(signal)
    }
    set = waiting
    callbacks.set(signal, waiting)
    listeners.set(signal, listener)
    signal.addEventListener('abort', listener, { once: true })
  }
  set.add(callback)
  return () => offAbort(signal, callback)
}

/** Takes back what was given to `onAbort`. */
export function offAbort(signal: AbortSignal, callback: () => void): void {
  const set = callbacks.get(signal)
  if (set === undefined || !set.delete(callback) || set.size > 0) return
  callbacks.delete(signal)
  const listener = listeners.get(signal)
  listeners.delete(signal)
  if (listener !== undefined) signal.removeEventListener('abort', listener)
}

/** An abort as callers see it: TimeoutError where the signal was a timeout's, else AbortError. */
export function abortError(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason
  if (reason instanceof Error && reason.name === 'TimeoutError') return new TimeoutError('the operation timed out', { cause: reason })
  return new AbortError('The operation was aborted', { cause: reason })
}
