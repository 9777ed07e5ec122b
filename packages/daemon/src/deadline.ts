import { AbortError, TimeoutError, timerMsMax } from '@shardswap/interface'

/** A signal with a time to live, to be stopped once the work is done. */
export interface Deadline {
  readonly signal: AbortSignal
  /** Gives the call up now; the signal's reason is `reason`. */
  abort(reason?: Error): void
  /** Stops the timer and lets go of the outer signal. */
  clear(): void
}

/**
 * A signal that ends with TimeoutError after `timeoutMs`, or with the outer signal, whichever is first. 0 is no time at
 * all; whatever is longer than a timer takes, Infinity too, is the longest time that one takes.
 */
export function startDeadline(outer: AbortSignal | undefined, timeoutMs: number | undefined): Deadline {
  const controller = new AbortController()
  const passOn = (): void => controller.abort(outer?.reason ?? new AbortError())
  if (outer?.aborted === true) passOn()
  outer?.addEventListener('abort', passOn, { once: true })
  const late = (): void => controller.abort(new TimeoutError(`request timed out: no full answer within ${String(timeoutMs)} ms`))
  const timer = timeoutMs === undefined ? undefined : setTimeout(late, Math.min(timeoutMs, timerMsMax))
  return {
    signal: controller.signal,
    abort: (reason = new AbortError()) => controller.abort(reason),
    clear: () => {
      clearTimeout(timer)
      outer?.removeEventListener('abort', passOn)
    }
  }
}
