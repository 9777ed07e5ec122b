import type { BlockView } from '@shardswap/session'
import type { PeerQueue } from './queue.ts'

/** Says why a want got nowhere: who was asked, and what became of it; and whether there was nobody to ask. */
export function whyQuiet(
  block: BlockView,
  quietMs: number,
  connected: readonly PeerQueue[],
  nowMs: number
): { readonly reason: string; readonly isAlone: boolean } {
  const quiet = `no block for ${Math.round(quietMs / 1000)} s`
  if (connected.length === 0) return { reason: `${quiet}, and no peer is connected`, isAlone: true }
  const shutOut = connected.filter((queue) => queue.shutOutUntilMs > nowMs).length
  let refused = 0
  let silent = 0
  for (const { phase } of block.stances.values()) {
    if (phase === 'dont-have') refused += 1
    else silent += 1
  }
  const parts = [`${connected.length} connected`, `${refused} said DONT_HAVE`, `${silent} did not deliver`]
  const busy = connected.filter((queue) => queue.lastBusyMs >= nowMs - quietMs).length
  if (busy > 0) parts.push(`${busy} said that they are busy and refuse us`)
  if (shutOut > 0) parts.push(`${shutOut} shut out for blocks that match no want`)
  return { reason: `${quiet}; peers: ${parts.join(', ')}`, isAlone: false }
}
