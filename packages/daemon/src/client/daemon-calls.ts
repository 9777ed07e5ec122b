import type { AbortOptions } from '@shardswap/interface'
import type { HostPort } from '../address.ts'
import type { FetchOptions } from '../node.ts'
import { body, call, json, lines, type Params } from './http.ts'
import type { Upload } from './multipart.ts'

/** The three forms of a daemon's answers: a document, lines, bytes. */
export class DaemonCalls {
  readonly #daemon: HostPort

  constructor(daemon: HostPort) {
    this.#daemon = daemon
  }

  async json<T>(command: string, params: Params, { signal }: AbortOptions, upload?: Upload): Promise<T> {
    return await json<T>(await call(this.#daemon, command, params, { signal, ...(upload === undefined ? {} : { upload }) }))
  }

  async *lines<T>(command: string, params: Params, options: AbortOptions, upload?: Upload): AsyncGenerator<T> {
    const { signal } = options
    yield* lines<T>(await call(this.#daemon, command, params, { signal, ...(upload === undefined ? {} : { upload }) }), options)
  }

  async *bytes(command: string, params: Params, options: AbortOptions): AsyncGenerator<Uint8Array> {
    yield* body(await call(this.#daemon, command, params, { signal: options.signal }), options)
  }
}

/** How a call looks for blocks, in the daemon's words. */
export function fetchParams({ offline, patient }: FetchOptions): Params {
  return { offline, patient }
}
