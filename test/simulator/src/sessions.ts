import type { PeerKey } from '@shardswap/interface'
import type { SimulatedBlock } from './engine/block.ts'
import type { Fetching } from './nodes/fetching.ts'
import { type Pattern, runPattern } from './pattern.ts'

/**
 * Fetches blocks in sessions of so many each, one after the other: what a core knows when the next one opens is
 * what it remembers. `done` is told once, with how many could not be had. Returns what gives the rest up.
 */
export function runSessions(
  pattern: Pattern,
  sessionBlocks: number | undefined,
  fetching: Fetching,
  fixedPeers: ReadonlySet<PeerKey> | undefined,
  blocks: readonly SimulatedBlock[],
  done: (failed: number) => void
): () => void {
  const size = sessionBlocks ?? Math.max(1, blocks.length)
  let next = 0
  let failed = 0
  let giveUpSession = nothing
  const goOn = (): void => {
    const part = blocks.slice(next, next + size)
    next += size
    const session = fetching.openSession(fixedPeers)
    giveUpSession = runPattern(pattern, fetching, session, part, (missing) => {
      failed += missing
      fetching.closeSession(session)
      if (next < blocks.length) goOn()
      else done(failed)
    })
  }
  goOn()
  return () => {
    failed += Math.max(0, blocks.length - next)
    next = blocks.length
    giveUpSession()
  }
}

function nothing(): void {}
