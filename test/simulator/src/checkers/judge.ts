import type { BlockKey, PeerKey } from '@shardswap/interface'
import type {
  BackupReason,
  Chances,
  Delivery,
  LateReason,
  Outcome,
  PeerStanding,
  Reliability,
  ReliabilityCore,
  Role,
  Turn
} from '@shardswap/reliability'
import type { Rule } from '../policy.ts'
import { type Credits, Referee } from './credit.ts'
import { Forecasts } from './forecasts.ts'
import { Violation } from './violation.ts'
import { Weights } from './weights.ts'

/** The layer as its core drives it, and as people see it. */
export type Layer = ReliabilityCore & Pick<Reliability, 'scores' | 'countsOf'>

/** Steps between two looks at the shares of all peers; who is touched by a step is looked at in each. */
const lookEvery = 256
/** Of more peers than this, all shares are looked at once, at the end. */
const peersLookedAtMax = 64
const roundingMax = 1e-9

/**
 * Stands between a core and its reliability layer, passes everything on, and holds both to what they must keep:
 * each want-block is settled once, credit is given once (invariant 6), and a higher score has no smaller share
 * (invariant 8). It counts what there is to know of forecasts, turns and picks.
 */
export class Judge implements ReliabilityCore {
  readonly forecasts = new Forecasts()
  readonly turns: Record<Role, number> = { primary: 0, backup: 0 }
  /** Backups by why they were asked. */
  readonly backups: Record<BackupReason, number> = { proactive: 0, late: 0, endgame: 0 }
  /** Turns of each peer as a primary. */
  readonly picks = new Map<PeerKey, number>()
  readonly #layer: Layer
  readonly #exempt: ReadonlySet<Rule>
  /** Scores that the scenario sets, whatever the peers do. */
  readonly #scoreOf: (peer: PeerKey) => number | undefined
  readonly #referee = new Referee()
  readonly #weights = new Weights()
  #steps = 0
  #peers = 0
  #nowMs = 0
  #reason: BackupReason | undefined

  constructor(layer: Layer, exempt: ReadonlySet<Rule>, scoreOf: (peer: PeerKey) => number | undefined) {
    this.#layer = layer
    this.#exempt = exempt
    this.#scoreOf = scoreOf
  }

  peerConnected(peer: PeerKey, nowMs: number): void {
    this.#peers += 1
    this.#layer.peerConnected(peer, nowMs)
  }

  peerDisconnected(peer: PeerKey, nowMs: number): void {
    this.#peers -= 1
    this.#weights.remove(peer)
    this.#layer.peerDisconnected(peer, nowMs)
  }

  asked(turn: Turn, nowMs: number): void {
    if (!(turn.failChance >= 0 && turn.failChance <= 1)) this.#broken('credit', `a forecast of ${turn.failChance} for ${turn.peer}`)
    this.turns[turn.role] += 1
    if (turn.role === 'primary') this.picks.set(turn.peer, (this.picks.get(turn.peer) ?? 0) + 1)
    this.#referee.asked(turn)
    this.#layer.asked(turn, nowMs)
    this.#step(turn.peer, nowMs)
  }

