/** Pins of a repo and what keeps its blocks: each needs the other. */
import type { BlockSource } from '@shardswap/interface'
import type { Repo } from '@shardswap/repo'
import { BlockKeeper } from '../gc/keeper.ts'
import { unforeseen } from '../gc/unforeseen.ts'
import { Announcing } from './announcing.ts'
import { LocalPins, type LocalPinsInit } from '../pins/local-pins.ts'
import { PinStore } from '../pins/pin-store.ts'

export function keptBlocks(
  repo: Repo,
  offline: BlockSource,
  read: LocalPinsInit['read']
): { keeper: BlockKeeper; pins: LocalPins; announcing: Announcing } {
  const store = new PinStore(repo)
  const keeper = new BlockKeeper({ blocks: repo.blocks, pins: () => store.all(), random: unforeseen })
  const pins = new LocalPins({ repo, keeper, store, offline, read })
  const announcing = new Announcing({ repo, pins, local: offline })
  store.onPinned = announcing.pinned
  return { keeper, pins, announcing }
}
