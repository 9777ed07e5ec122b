import type { PeerKey, Random } from '@shardswap/interface'
import type { Candidate } from './candidate.ts'
import type { Candidates } from './candidates.ts'
import type { SessionLimits } from './limits.ts'
import type { Ask } from './decision.ts'
import type { BlockView, PeerView, SessionPorts } from './views.ts'
import type { Want } from './want.ts'
import { isPromised } from './wants.ts'

/** Peers that waves have asked, remembered so that each is asked once; more than it are left to the probes. */
const askedMax = 4096
/** Providers looked at for one want, to find some that are not sure to have it. */
const unsureMax = 16
/** A wave that nobody answered for so long does not hold the next one back. */
const waveAnswerMs = 1000
/** Peers looked at for each that a wave may ask. */
const stepsPerPeer = 8
/** Longer than what is asked for may take, so that others have their turns as well. */
const olderEveryMs = 10_000
/** An answer that was overtaken by a block may take so long. */
const unheardMinMs = 50

/**
 * Whom a session asks whether they have a block: for wants that no provider is
 * known for, in growing waves (B4); while all providers are full, so that more
 * join; and from time to time those who had nothing (B7).
 */
export class Discovery {
  readonly #limits: SessionLimits
  readonly #random: Random
  readonly #ports: SessionPorts
  readonly #candidates: Candidates
  readonly #fixed: ReadonlySet<PeerKey> | undefined
  /** Those who were asked, with the time from which they may be asked again: never, but see `unheard`. */
  readonly #asked = new Map<PeerKey, number>()
  /** The first of these times. */
  #reopenMs = Number.POSITIVE_INFINITY
  #wavePeers: number
  #waveAtMs = Number.NEGATIVE_INFINITY
  /** Somebody answered since the last wave. */
  #isAnswered = true
  /** Nobody is left for a wave, until another peer comes. */
  #isExhausted = false
  /** Peers that came since the last probe. */
  #newcomers: PeerView[] = []
  #probeAtMs: number
  #olderAtMs = Number.NEGATIVE_INFINITY
  #probeEveryMs: number

  constructor(
    limits: SessionLimits,
    random: Random,
    ports: SessionPorts,
    candidates: Candidates,
    fixed: ReadonlySet<PeerKey> | undefined,
    nowMs: number
  ) {
    this.#limits = limits
    this.#random = random
    this.#ports = ports
    this.#candidates = candidates
    this.#fixed = fixed
    this.#wavePeers = limits.waveStartPeers
    this.#probeEveryMs = limits.probeStartMs
    this.#probeAtMs = nowMs + limits.probeStartMs
  }

  /** When the next probe is due. */
  get probeAtMs(): number {
    return this.#probeAtMs
  }

  allows(peer: PeerKey): boolean {
    return this.#fixed === undefined || this.#fixed.has(peer)
  }

