import { startChild } from './child.ts'
import type { RelayApi } from './relay.ts'

export interface RelayProcess extends RelayApi {
  /** Ends the process; so does the end of this one. */
  stop(): Promise<void>
  /** Resolves once the process ends although nobody stopped it. */
  readonly lost: Promise<Error>
}

/** Starts a relay in a process of its own: its work then takes no turn of anybody's event loop. */
export async function startRelay(): Promise<RelayProcess> {
  return await startChild<RelayApi>(new URL('./relay-process.ts', import.meta.url), 'relay')
}
