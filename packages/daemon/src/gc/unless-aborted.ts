import { AbortError } from '@shardswap/interface'

/** What the promise comes to, unless the signal ends first; the promise goes on then. Errors: the promise's; AbortError, and the signal's own reason. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  signal?.throwIfAborted()
  const given = Promise.withResolvers<never>()
  const giveUp = (): void => given.reject(signal?.reason instanceof Error ? signal.reason : new AbortError())
  signal?.addEventListener('abort', giveUp, { once: true })
  try {
    return await Promise.race([promise, given.promise])
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
}
