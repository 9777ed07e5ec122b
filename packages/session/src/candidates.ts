import type { PeerKey, Random } from '@shardswap/interface'
import { Candidate } from './candidate.ts'
import { Draw } from './draw.ts'
import type { SessionLimits } from './limits.ts'
import type { BlockView, PeerView, Stance } from './views.ts'
import type { Want } from './want.ts'
import { queueFactor, restFactor } from './weight.ts'

/** With a hit rate below it a peer is asked whether it has a block before it is asked for it. */
const likelyHit = 0.25
/** Draws that are thrown away before the choice falls back to looking at each candidate. */
const drawsMax = 64
/** A newcomer with less than this part of somebody vetted's score is worth no block while that one may have it. */
const farLessPart = 0.25
/** How long a vetted peer of which no latency is known in this run is waited for. */
const awaitUnknownMs = 200
/** By so much more than foreseen the last peer may take: all others would wait for it, it for nobody. */
const lateFactor = 1.25
/** How old a survey of the rates may be; being late by as much does not matter. */
const surveyEveryMs = 50
/** Peers looked at for the median of B21. */
const medianSampleMax = 31

/** What the draw gave. */
export type Choice =
  /** `isContested`: somebody vetted could have been asked as well, as far as was known. */
  | { readonly kind: 'peer'; readonly candidate: Candidate; readonly isContested: boolean }
  /** Somebody has it, or may, but has no space now. */
  | { readonly kind: 'full' }
  /** Nobody who is known may be asked for it now. */
  | { readonly kind: 'nobody' }
  /** By then somebody better will have said whether it has the DAG. */
  | { readonly kind: 'awaits'; readonly untilMs: number }

/** What a session still has to fetch, as far as it knows, in bytes; and what a block of it is taken for. */
export interface Rest {
  readonly bytes: number
  readonly blockBytes: number
  /** Want-blocks that are out: while there are any, there is somebody to wait for. */
  readonly inFlight: number
}

function awaitedMs({ latencyMs }: PeerView): number {
  return latencyMs === undefined ? awaitUnknownMs : 2 * latencyMs
}

/** Whether the peer of this candidate has space for one more want-block of the session now. */
export type HasSpace = (candidate: Candidate) => boolean

/**
 * The providers of a session, with a tree of their weights: one draw and one
 * change of a weight take O(log n). A leaf holds the weight for a block of which
 * nothing is known at the peer; what a want knows of single peers, and how full
 * queues are, comes in by throwing draws away, which keeps the chances exact.
 */
export class Candidates {
  readonly #byPeer = new Map<PeerKey, Candidate>()
  readonly #list: Candidate[] = []
  readonly #tree = new Draw()
  readonly #limits: SessionLimits
  readonly #random: Random
  readonly #mayPickNewcomer: () => boolean
  /** Those that may be asked for a block of which nothing is known. */
  #likely = 0
  /** Those who would be the last to deliver: the others are sooner done with all that is left. */
  readonly #held = new Set<Candidate>()
  /** What all of them deliver together, in bytes per millisecond, what is in flight at them, and the soonest that one delivers a block. */
  #survey = { atMs: Number.NEGATIVE_INFINITY, rate: 0, inFlightBytes: 0, soonestMs: 0 }
  /** Those who were silent again and again, until their rest is over. */
  readonly #resting = new Set<Candidate>()
  /** The session's first block: who else has the DAG its want-haves tell. */
  opening: BlockView | undefined
  #providers = 0

  /** `mayPickNewcomer`: whether the share of those who are not vetted yet is not used up. */
  constructor(limits: SessionLimits, random: Random, mayPickNewcomer: () => boolean = () => true) {
    this.#limits = limits
    this.#random = random
    this.#mayPickNewcomer = mayPickNewcomer
  }

  /** How many there are. */
  get size(): number {
    return this.#list.length
  }

  /** Those that are known to have had something. */
  get providers(): number {
    return this.#providers
  }

  /** What this session knows of a peer; undefined for one that it does not know. */
  get(peer: PeerKey): Candidate | undefined {
    return this.#byPeer.get(peer)
  }

  /** Those that had something and do not rest. */
  get awakeProviders(): number {
    return this.#providers - this.#countResting(isProvider)
  }

  /** Those that may be asked for a block of which nothing is known, and do not rest. */
  get awakeLikely(): number {
    return this.#likely - this.#countResting(isLikely)
  }

