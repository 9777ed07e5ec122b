import type { BlockKey, PeerKey } from '@shardswap/interface'
import {
  type BackupReason,
  type LateReason,
  type Outcome,
  type PeerStanding,
  Reliability,
  type ReliabilityCore,
  type Turn
} from '@shardswap/reliability'
import type { Random } from '../random.ts'
import { Broken } from './broken.ts'
import { chance } from './setting.ts'

/** Who judges peers: nobody, the layer as it runs in a peer, or a die, which asks second peers as often as it likes. */
export type JudgeKind = 'none' | 'real' | 'die'

const kinds: readonly JudgeKind[] = ['none', 'real', 'die']

export function judgeKindOf(random: Random): JudgeKind {
  return random.pick(kinds)
}

/**
 * Between the core and whoever judges: keeps a second account of turns, and throws Broken where the core tells of one
 * twice, of none, or asks a second peer for what nobody else is asked for.
 */
export class Judge implements ReliabilityCore {
  readonly #random: Random
  readonly #inner: Reliability | undefined
  readonly #open = new Map<string, Turn>()
  readonly #primaries = new Map<BlockKey, number>()
  readonly #standings = new Map<PeerKey, PeerStanding>()
  #tokens = 0

  constructor(kind: Exclude<JudgeKind, 'none'>, random: Random) {
    this.#random = random
    // A budget that is never used up finds more than one that is.
    this.#inner = kind === 'real' ? new Reliability({ wallMs: 0, nowMs: 0 }) : undefined
  }

  /** Turns that are not settled. */
  get open(): number {
    return this.#open.size
  }

  /** Primaries in flight for what nobody wants any more: their backups were quicker, and they have their time (P6). */
  unwanted(isWanted: (key: BlockKey) => boolean): number {
    let count = 0
    for (const { key, role } of this.#open.values()) if (role === 'primary' && !isWanted(key)) count += 1
    return count
  }

  peerConnected(peer: PeerKey, nowMs: number): void {
    this.#inner?.peerConnected(peer, nowMs)
  }

  peerDisconnected(peer: PeerKey, nowMs: number): void {
    this.#inner?.peerDisconnected(peer, nowMs)
  }

  asked(turn: Turn, nowMs: number): void {
    const id = `${turn.peer} ${turn.key}`
    if (this.#open.has(id)) throw new Broken(`${turn.peer} is asked again before its turn is settled`)
    const primaries = this.#primaries.get(turn.key) ?? 0
    if (turn.role === 'backup' && primaries !== 1) throw new Broken(`a backup beside ${primaries} primaries`)
    if (turn.role === 'backup' && this.#tokens-- <= 0) throw new Broken('a backup that was not paid for')
    if (!(turn.failChance >= 0 && turn.failChance <= 1)) throw new Broken(`a forecast of ${turn.failChance}`)
    this.#open.set(id, turn)
    if (turn.role === 'primary') this.#primaries.set(turn.key, primaries + 1)
    this.#inner?.asked(turn, nowMs)
  }

  settled(turn: Turn, outcome: Outcome, nowMs: number, delivery?: { latencyMs: number; bytes: number; queuedBytes: number }): void {
    const id = `${turn.peer} ${turn.key}`
    if (this.#open.get(id)?.role !== turn.role) throw new Broken(`what was not asked of ${turn.peer} is settled`)
    if ((outcome === 'success') !== (delivery !== undefined)) throw new Broken('a success without its delivery, or the other way round')
    this.#open.delete(id)
    if (turn.role === 'primary') this.#primaries.set(turn.key, (this.#primaries.get(turn.key) ?? 1) - 1)
    this.#inner?.settled(turn, outcome, nowMs, delivery)
  }

  ended(key: BlockKey, nowMs: number): void {
    this.#inner?.ended(key, nowMs)
  }

  receivedBad(peer: PeerKey, nowMs: number): void {
    this.#inner?.receivedBad(peer, nowMs)
  }

  failedHard(peer: PeerKey, nowMs: number): void {
    this.#inner?.failedHard(peer, nowMs)
  }

  duplicated(peer: PeerKey, bytes: number): void {
    this.#inner?.duplicated(peer, bytes)
  }

  standing(peer: PeerKey, nowMs: number): PeerStanding {
    if (this.#inner !== undefined) return this.#inner.standing(peer, nowMs)
    let standing = this.#standings.get(peer)
    if (standing === undefined || chance(this.#random, 20)) {
      const score = 1 + this.#random.below(100)
      standing = { score, weight: score, isVetted: chance(this.#random, 50), shutOutUntilMs: Number.NEGATIVE_INFINITY }
      this.#standings.set(peer, standing)
    }
    return standing
  }

  mayPickNewcomer(): boolean {
    return this.#inner?.mayPickNewcomer() ?? chance(this.#random, 30)
  }

  picked(isVetted: boolean): void {
    this.#inner?.picked(isVetted)
  }

  failChance(peer: PeerKey, chances: { presence: number; quietMs: number }): number {
    if (!(chances.presence >= 0 && chances.presence <= 1 && chances.quietMs >= 0)) throw new Broken(`chances ${JSON.stringify(chances)}`)
    return this.#inner?.failChance(peer, chances) ?? this.#random.below(100) / 100
  }

  isDoubtful(peer: PeerKey): boolean {
    return this.#inner?.isDoubtful(peer) ?? this.failChance(peer, { presence: 1, quietMs: 0 }) > 0.5
  }

  lateAfterMs(peer: PeerKey, queuedBytes: number, reason: LateReason): number {
    return this.#inner?.lateAfterMs(peer, queuedBytes, reason) ?? this.#random.below(reason === 'late' ? 3000 : 1000)
  }

  takeBackup(reason: BackupReason, failChance: number, nowMs: number): boolean {
    const isTaken = this.#inner?.takeBackup(reason, failChance, nowMs) ?? chance(this.#random, 60)
    this.#tokens += Number(isTaken)
    return isTaken
  }

  returnBackup(): void {
    this.#tokens -= 1
    this.#inner?.returnBackup()
  }

  isFitForBackup(peer: PeerKey, failChance: number): boolean {
    return this.#inner?.isFitForBackup(peer, failChance) ?? chance(this.#random, 80)
  }
}
