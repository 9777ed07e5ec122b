/** Pins of a repo and what keeps its blocks: each needs the other. */
import type { BlockSource } from '@shardswap/interface'
import type { Repo } from '@shardswap/repo'
import { BlockKeeper } from '../gc/keeper.ts'
import { unforeseen } from '../gc/unforeseen.ts'
import { Announcing } from './announcing.ts'
import { LocalPins, type LocalPinsInit } from '../pins/local-pins.ts'
import { PinStore } from '../pins/pin-store.ts'

interface Kept {
  readonly keeper: BlockKeeper
  readonly pins: LocalPins
  readonly announcing: Announcing
}

export interface KeptInit {
  readonly repo: Repo
  readonly offline: BlockSource
  readonly read: LocalPinsInit['read']
  readonly onWarning: (message: string) => void
}

/** All of it, for a repo and its limit. */
export function keptBlocks({ repo, offline, read, onWarning }: KeptInit): Kept {
  const store = new PinStore(repo)
  const { maxBytes, gcAtShare } = repo.config.repo
  const limit = maxBytes === undefined ? undefined : { maxBytes, gcAtShare, onWarning }
  const keeper = new BlockKeeper({ blocks: repo.blocks, pins: () => store.all(), random: unforeseen, limit })
  const pins = new LocalPins({ repo, keeper, store, offline, read })
  const announcing = new Announcing({ repo, pins, local: offline })
  store.onPinned = announcing.pinned
  return { keeper, pins, announcing }
}
