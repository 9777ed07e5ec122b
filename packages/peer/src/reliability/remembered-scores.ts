import { MalformedError } from '@shardswap/interface'
import { type PeerScore, Reliability } from '@shardswap/reliability'
import type { Datastore } from 'interface-datastore'
import { nowMs } from '../clock.ts'
import { keptState } from './kept-state.ts'
import { findRecord } from './record-store.ts'

/**
 * What a peer that does not run now remembers of others, from its datastore, which is only read. Nobody is connected.
 * Errors: MalformedError where the record cannot be used; a peer that starts keeps it aside and begins afresh.
 */
export async function rememberedScores(datastore: Datastore): Promise<readonly PeerScore[]> {
  const found = await findRecord(datastore)
  if (found.kind === 'none') return []
  if (found.kind === 'bad') throw unusable(found.reason)
  const times = { wallMs: Date.now(), nowMs: nowMs() }
  const core = new Reliability({ ...times, remembered: keptState(found.state, found.pausedMs, times.wallMs) })
  if (core.recalled.problem !== undefined) throw unusable(core.recalled.problem)
  return core.scores(times.nowMs)
}

function unusable(reason: string): MalformedError {
  return new MalformedError(`what is remembered of peers cannot be used: ${reason}; a node that starts keeps it aside and begins afresh`)
}