  settled(turn: Turn, outcome: Outcome, nowMs: number, delivery?: Delivery): void {
    if (!this.#referee.settled(turn, outcome))
      this.#broken('credit', `${outcome} of a want-block at ${turn.peer} that is settled or was not sent`)
    if (outcome === 'success') this.forecasts.add(turn.failChance, false)
    else if (outcome !== 'late' && outcome !== 'withdrawn' && outcome !== 'refused') this.forecasts.add(turn.failChance, true)
    this.#layer.settled(turn, outcome, nowMs, delivery)
    this.#step(turn.peer, nowMs)
  }

  ended(key: BlockKey, nowMs: number): void {
    const asked = this.#referee.ended(key)
    this.#layer.ended(key, nowMs)
    for (const peer of asked) this.#count(peer)
  }

  receivedBad(peer: PeerKey, nowMs: number): void {
    this.#layer.receivedBad(peer, nowMs)
  }

  failedHard(peer: PeerKey, nowMs: number): void {
    this.#layer.failedHard(peer, nowMs)
  }

  duplicated(peer: PeerKey, bytes: number): void {
    this.#layer.duplicated(peer, bytes)
  }

  standing(peer: PeerKey, nowMs: number): PeerStanding {
    const score = this.#scoreOf(peer)
    if (score === undefined) {
      const standing = this.#layer.standing(peer, nowMs)
      if (standing.shutOutUntilMs > nowMs) this.#weights.remove(peer)
      else this.#weigh(peer, standing)
      return standing
    }
    return { score, weight: score, isVetted: true, shutOutUntilMs: Number.NEGATIVE_INFINITY }
  }

  mayPickNewcomer(): boolean {
    return this.#layer.mayPickNewcomer()
  }

  picked(isVetted: boolean): void {
    this.#layer.picked(isVetted)
  }

  failChance(peer: PeerKey, chances: Chances): number {
    return this.#layer.failChance(peer, chances)
  }

  isDoubtful(peer: PeerKey): boolean {
    return this.#layer.isDoubtful(peer)
  }

  lateAfterMs(peer: PeerKey, queuedBytes: number, reason: LateReason): number {
    return this.#layer.lateAfterMs(peer, queuedBytes, reason)
  }

  takeBackup(reason: BackupReason, failChance: number, nowMs: number): boolean {
    const isTaken = this.#layer.takeBackup(reason, failChance, nowMs)
    if (isTaken) this.backups[reason] += 1
    this.#reason = reason
    return isTaken
  }

  returnBackup(): void {
    if (this.#reason !== undefined) this.backups[this.#reason] -= 1
    this.#layer.returnBackup()
  }

  isFitForBackup(peer: PeerKey, failChance: number): boolean {
    return this.#layer.isFitForBackup(peer, failChance)
  }

  /** In what part a peer is asked for a block. */
  roleOf(peer: PeerKey, key: BlockKey): Role | undefined {
    return this.#referee.roleOf(peer, key)
  }

  /** Called once every session has ended and what was under way has arrived. */
  atEnd(): void {
    if (this.#referee.open > 0) this.#broken('credit', `${this.#referee.open} wants are not accounted for after the last session ended`)
    this.#look()
    for (const { peer, counts } of this.#layer.scores(this.#nowMs)) this.#compare(peer, counts)
  }

  #step(peer: PeerKey, nowMs: number): void {
    this.#nowMs = nowMs
    this.#count(peer)
    this.#steps += 1
    if (this.#steps % lookEvery === 0 && this.#peers <= peersLookedAtMax) this.#look()
  }

  #count(peer: PeerKey): void {
    const counts = this.#layer.countsOf(peer)
    if (counts !== undefined) this.#compare(peer, counts)
  }

  #compare(peer: PeerKey, counts: Credits): void {
    const { attempted, successful, rewardable } = counts
    if (!(rewardable <= successful && successful <= attempted))
      this.#broken('credit', `${peer} has ${rewardable} rewardable of ${successful} successful of ${attempted} attempted`)
    const own = this.#referee.credits.get(peer) ?? { attempted: 0, successful: 0, rewardable: 0 }
    for (const name of ['attempted', 'successful', 'rewardable'] as const) {
      if (counts[name] !== own[name]) this.#broken('credit', `${name} of ${peer} is ${counts[name]}, and ${own[name]} by its turns`)
    }
  }

  #weigh(peer: PeerKey, { score, weight }: PeerStanding): void {
    const above = this.#weights.put(peer, score, weight)
    if (above !== undefined)
      this.#broken('shares', `${peer} of score ${score} weighs ${weight}, and one of score ${above.score} ${above.weight}`)
  }

  #look(): void {
    const scores = this.#layer.scores(this.#nowMs)
    let sum = 0
    // Newcomers have a part of their own, so a score is compared with those of its kind.
    const above = new Map<boolean, number>()
    for (const { peer, isConnected, isVetted, score, share, shutOutMs } of scores) {
      if (!isConnected || shutOutMs > 0) continue
      const before = above.get(isVetted)
      if (before !== undefined && share > before + roundingMax)
        this.#broken('shares', `${peer} of score ${score} has a share of ${share}, and a higher score one of ${before}`)
      above.set(isVetted, share)
      sum += share
    }
    if (above.size > 0 && Math.abs(sum - 1) > roundingMax) this.#broken('shares', `shares sum to ${sum}`)
  }

  #broken(rule: Rule, message: string): void {
    if (!this.#exempt.has(rule)) throw new Violation(rule, message)
  }
}
