import { createHash } from 'node:crypto'
import { type BlockKey, blockKey, CID, type PeerKey, peerKey } from '@shardswap/interface'
import type { PeerLimits } from '@shardswap/peer'
import { create } from 'multiformats/hashes/digest'
import type { Random } from '../random.ts'

export interface Block {
  readonly cid: CID
  readonly key: BlockKey
}

const rawCode = 0x55
const sha256Code = 0x12

/** The blocks of all runs. */
export const blocks: readonly Block[] = Array.from({ length: 60 }, (_, i) => {
  const cid = CID.createV1(rawCode, create(sha256Code, new Uint8Array(createHash('sha256').update(`block ${i}`).digest())))
  return { cid, key: blockKey(cid) }
})

const numbers = new Map(blocks.map(({ key }, i) => [key, i]))

/** A block's number, for people. */
export function numberOf(key: BlockKey): number {
  return numbers.get(key) ?? -1
}

/** Small limits find what large ones hide. */
const tight: Partial<Record<keyof PeerLimits, readonly number[]>> = {
  queueWantsStart: [1, 2, 5],
  queueWantsMax: [1, 3, 8, 64],
  queueHavesMax: [1, 2, 8],
  standingWantsMax: [1, 2],
  windowStartBytes: [1, 1000],
  windowMinBytes: [1, 1000],
  windowMaxBytes: [1000, 5000],
  inFlightBytesMax: [300_000, 2_000_000],
  decisionsMax: [1, 3, 50],
  peersRememberedMax: [1, 3],
  pastWantsMax: [128],
  waveStartPeers: [1, 2],
  waveMaxPeers: [1, 4],
  discoveriesMax: [1, 3],
  candidatesMax: [4, 14],
  partnersMax: [1, 2],
  wantsInFlightStart: [1, 2],
  wantsInFlightMax: [2, 4],
  unaskedBlocksMax: [1, 5],
  shutOutMs: [1, 10_000],
  holdMs: [1, 50]
}

export interface Setting {
  readonly limits: Partial<PeerLimits>
  /** Peers that do whatever comes to them, and are silent at the end. */
  readonly wild: readonly PeerKey[]
  /** Whether each of the wild ones speaks 1.2.0. */
  readonly wildSupportsHave: readonly boolean[]
  readonly blocksUsed: number
  readonly sessionsMax: number
  /** What blocks are as a rule. */
  readonly blockBytes: number
}

export function chance(random: Random, percent: number): boolean {
  return random.below(100) < percent
}

export function settingOf(random: Random): Setting {
  const limits: { -readonly [Name in keyof PeerLimits]?: PeerLimits[Name] } = {}
  for (const [name, values] of Object.entries(tight)) if (chance(random, 30)) limits[name as keyof PeerLimits] = random.pick(values)
  // What begins at more than it may be is no setting that means anything.
  if (limits.queueWantsMax !== undefined) limits.queueWantsStart = Math.min(limits.queueWantsStart ?? 2, limits.queueWantsMax)
  if (limits.wantsInFlightMax !== undefined) limits.wantsInFlightStart ??= 1
  if (limits.windowMaxBytes !== undefined) limits.windowStartBytes ??= 1000
  if (limits.windowStartBytes !== undefined) limits.windowStartAloneBytes = 2 * limits.windowStartBytes
  const wild = Array.from({ length: 1 + random.below(12) }, (_, i) => peerKey(`wild${i}`))
  return {
    limits,
    wild,
    wildSupportsHave: wild.map(() => !chance(random, 30)),
    blocksUsed: 1 + random.below(blocks.length),
    sessionsMax: 1 + random.below(20),
    blockBytes: chance(random, 50) ? 500 : 50_000
  }
}
