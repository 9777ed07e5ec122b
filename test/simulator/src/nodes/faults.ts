import type { SimulatedBlock } from '../engine/block.ts'
import type { Message } from '../engine/message.ts'

/** What is wrong with a node. Whoever is faulty claims to have every block. */
export type Fault =
  /** Says HAVE, sends no block. */
  | 'silent'
  /** Says HAVE, then DONT_HAVE when the block is asked for. */
  | 'lying'
  /** Says HAVE, then sends bytes that are not the block's. */
  | 'corrupting'
  /** Takes everything, says nothing. */
  | 'mute'

/** What a faulty node answers to a wantlist, or nothing. */
export function faultyAnswer(
  fault: Fault,
  message: Message,
  blockOf: (entry: Message['entries'][number]) => SimulatedBlock
): Message | undefined {
  if (fault === 'mute') return undefined
  const blocks: { block: SimulatedBlock; isSound: boolean }[] = []
  const presences: { block: SimulatedBlock; presence: 'have' | 'dont-have' }[] = []
  for (const entry of message.entries) {
    if (entry.cancel) continue
    const block = blockOf(entry)
    if (entry.wantType === 'have') presences.push({ block, presence: 'have' })
    else if (fault === 'lying' && entry.sendDontHave) presences.push({ block, presence: 'dont-have' })
    else if (fault === 'corrupting') blocks.push({ block, isSound: false })
  }
  if (blocks.length === 0 && presences.length === 0) return undefined
  return { full: false, entries: [], blocks, presences, pendingBytes: 0 }
}

/** What leaves of an answer that was made before the node went bad. */
export function faultySend(fault: Fault, message: Message): Message | undefined {
  if (fault === 'mute') return undefined
  if (message.blocks.length === 0) return message
  if (fault === 'corrupting') return { ...message, blocks: message.blocks.map(({ block }) => ({ block, isSound: false })) }
  if (message.presences.length === 0 && message.entries.length === 0) return undefined
  return { ...message, blocks: [] }
}
