import { createHash } from 'node:crypto'
import type { Fetched, JobOptions } from './peer-api.ts'

interface Waiter {
  readonly bytes: number
  resolve(reached: boolean): void
}

interface Job {
  readonly abort: AbortController
  readonly waiters: Set<Waiter>
  /** Resolved by `goOn`, and by the abort, which nothing may outlast. */
  readonly going: PromiseWithResolvers<void>
  bytes: number
  running: number
}

/** The fetches that run in a peer's process, by the names that the test gave them. */
export class Jobs {
  readonly #jobs = new Map<string, Job>()
  #unnamed = 0

  /** Reads to the end; counts, hashes and times what comes. */
  async run(
    { job: name, timeoutMs }: JobOptions,
    read: (signal: AbortSignal, going: Promise<void>) => AsyncIterable<Uint8Array>
  ): Promise<Fetched> {
    const key = name ?? `unnamed ${++this.#unnamed}`
    const job = this.#open(key)
    const signal = timeoutMs === undefined ? job.abort.signal : AbortSignal.any([job.abort.signal, AbortSignal.timeout(timeoutMs)])
    const hash = createHash('sha256')
    const startMs = performance.now()
    let bytes = 0
    let blocks = 0
    try {
      for await (const part of read(signal, job.going.promise)) {
        hash.update(part)
        bytes += part.byteLength
        blocks += 1
        job.bytes += part.byteLength
        for (const waiter of job.waiters) if (job.bytes >= waiter.bytes) this.#settle(job, waiter, true)
      }
    } finally {
      this.#close(key, job)
    }
    return { bytes, blocks, sha256: hash.digest('hex'), seconds: (performance.now() - startMs) / 1000 }
  }

  async reached(name: string, bytes: number): Promise<boolean> {
    const job = this.#jobs.get(name)
    if (job === undefined) return false
    if (job.bytes >= bytes) return true
    return await new Promise((resolve) => job.waiters.add({ bytes, resolve }))
  }

  abort(name: string): void {
    this.#jobs.get(name)?.abort.abort()
    this.goOn(name)
  }

  goOn(name: string): void {
    this.#jobs.get(name)?.going.resolve()
  }

  #open(key: string): Job {
    const job = this.#jobs.get(key) ?? {
      abort: new AbortController(),
      waiters: new Set(),
      going: Promise.withResolvers(),
      bytes: 0,
      running: 0
    }
    job.running += 1
    this.#jobs.set(key, job)
    return job
  }

  #close(key: string, job: Job): void {
    job.running -= 1
    if (job.running > 0) return
    this.#jobs.delete(key)
    for (const waiter of job.waiters) this.#settle(job, waiter, false)
  }

  #settle(job: Job, waiter: Waiter, reached: boolean): void {
    job.waiters.delete(waiter)
    waiter.resolve(reached)
  }
}