  #countResting(fits: (candidate: Candidate) => boolean): number {
    let count = 0
    for (const candidate of this.#resting) count += Number(fits(candidate))
    return count
  }

  /** It was silent again and again, and is asked for nothing before its time. */
  isResting(peer: PeerKey): boolean {
    const candidate = this.#byPeer.get(peer)
    return candidate !== undefined && this.#resting.has(candidate)
  }

  /** Whether the peer may be drawn for a block of which nothing is known. */
  isDrawn(peer: PeerKey): boolean {
    const candidate = this.#byPeer.get(peer)
    return candidate !== undefined && isLikely(candidate)
  }

  /** All candidates, in an order that means nothing. */
  [Symbol.iterator](): IterableIterator<Candidate> {
    return this.#list[Symbol.iterator]()
  }

  /** The candidate at a place in an order that means nothing; for walks from a random one. */
  at(index: number): Candidate | undefined {
    return this.#list[index]
  }

  /** In place of the least of those with nothing to do, where the session knows as many as it may; undefined where there is none. `isAsked`: a want-block is out there, and counts in any case. */
  add(peer: PeerView, hit: number, isAsked = false): Candidate | undefined {
    const known = this.#byPeer.get(peer.key)
    if (known !== undefined) return known
    if (this.#list.length >= this.#limits.candidatesMax && !this.#removeLeast() && !isAsked) return undefined
    const candidate = new Candidate(peer, this.#list.length, hit, this.#median(), this.#limits)
    this.#byPeer.set(peer.key, candidate)
    this.#list.push(candidate)
    if (isLikely(candidate)) this.#likely += 1
    if (isProvider(candidate)) this.#providers += 1
    this.refresh(candidate)
    return candidate
  }

  #removeLeast(): boolean {
    let least: Candidate | undefined
    let leastWeight = Number.POSITIVE_INFINITY
    for (const candidate of this.#list) {
      if (candidate.inFlight > 0 || candidate.blocked.size > 0) continue
      const weight = this.#resting.has(candidate) ? 0 : candidate.weight(candidate.hit)
      if (weight >= leastWeight) continue
      least = candidate
      leastWeight = weight
    }
    if (least !== undefined) this.remove(least)
    return least !== undefined
  }

  /** The peer is no longer asked in this session. */
  remove(candidate: Candidate): void {
    const last = this.#list.pop()
    this.#byPeer.delete(candidate.peer.key)
    this.#resting.delete(candidate)
    this.#held.delete(candidate)
    if (isLikely(candidate)) this.#likely -= 1
    if (isProvider(candidate)) this.#providers -= 1
    if (last === undefined) return
    this.#tree.clear(last.index)
    if (last === candidate) return
    this.#list[candidate.index] = last
    last.index = candidate.index
    this.refresh(last)
  }

  /** After anything in a candidate changed that its weight is made of, besides `hit`. */
  refresh(candidate: Candidate): void {
    this.#held.delete(candidate)
    const isOpen = this.isOpen(candidate) && isLikely(candidate)
    this.#tree.set(candidate.index, isOpen ? candidate.weight(candidate.hit) : 0, candidate.peer.isVetted)
  }

  /** One of those in the draw, by its weight; undefined where nobody is. `fraction` in [0, 1). */
  sample(fraction: number): Candidate | undefined {
    return this.#tree.total(false) > 0 ? this.#list[this.#tree.sample(fraction, false)] : undefined
  }

  /** Whether the session may send it one more want-block now, as far as the session's own limits go. */
  isOpen(candidate: Candidate): boolean {
    return !candidate.waiting && !this.#resting.has(candidate) && candidate.inFlight < candidate.limit
  }

  /** A want-block had its time at it (B15, B17). */
  timeOut(candidate: Candidate, sentAtMs: number, nowMs: number): void {
    candidate.timeOut(sentAtMs, nowMs)
    if (candidate.restUntilMs > nowMs) {
      // By a die, lest peers that rest by turns get the same wants over and over.
      candidate.restUntilMs = nowMs + (candidate.restUntilMs - nowMs) * (0.9 + 0.2 * this.#random.next())
      this.#resting.add(candidate)
    }
    this.refresh(candidate)
  }

  /** A block came from it. Returns whether that ended a rest. */
  receive(candidate: Candidate): boolean {
    candidate.receive()
    const wasResting = this.#resting.delete(candidate)
    this.refresh(candidate)
    return wasResting
  }

  /** Ends the rests that are over. Returns whether any was. */
  wakeRested(nowMs: number): boolean {
    let isAny = false
    for (const candidate of this.#resting) {
      if (candidate.restUntilMs > nowMs) continue
      this.#resting.delete(candidate)
      this.refresh(candidate)
      isAny = true
    }
    return isAny
  }

  /** When the next rest is over. */
  get restedAtMs(): number {
    let soonest = Number.POSITIVE_INFINITY
    for (const { restUntilMs } of this.#resting) soonest = Math.min(soonest, restUntilMs)
    return soonest
  }

  /** The candidate answered whether it has a block. */
  answer(candidate: Candidate, has: boolean): void {
    const wasLikely = isLikely(candidate)
    const wasProvider = isProvider(candidate)
    candidate.answer(has)
    this.#likely += Number(isLikely(candidate)) - Number(wasLikely)
    this.#providers += Number(isProvider(candidate)) - Number(wasProvider)
    this.refresh(candidate)
  }

  /**
   * C3: a peer for a want-block, at random with weights. `hasSpace` takes those without it out of the draw until
   * `refresh`. While somebody vetted is in the draw, newcomers are only where their share of the picks is not used up.
   */
  choose(block: BlockView, rest: Rest, hasSpace: HasSpace, nowMs: number): Choice {
    const known = this.#known(block, hasSpace, nowMs)
    const untilMs = this.#awaitsVetted(block.havesAsked > 0 ? block : this.opening, known, nowMs)
    if (untilMs > nowMs) return block.havesAsked > 0 ? { kind: 'nobody' } : { kind: 'awaits', untilMs }
    for (let draws = 0; draws < drawsMax; draws++) {
      const isContested = known.vetted.weight > 0 || isMore(this.#tree.total(true), known.vetted.leaves)
      const isVettedOnly = isContested && !this.#mayPickNewcomer()
      const { weight, leaves } = isVettedOnly ? known.vetted : known.all
      const total = this.#tree.total(isVettedOnly)
      const isOthers = isMore(total, leaves)
      if (!isOthers && weight === 0) break
      // The whole tree is drawn from, known peers among it, which are then thrown away: so it is weighed as a whole.
      if (this.#random.next() * (weight + (isOthers ? total : 0)) < weight) {
        return { kind: 'peer', candidate: this.#pick(known.open, weight, isVettedOnly), isContested }
      }
      const candidate = this.#list[this.#tree.sample(this.#random.next(), isVettedOnly)]
      if (candidate === undefined || block.stances.has(candidate.peer.key)) continue
      // Who is not worth waiting for is not stood in line at either.
      const isLast = this.#isLast(candidate, rest, nowMs)
      if (isLast) this.#held.add(candidate)
      if (isLast || !candidate.peer.isUsable(nowMs) || !hasSpace(candidate)) {
        this.#tree.clear(candidate.index)
        continue
      }
      if (this.#random.next() < queueFactor(candidate.peer.depth)) return { kind: 'peer', candidate, isContested }
    }
    return this.#fallBack(block, known, rest, hasSpace, nowMs)
  }

  /**
   * Only newcomers are known to have it, their share is used up or they are worth far less, and somebody vetted will have
   * answered in a moment: whoever is quickest to say HAVE must not have the first blocks of every session. Returns until when
   * that is awaited. `asked`: the block whose want-haves are out, this one or the session's first.
   */
  #awaitsVetted(asked: BlockView | undefined, known: Known, nowMs: number): number {
    const never = Number.NEGATIVE_INFINITY
    if (asked === undefined || asked.havesAsked === 0 || known.vetted.weight > 0 || this.#tree.total(true) > 0) return never
    if (known.all.weight === 0 && this.#tree.total(false) === 0) return never
    let untilMs = never
    let score = 0
    for (const { phase, peer, sinceMs } of asked.stances.values()) {
      if (phase !== 'have-asked' || !peer.isVetted || sinceMs + awaitedMs(peer) <= nowMs) continue
      untilMs = Math.max(untilMs, sinceMs + awaitedMs(peer))
      score = Math.max(score, peer.score)
    }
    if (untilMs === never || !this.#mayPickNewcomer()) return untilMs
    return this.#list.every((candidate) => !isLikely(candidate) || candidate.peer.score < farLessPart * score) ? untilMs : never
  }

  /**
   * Whether the others would have fetched all that is left before this one delivers one block more, and one of
   * them that very block. The last blocks of a fetch then wait for no slow peer that happens to have space; one
   * whose rate is not known is tried.
   */
  #isLast(candidate: Candidate, rest: Rest, nowMs: number): boolean {
    const { bytesPerMs, inFlightBytes } = candidate.peer
    if (bytesPerMs === undefined || this.#list.length < 2) return false
    if (nowMs - this.#survey.atMs >= surveyEveryMs) this.#look(rest.blockBytes, nowMs)
    const survey = this.#survey
    const rate = survey.rate - bytesPerMs
    if (rate <= 0) return false
    const restMs = (rest.bytes + survey.inFlightBytes - inFlightBytes) / rate
    const doneMs = (inFlightBytes + rest.blockBytes) / bytesPerMs
    return lateFactor * doneMs > Math.max(restMs, survey.soonestMs) + surveyEveryMs
  }

  #look(blockBytes: number, nowMs: number): void {
    const survey = { atMs: nowMs, rate: 0, inFlightBytes: 0, soonestMs: Number.POSITIVE_INFINITY }
    for (const candidate of this.#list) {
      const { bytesPerMs, inFlightBytes } = candidate.peer
      // Of those who hardly ever have what they are asked for nothing is to be expected.
      if (bytesPerMs === undefined || !isLikely(candidate) || this.#resting.has(candidate) || !candidate.peer.isUsable(nowMs)) continue
      survey.rate += bytesPerMs
      survey.inFlightBytes += inFlightBytes
      survey.soonestMs = Math.min(survey.soonestMs, (inFlightBytes + blockBytes) / bytesPerMs)
    }
    this.#survey = survey
  }

  /** Whether it is left out of the draw for being the last to deliver. */
  isHeld(candidate: Candidate): boolean {
    return this.#held.has(candidate)
  }

  /** There is more to fetch than there was, or time has passed: who was held back is in the draw again. Returns them. */
  release(): Candidate[] {
    if (this.#held.size === 0) return []
    const released = Array.from(this.#held)
    for (const candidate of released) this.refresh(candidate)
    return released
  }

  /** What is known of single peers about this block: exact weights of those that may be asked, and what the tree has for all of them. */
  #known(block: BlockView, hasSpace: HasSpace, nowMs: number): Known {
    const known: Known = { open: [], all: { weight: 0, leaves: 0 }, vetted: { weight: 0, leaves: 0 }, likely: 0, full: false }
    for (const stance of block.stances.values()) {
      const candidate = this.#byPeer.get(stance.peer.key)
      if (candidate === undefined) continue
      const sums = candidate.peer.isVetted ? [known.all, known.vetted] : [known.all]
      const leaf = this.#tree.weight(candidate.index)
      for (const sum of sums) sum.leaves += leaf
      const isAsleep = this.#resting.has(candidate)
      if (isLikely(candidate) && !isAsleep) known.likely += 1
      const presence = presenceOf(stance, candidate, nowMs)
      // Who rests has no space to wait for: the block is looked for elsewhere meanwhile.
      if (presence === 0 || isAsleep || !candidate.peer.isUsable(nowMs)) continue
      if (!this.isOpen(candidate) || !hasSpace(candidate)) known.full = true
      else {
        const weight = candidate.weight(presence) * queueFactor(candidate.peer.depth)
        known.open.push({ candidate, weight })
        for (const sum of sums) sum.weight += weight
      }
    }
    return known
  }

  #pick(open: Known['open'], total: number, isVettedOnly: boolean): Candidate {
    let rest = this.#random.next() * total
    let last: Candidate | undefined
    for (const { candidate, weight } of open) {
      if (isVettedOnly && !candidate.peer.isVetted) continue
      last = candidate
      rest -= weight
      if (rest < 0) break
    }
    return last as Candidate
  }

  /** Many draws were thrown away, or nothing is in the draw: rare, and looked at one by one, those that are vetted first. */
  #fallBack(block: BlockView, known: Known, rest: Rest, hasSpace: HasSpace, nowMs: number): Choice {
    for (const isVetted of [true, false]) {
      const best = known.open.find(({ candidate }) => candidate.peer.isVetted === isVetted)
      if (best !== undefined) return { kind: 'peer', candidate: best.candidate, isContested: isVetted }
      if (this.#tree.total(isVetted) === 0) continue
      for (const candidate of this.#list) {
        if (candidate.peer.isVetted !== isVetted || this.#tree.weight(candidate.index) === 0) continue
        if (block.stances.has(candidate.peer.key)) continue
        if (candidate.peer.isUsable(nowMs) && hasSpace(candidate)) return { kind: 'peer', candidate, isContested: isVetted }
        this.#tree.clear(candidate.index)
      }
    }
    if (known.full || this.#othersAwake(block) > known.likely) return { kind: 'full' }
    return this.#heldFor(block, rest, hasSpace, nowMs)
  }

  /** How many may be asked for a block of which nothing is known, but for those who are held back and of whom nothing is known for this one. */
  #othersAwake(block: BlockView): number {
    let count = this.awakeLikely
    for (const { peer } of this.#held) count -= Number(!block.stances.has(peer.key))
    return count
  }

  /** Only those are left who would be the last to deliver: they are not held back where nobody is at work who might be sooner. */
  #heldFor(block: BlockView, rest: Rest, hasSpace: HasSpace, nowMs: number): Choice {
    for (const candidate of this.#held) {
      if (block.stances.has(candidate.peer.key)) continue
      if (rest.inFlight > 0) return { kind: 'full' }
      if (candidate.peer.isUsable(nowMs) && hasSpace(candidate)) return { kind: 'peer', candidate, isContested: false }
    }
    return { kind: 'nobody' }
  }

  /** Those who may have a block and have no space for it: to be in line at; `max` of them at most. */
  fullFor(block: BlockView, max: number, nowMs: number): Candidate[] {
    const full: Candidate[] = []
    for (const stance of block.stances.values()) {
      const candidate = this.#byPeer.get(stance.peer.key)
      if (candidate === undefined || full.length >= max || this.#resting.has(candidate)) continue
      if (presenceOf(stance, candidate, nowMs) > 0) full.push(candidate)
    }
    const start = Math.floor(this.#random.next() * this.#list.length)
    for (let i = 0; i < this.#list.length && full.length < max; i++) {
      const candidate = this.#list[(start + i) % this.#list.length]
      if (candidate === undefined || this.#resting.has(candidate)) continue
      if (isLikely(candidate) && !block.stances.has(candidate.peer.key)) full.push(candidate)
    }
    return full
  }

  /** Wants that wait for space at any of them, `max` at most. */
  someBlocked(max: number): Want[] {
    const blocked: Want[] = []
    for (const candidate of this.#list) {
      for (const want of candidate.blocked) if (blocked.length < max) blocked.push(want)
      if (blocked.length >= max) break
    }
    return blocked
  }

  /** The median of what those who were tried delivered, as a factor, of a few where they are many; 0 where nobody was (B21). */
  #median(): number {
    const values: number[] = []
    const step = Math.max(1, Math.floor(this.#list.length / medianSampleMax))
    for (let i = 0; i < this.#list.length; i += step) {
      const candidate = this.#list[i] as Candidate
      // A newcomer's bonus must not count, else each of many that come at once would get more than the one before.
      if (candidate.isMeasured) values.push(candidate.delivered)
    }
    values.sort((a, b) => a - b)
    const middle = values.length >> 1
    if (values.length === 0) return 0
    return values.length % 2 === 1 ? (values[middle] as number) : ((values[middle - 1] as number) + (values[middle] as number)) / 2
  }
}

interface Sums {
  weight: number
  leaves: number
}

interface Known {
  readonly open: { readonly candidate: Candidate; readonly weight: number }[]
  /** Weights of those in `open`, and the sum of the leaves of all peers that the block knows something of. */
  readonly all: Sums
  /** The same, of those that are vetted. */
  readonly vetted: Sums
  /** How many of them may be asked for blocks of which nothing is known. */
  likely: number
  /** Whether one that may have it has no space. */
  full: boolean
}

/** Whether a sum holds more than its part, beyond what rounding makes of it. */
function isMore(total: number, part: number): boolean {
  return total - part > 1e-9 * total
}

/** It had something. */
function isProvider(candidate: Candidate): boolean {
  return candidate.hit > 0
}

function isLikely(candidate: Candidate): boolean {
  return candidate.hit >= likelyHit
}

/** How likely it is that a peer, of which the block knows something, delivers it if it is asked now. */
function presenceOf(stance: Stance, candidate: Candidate, nowMs: number): number {
  if (stance.phase === 'have') return 1
  if (stance.phase !== 'timed-out') return 0
  return (stance.promised ? 1 : candidate.hit) * restFactor(stance.sinceMs, stance.restMs, nowMs)
}
