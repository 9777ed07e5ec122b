import type { AbortOptions } from '@shardswap/interface'
import type { CollectedBlock, NodeGarbage } from '../api/garbage.ts'
import { collectedOf, type CollectedShape } from '../pin-shapes.ts'
import type { DaemonCalls } from './daemon-calls.ts'

/** Collections of a daemon. */
export class RemoteGarbage implements NodeGarbage {
  readonly #calls: DaemonCalls

  constructor(calls: DaemonCalls) {
    this.#calls = calls
  }

  async *collect(options: AbortOptions = {}): AsyncGenerator<CollectedBlock> {
    for await (const line of this.#calls.lines<CollectedShape>('repo/gc', { 'stream-errors': true }, options)) yield collectedOf(line)
  }
}
