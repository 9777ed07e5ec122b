import type { Admitted } from './checkers/admitted.ts'
import type { NodeName } from './scenario.ts'
import type { FetchFigures } from './nodes/figures.ts'

export interface JobResult {
  readonly node: NodeName
  readonly startMs: number
  readonly endMs: number
  readonly blocks: number
  readonly bytes: number
  /** Blocks that could not be had. */
  readonly failed: number
}

/** What one run of one policy gave. */
export interface RunResult {
  readonly seed: number
  readonly traceHash: string
  /** From the first job's start to the last one's end. */
  readonly seconds: number
  readonly jobs: readonly JobResult[]
  /** By node, of those that fetch. `peers` in them are keys as `nodeKey` gives them. */
  readonly fetchers: ReadonlyMap<string, FetchFigures>
  /** Events that ran. */
  readonly events: number
  readonly messagesLost: number
  /** What serving nodes admitted, by node, in order. */
  readonly admitted: ReadonlyMap<string, readonly Admitted[]>
  /** Memory that a connected peer takes, of this machine; NaN where it was not measured. */
  readonly bytesPerPeer: number
}

/** The peer key of a node: its name. */
export function nodeKey([group, place]: NodeName): string {
  return `${group}-${place}`
}