  /** The only peer that the session may ask, where there is but one. */
  lone(): PeerView | undefined {
    const { peers } = this.#ports
    if (this.#fixed?.size === 1) return peers.find((peer) => this.allows(peer.key))
    const only = peers[0]
    return peers.length === 1 && only !== undefined && this.allows(only.key) ? only : undefined
  }

  /** A peer came that the session may ask: it is probed at once, and waves may go on. */
  peerCame(peer: PeerView): void {
    this.#isExhausted = false
    if (this.#newcomers.length < this.#limits.waveStartPeers) this.#newcomers.push(peer)
  }

  /** Somebody said HAVE or delivered. */
  answered(): void {
    this.#isAnswered = true
  }

  /**
   * What the peer was asked for came from another before it answered, and our CANCEL may have come before that
   * answer: unless it joins within twice the time that the others took, it is asked for another block.
   */
  unheard(peer: PeerKey, nowMs: number): void {
    if (!this.#asked.has(peer)) return
    const againMs = nowMs + Math.max(unheardMinMs, 2 * (nowMs - this.#waveAtMs))
    this.#asked.set(peer, againMs)
    this.#reopenMs = Math.min(this.#reopenMs, againMs)
  }

  /**
   * For a want that nobody who is known can deliver. Empty where nobody is left to ask; `full` where the
   * one who is left has no space. `isFirst`: nobody is known at all yet. `hasSpaceAt`: whether a want-block fits there.
   */
  look(want: Want, isFirst: boolean, hasSpaceAt: (peer: PeerView, others?: number) => boolean, nowMs: number): Ask[] | 'full' {
    const count = Math.min(this.#limits.waveStartPeers * 2 ** want.waves, this.#limits.waveMaxPeers)
    const open = this.#walk(2 * count + 2, (peer) => this.isOpen(want.block, peer, nowMs, want.deniedUntilMs))
    const asks: Ask[] = []
    let blocks = 0
    for (const peer of open) {
      // Whether a lone peer has it shows as soon by asking for the block itself.
      if (asks.length >= count || open.length === 1) break
      if (peer.supportsHave && peer.hasHaveSpace) asks.push({ peer, type: 'want-have' })
      // Older protocols know no want-have: the first CID is asked for as it is (B4).
      else if (!peer.supportsHave && isFirst && hasSpaceAt(peer, blocks)) {
        asks.push({ peer, type: 'want-block' })
        blocks += 1
      }
    }
    const lone = open[0]
    if (asks.length === 0 && lone !== undefined) return hasSpaceAt(lone) ? [{ peer: lone, type: 'want-block' }] : 'full'
    this.#sent(asks, nowMs)
    return asks
  }

  /**
   * Providers are full and wants wait: the next wave, of peers that were not asked yet, and of those unheard;
   * not of these where blocks are small: they would send the block, and it would be a duplicate.
   */
  widen(want: Want, nowMs: number, isSmall = false): Ask[] {
    if (nowMs >= this.#reopenMs && !isSmall) this.#reopen(nowMs)
    if (this.#isExhausted || !this.#isAnswered || this.#asked.size >= askedMax) {
      if (nowMs - this.#waveAtMs < waveAnswerMs || this.#isExhausted) return []
    }
    const isNew = (peer: PeerView): boolean =>
      peer.supportsHave &&
      peer.hasHaveSpace &&
      (isSmall ? !this.#asked.has(peer.key) : (this.#asked.get(peer.key) ?? 0) <= nowMs) &&
      this.#candidates.get(peer.key) === undefined &&
      this.isOpen(want.block, peer, nowMs)
    const asks = this.#walk(this.#wavePeers, isNew).map((peer): Ask => ({ peer, type: 'want-have' }))
    if (asks.length === 0) this.#isExhausted = true
    this.#wavePeers = Math.min(2 * this.#wavePeers, this.#limits.waveMaxPeers)
    this.#sent(asks, nowMs)
    return asks
  }

  /** B7: connected peers that no draw falls on, strangers and those that had nothing so far, are asked now and then for a want that will not be here soon, newcomers at once. */
  probe(want: Want, nowMs: number): Ask[] {
    const isOther = (peer: PeerView): boolean =>
      peer.supportsHave && peer.hasHaveSpace && !this.#candidates.isDrawn(peer.key) && this.isOpen(want.block, peer, nowMs)
    let found = this.#newcomers.splice(0).filter((peer) => isOther(peer) && !this.#asked.has(peer.key))
    if (nowMs >= this.#probeAtMs) {
      // A die of a tenth keeps many sessions from asking at one moment.
      this.#probeAtMs = nowMs + this.#probeEveryMs * (0.95 + 0.1 * this.#random.next())
      this.#probeEveryMs = Math.min(2 * this.#probeEveryMs, this.#limits.probeMaxMs)
      found = this.#walk(this.#limits.waveStartPeers, isOther)
    }
    const asks = found.map((peer): Ask => ({ peer, type: 'want-have' }))
    this.#sent(asks, nowMs)
    return asks
  }

  /**
   * A peer with an older protocol that no draw falls on, for a want of a session that nothing arrives for: whether it
   * has the block shows only by asking for the block, so it is one now and then, and none while others deliver.
   */
  older(want: Want, hasSpaceAt: (peer: PeerView) => boolean, nowMs: number): PeerView | undefined {
    if (nowMs < this.#olderAtMs || isPromised(want)) return undefined
    this.#olderAtMs = nowMs + olderEveryMs
    const fits = (peer: PeerView): boolean =>
      !peer.supportsHave && !this.#candidates.isDrawn(peer.key) && this.isOpen(want.block, peer, nowMs) && hasSpaceAt(peer)
    return this.#walk(1, fits)[0]
  }

  /** Up to `count` providers that may have a block and are not sure to: one of them is asked for it, or will be. */
  unsure(want: Want, count: number, but: Candidate | undefined, nowMs: number): Ask[] {
    const asks: Ask[] = []
    const { size } = this.#candidates
    const start = Math.floor(this.#random.next() * size)
    for (let i = 0; i < Math.min(size, unsureMax) && asks.length < count; i++) {
      const candidate = this.#candidates.at((start + i) % size)
      if (candidate === undefined || candidate === but || candidate.isSure || want.block.stances.has(candidate.peer.key)) continue
      const { peer } = candidate
      if (peer.supportsHave && peer.hasHaveSpace && peer.isUsable(nowMs)) asks.push({ peer, type: 'want-have' })
    }
    return asks
  }

  #reopen(nowMs: number): void {
    this.#isExhausted = false
    this.#reopenMs = Number.POSITIVE_INFINITY
    for (const againMs of this.#asked.values()) if (againMs > nowMs) this.#reopenMs = Math.min(this.#reopenMs, againMs)
  }

  #sent(asks: readonly Ask[], nowMs: number): void {
    if (asks.length === 0) return
    this.#waveAtMs = nowMs
    this.#isAnswered = false
    for (const { peer } of asks) if (this.#asked.size < askedMax) this.#asked.set(peer.key, Number.POSITIVE_INFINITY)
  }

  /** Whether a peer may be asked for a block now: nothing is out at it, and what it last said is long ago; a denial stands until `deniedUntilMs`. */
  isOpen(block: BlockView, peer: PeerView, nowMs: number, deniedUntilMs = Number.NEGATIVE_INFINITY): boolean {
    if (!this.allows(peer.key) || !peer.isUsable(nowMs) || this.#candidates.isResting(peer.key)) return false
    const stance = block.stances.get(peer.key)
    if (stance === undefined) return true
    if (stance.phase === 'timed-out') return nowMs - stance.sinceMs >= stance.restMs
    return stance.phase === 'dont-have' && nowMs >= deniedUntilMs && nowMs - stance.sinceMs >= this.#limits.askAgainMs
  }

  /**
   * Up to `count` of the connected peers that fit, from a random one on. Of four one may be a newcomer, however many
   * there are: whoever connects a thousand identities must not be all that a session gets to know.
   */
  #walk(count: number, fits: (peer: PeerView) => boolean): PeerView[] {
    const { peers, vetted } = this.#ports
    const known = vetted.length === 0 ? [] : this.#scan(vetted, count, vetted.length, fits)
    // Among very many who are vetted a newcomer is not looked for through all of them.
    const stepsMax = known.length < count ? peers.length : stepsPerPeer * count
    const others = this.#scan(peers, count, stepsMax, (peer) => !peer.isVetted && fits(peer))
    if (known.length === 0) return others
    const found: PeerView[] = []
    for (let k = 0, o = 0; found.length < count && (k < known.length || o < others.length);) {
      const peer = found.length % 4 === 3 || k === known.length ? (others[o++] ?? known[k++]) : known[k++]
      if (peer !== undefined) found.push(peer)
    }
    return found
  }

  /** Up to `count` that fit, from a random one on, and no more than so many looked at. */
  #scan(peers: readonly PeerView[], count: number, stepsMax: number, fits: (peer: PeerView) => boolean): PeerView[] {
    const found: PeerView[] = []
    const start = Math.floor(this.#random.next() * peers.length)
    for (let i = 0; i < Math.min(peers.length, stepsMax) && found.length < count; i++) {
      const peer = peers[(start + i) % peers.length]
      if (peer !== undefined && fits(peer)) found.push(peer)
    }
    return found
  }
}
