import { type BlockKey, CID, type PeerKey, peerKey, type Random, seededRandom } from '@shardswap/interface'
import { create } from 'multiformats/hashes/digest'
import { defaultSessionLimits } from '../src/limits.ts'
import type { BlockView, PeerView, Phase, SessionPorts, Stance } from '../src/views.ts'
import type { Want } from '../src/want.ts'

export const limits = defaultSessionLimits

/** The same numbers for the same seed, 0 too. */
export function seeded(seed: number): Random {
  return seededRandom(seed | 1)
}

/** A die that always shows the same. */
export function fixed(value: number): Random {
  return { next: () => value }
}

export type TestPeer = { -readonly [name in keyof PeerView]: PeerView[name] }

/** A connected peer with an empty queue. */
export function peer(name: string, changes: Partial<PeerView> = {}): TestPeer {
  return {
    key: peerKey(name),
    supportsHave: true,
    score: 1,
    isVetted: false,
    isDoubtful: false,
    latencyMs: undefined,
    lastBytesAtMs: Number.NEGATIVE_INFINITY,
    bytesPerMs: undefined,
    inFlightBytes: 0,
    depth: 0,
    hasHaveSpace: true,
    isUsable: () => true,
    ...changes
  }
}

export function peers(count: number, changes: Partial<PeerView> = {}): TestPeer[] {
  return Array.from({ length: count }, (_, i) => peer(`P${i}`, changes))
}

export interface TestBlock extends BlockView {
  readonly stances: Map<PeerKey, Stance>
  inFlight: number
  havesAsked: number
}

/** A block of which nothing is known at any peer. */
export function block(i: number): TestBlock {
  const digest = new Uint8Array(32)
  new DataView(digest.buffer).setUint32(0, i)
  const cid = CID.createV1(0x55, create(0x12, digest))
  return { cid, key: `key ${i}` as BlockKey, stances: new Map(), inFlight: 0, havesAsked: 0 }
}

/** What is known of a peer about a block from now on. */
export function stand(of: TestBlock, at: PeerView, phase: Phase, more: Partial<Stance> = {}): void {
  of.stances.set(at.key, { peer: at, phase, sinceMs: 0, restMs: 0, promised: phase === 'have', ...more })
}

export function want(of: BlockView, turn = 0): Want {
  return {
    block: of,
    turn,
    state: { phase: 'in-flight' },
    deferred: false,
    waves: 0,
    exhaustions: 0,
    deniedUntilMs: Number.NEGATIVE_INFINITY,
    quietSinceMs: 0
  }
}

/** Ports of a broker in which every queue has space. */
export function ports(connected: readonly PeerView[]): SessionPorts {
  const vetted = connected.filter(({ isVetted }) => isVetted)
  return { peers: connected, vetted, hasSpace: () => true, lineUp: () => undefined, mayPickNewcomer: () => true, wakeBy: () => undefined }
}

/** Chi-square of counts against expected shares of their sum. */
export function chiSquare(counts: readonly number[], shares: readonly number[]): number {
  const total = counts.reduce((sum, count) => sum + count, 0)
  return counts.reduce((sum, count, i) => sum + (count - total * shares[i]!) ** 2 / (total * shares[i]!), 0)
}
