import type { IncomingMessage } from 'node:http'
import type { LocalNode } from '../local/local-node.ts'
import type { FetchOptions } from '../node.ts'
import type { Gathering } from './gathering.ts'
import type { Query } from './query.ts'
import type { Reply } from './reply.ts'

/** One request. */
export interface Call {
  readonly node: LocalNode
  readonly query: Query
  readonly request: IncomingMessage
  /** Ends when the client closes, the `timeout` option passes or the daemon stops. */
  readonly signal: AbortSignal
  /** How many bytes it may read ahead of its client. */
  readAheadBytesMax(): number
  /** Takes the blocks that come with calls. */
  readonly gathering: Gathering
  /** Where the node's repo is. */
  readonly repoPath: string
  /** Asks the daemon to stop. */
  shutdown(): void
}

type Handler = (call: Call) => Reply | Promise<Reply>
export type Handlers = Readonly<Record<string, Handler>>

/** How a call looks for blocks. One with a timeout waits for all of it. */
export function fetchOptions(call: Call): FetchOptions {
  const { query, signal } = call
  const patient = query.flag('patient') ?? query.timeoutMs() !== undefined
  return { signal, patient, offline: query.flag('offline') ?? false, readAheadBytesMax: call.readAheadBytesMax() }
}
