import { assert, type BlockKey, type PeerKey, type Random } from '@shardswap/interface'
import { chooseBackup } from './backup.ts'
import { endingWantsMax, inlineBytesMax, linesMax, lookEveryMs, stepsMax, unknownHit } from './bounds.ts'
import type { Candidate } from './candidate.ts'
import { Candidates } from './candidates.ts'
import type { Ask, Decision } from './decision.ts'
import { Discovery } from './discovery.ts'
import type { SessionLimits } from './limits.ts'
import type { SessionOptions, SessionStanding } from './options.ts'
import { Partners } from './partners.ts'
import { Potential } from './potential.ts'
import { Search } from './search.ts'
import { BlockSizes } from './sizes.ts'
import { Space } from './space.ts'
import { Turns } from './turns.ts'
import type { BlockView, PeerView, SessionPorts } from './views.ts'
import { asksOut, exhaust, potentialOf, type Want } from './want.ts'
import { isPromised, Wants } from './wants.ts'

/**
 * One DAG's wants as a pure state machine. The broker tells it what happened
 * and asks it, when it has its turn, what it wants sent: `decide` gives one want
 * and whom to ask. It knows peers and blocks by the views that the broker keeps.
 *
 * Invariants: 1. A want is in one phase, and what that phase needs (a heap
 * entry, lines, a place among the exhausted) exists. 2. A want with a copy in
 * flight is not sent again. 3. `candidate.inFlight` counts the want-blocks that
 * this session has at that peer. 4. Whatever keeps a want from being sent wakes
 * it: space, an answer, a deadline, a peer that comes, or a time told by `wakeBy`.
 */
export class Session {
  /** What blocks are taken for before they are here. */
  readonly sizes = new BlockSizes()
  readonly #limits: SessionLimits
  readonly #ports: SessionPorts
  readonly #random: Random
  readonly #candidates: Candidates
  readonly #partners: Partners
  readonly #potential = new Potential()
  readonly #discovery: Discovery
  readonly #wants = new Wants()
  /** Those who delivered before they left: they come back as what they were. */
  readonly #formerly = new Set<PeerKey>()
  readonly #search: Search
  readonly #space: Space
  readonly #turns: Turns
  #nextTurn = 0
  #newest: Want | undefined
  #inFlight = 0
  #lastProgressMs: number
  #nextLookMs = Number.POSITIVE_INFINITY

  constructor(options: SessionOptions) {
    const { limits, random, ports, self, fixedPeers, nowMs } = options
    this.#limits = limits
    this.#ports = ports
    this.#random = random
    this.#candidates = new Candidates(limits, random, () => ports.mayPickNewcomer())
    this.#space = new Space(ports, this.#candidates)
    this.#turns = new Turns(this.#candidates, this.#wants)
    this.#partners = new Partners(self, limits.partnersMax)
    this.#discovery = new Discovery(limits, random, ports, this.#candidates, fixedPeers, nowMs)
    this.#search = new Search(limits, random, fixedPeers === undefined, nowMs)
    this.#lastProgressMs = nowMs
  }

  /** What the want that was looked at last is taken for: it may wait for space. */
  get nextBytes(): number {
    return this.#space.blockBytes
  }

  /** How many blocks are wanted. */
  get wants(): number {
    return this.#wants.size
  }

  /** How the session stands. */
  stat(): SessionStanding {
    const knownPeers = this.#candidates.size + this.#partners.size
    const records = this.#wants.size + this.#wants.exhausted.size + this.#wants.promised.size + knownPeers
    return { potential: this.#potential.value, wants: this.#wants.size, inFlight: this.#inFlight, knownPeers, records }
  }

  /** The keys of what is wanted, in the order of asking. */
  keys(): Iterable<BlockKey> {
    return this.#wants.keys()
  }

  /** How the want of a block stands; undefined where it is not wanted. */
  want(key: BlockKey): Want | undefined {
    return this.#wants.get(key)
  }

  /** What this session knows of a peer; undefined for one that it does not know. */
  candidate(peer: PeerKey): Candidate | undefined {
    return this.#candidates.get(peer)
  }

  /** A new want; where a copy is in flight already, it attaches to that (B19). */
  add(block: BlockView, nowMs: number): void {
    const isIdle = this.#wants.size === 0
    if (this.#nextTurn === 0) this.#search.begin(block.cid, nowMs)
    if (this.#nextTurn === 0) this.#candidates.opening = block
    const want: Want = {
      block,
      turn: this.#nextTurn++,
      state: { phase: 'in-flight' },
      deferred: false,
      waves: 0,
      exhaustions: 0,
      deniedUntilMs: Number.NEGATIVE_INFINITY,
      quietSinceMs: nowMs
    }
    this.#wants.add(want)
    this.#newest = want
    this.#turns.release()
    // What others were told of the block before holds for this session as well.
    for (const { phase, peer } of block.stances.values()) if (phase === 'have' && this.#discovery.allows(peer.key)) this.#meet(peer, 1)
    if (!isIdle) return
    // Time without wants is no time without progress.
    this.#lastProgressMs = Math.max(this.#lastProgressMs, nowMs)
    this.#nextLookMs = nowMs + lookEveryMs
    this.#ports.wakeBy(this.#nextLookMs)
  }

  /** The want is over for this session: delivered, dropped or given up. */
  remove(key: BlockKey): void {
    const want = this.#wants.get(key)
    if (want === undefined) return
    this.#wants.remove(want)
    if (this.#newest === want) this.#newest = undefined
  }

  /** The peer connected, or may be asked again. */
  peerCame(peer: PeerView): void {
    if (!this.#discovery.allows(peer.key)) return
    this.#discovery.peerCame(peer)
    if (this.#formerly.delete(peer.key)) this.#meet(peer, 1)
    this.#wants.wakeExhausted()
  }

  /** The peer left, or gets no more wants. Its copies ended before. */
  peerLeft(peer: PeerKey): void {
    this.#partners.remove(peer)
    const candidate = this.#candidates.get(peer)
    if (candidate === undefined) return
    this.#turns.end(candidate)
    this.#candidates.remove(candidate)
    this.#turns.release()
    if (candidate.blocks > 0 && this.#formerly.size < this.#limits.partnersMax) this.#formerly.add(peer)
  }

  /** Routing named the peer for a CID of this session (B5). */
  providerFound(peer: PeerView): void {
    if (!this.#discovery.allows(peer.key)) return
    this.#meet(peer, 1)
    this.#wants.wakeExhausted()
  }

  /** The peer asked us for a block that this session wants: it fetches the same (B7). */
  partnerFound(peer: PeerView): void {
    if (this.#discovery.allows(peer.key) && peer.supportsHave) this.#partners.add(peer)
  }

  /** There is space at a peer where the session was in line, and it is this session's turn. */
  spaceAt(peer: PeerKey): void {
    const candidate = this.#candidates.get(peer)
    if (candidate === undefined) return
    candidate.waiting = false
    this.#candidates.refresh(candidate)
    this.#turns.next(candidate)
  }

  /** The broker put a want-block of this session into the peer's queue. */
  sentBlock(peer: PeerView): void {
    // A copy that another session left may be at a peer that this one must not ask.
    const candidate = this.#discovery.allows(peer.key) ? this.#candidates.add(peer, 0, true) : undefined
    this.#inFlight += 1
    if (candidate === undefined) return
    candidate.inFlight += 1
    this.#candidates.refresh(candidate)
    // Where there was space for one there may be for the next in line.
    if (!candidate.waiting && candidate.inFlight < candidate.limit) this.#turns.next(candidate)
  }

  /** A want-block of this session is no longer out at the peer, whatever became of it. With the last one, nobody is sooner than those held back. */
  freedBlock(peer: PeerKey): void {
    this.#inFlight -= 1
    assert(this.#inFlight >= 0, 'no want-block is freed twice')
    if (this.#inFlight === 0) this.#turns.release()
    const candidate = this.#candidates.get(peer)
    if (candidate === undefined || candidate.inFlight === 0) return
    candidate.inFlight -= 1
    this.#candidates.refresh(candidate)
    if (!candidate.waiting) this.#turns.next(candidate)
  }

  /** What stands at peers for one of its wants changed. */
  changed(key: BlockKey): void {
    const want = this.#wants.get(key)
    if (want === undefined) return
    if (want.block.inFlight > 0) {
      if (want.state.phase !== 'in-flight') this.#wants.move(want, { phase: 'in-flight' })
    } else if (want.state.phase !== 'asked' || want.block.havesAsked === 0 || isPromised(want)) this.#wants.setReady(want)
  }

  /** The peer said whether it has a block; `wasAsked`: in answer to us, not because it just got it. */
  answered(key: BlockKey, peer: PeerView, has: boolean, wasAsked: boolean): void {
    if (has) this.#discovery.answered()
    const candidate = this.#candidates.get(peer.key)
    if (candidate === undefined && has && this.#discovery.allows(peer.key)) {
      // One that just got the block fetches the DAG itself: it has a part, and says which.
      this.#meet(peer, wasAsked ? 1 : 0)
    } else if (candidate !== undefined && wasAsked) this.#candidates.answer(candidate, has)
    const want = this.#wants.get(key)
    if (want === undefined) return
    if (has) want.deferred = false
    this.changed(key)
  }

  /** A peer answered after its want had ended, so it has this session's DAG, or a part. */
  joined(peer: PeerView): void {
    if (!this.#discovery.allows(peer.key)) return
    this.#discovery.answered()
    this.#meet(peer, 1)
  }

  /** A want-block of this session had its time at a peer (B15, B17). What waits for space at one that rests is looked for elsewhere. */
  timedOut(key: BlockKey, peer: PeerKey, sentAtMs: number, nowMs: number): void {
    this.#potential.lacked()
    const candidate = this.#candidates.get(peer)
    if (candidate === undefined) return
    this.#candidates.timeOut(candidate, sentAtMs, nowMs)
    this.#turns.release()
    if (candidate.restUntilMs <= nowMs) return
    this.#turns.end(candidate)
    this.#wakeBy(candidate.restUntilMs)
    const want = this.#wants.get(key)
    // What fails where nobody else is awake, or once more at one peer, has a later turn, by chance: the peer may have others.
    const isAgain = (want?.block.stances.get(peer)?.restMs ?? 0) > 0
    if (want !== undefined && (isAgain || this.#candidates.awakeLikely === 0))
      want.turn = this.#nextTurn++ + Math.floor(this.#random.next() * this.#wants.size)
  }

  /** A block came. Its want is removed; what the peer is credited with comes by `completed`. */
  arrived(key: BlockKey, bytes: number, nowMs: number): void {
    const want = this.#wants.get(key)
    if (want !== undefined) this.sizes.add(want.block.cid, bytes)
    this.#lastProgressMs = nowMs
    this.#search.restart(nowMs)
    this.#potential.arrived(false)
    this.#discovery.answered()
    this.remove(key)
  }

  /** The peer sent a block that it was asked for in its turn; a backup's tells the session nothing (P7). `wasPromised`: it had said HAVE, so that it delivers shows nothing more. */
  completed(peer: PeerView, wasPromised: boolean, nowMs: number): void {
    // One that is gone or shut out would be a provider that no want ever gets to.
    if (!this.#discovery.allows(peer.key) || !peer.isUsable(nowMs)) return
    const candidate = this.#meet(peer, 1)
    if (candidate === undefined) return
    if (this.#candidates.receive(candidate)) this.#wants.wake()
    // A promise may have come while the block was on its way, and was no answer then.
    if (!wasPromised || candidate.hit === 0) this.#candidates.answer(candidate, true)
    if (!candidate.waiting) this.#turns.next(candidate)
  }

  /** What the peer's score is worth changed. */
  rescored(peer: PeerKey): void {
    const candidate = this.#candidates.get(peer)
    if (candidate !== undefined) this.#candidates.refresh(candidate)
  }

  /** How likely it is that the peer has a block of this session of which it did not say so. */
  hitRate(peer: PeerKey): number {
    return this.#candidates.get(peer)?.hit ?? unknownHit
  }

  /** All that is left is on its way, and it is little: what is late now holds the end of the fetch up. */
  get isEnding(): boolean {
    return this.#wants.size <= endingWantsMax && this.#wants.top() === undefined
  }

  /** Who is to be asked for a block beside the peer that has the want (C5), of those that are fit for it. */
  backupFor(block: BlockView, isFit: (peer: PeerView) => boolean, random: Random): PeerView | undefined {
    return chooseBackup(this.#candidates, block, this.sizes.expected(block.cid), isFit, random)
  }

  /** One of its wants came before the peer had answered whether it has it. */
  unheard(peer: PeerKey, nowMs: number): void {
    this.#discovery.unheard(peer, nowMs)
  }

  /** A block came once more, from a peer that was asked for it before. */
  duplicated(peer: PeerView): void {
    this.#potential.arrived(true)
    this.joined(peer)
    const candidate = this.#candidates.get(peer.key)
    // Its copy was not the first, but it is a block that the peer delivered (B12).
    if (candidate !== undefined && this.#candidates.receive(candidate)) this.#wants.wake()
  }

  /** What to send next, to whom; undefined where there is nothing now (B24, B26). */
  decide(nowMs: number): Decision | undefined {
    for (let steps = 0; steps < stepsMax; steps++) {
      const want = this.#wants.top()
      if (want === undefined) {
        if (this.#turns.goOn()) continue
        return this.#searchNow(nowMs) ?? this.#probe(nowMs)
      }
      const placed = this.#place(want, nowMs)
      if (placed === 'next') continue
      if (placed === 'stalled') this.#turns.goOn()
      return placed === 'stalled' ? (this.#searchNow(nowMs) ?? this.#whileStalled(want, nowMs)) : placed
    }
    return { kind: 'more' }
  }

  #searchNow(nowMs: number): Decision | undefined {
    const cid = this.#search.next(this.#wants, this.#candidates.providers, nowMs)
    return cid === undefined ? undefined : { kind: 'search', cid }
  }

  /** Looks at what is past its time. Returns the wants that got nowhere for too long, with the time that nothing went on. */
  tick(nowMs: number): { readonly want: Want; readonly quietMs: number }[] {
    if (this.#wants.size === 0) {
      this.#nextLookMs = Number.POSITIVE_INFINITY
      return []
    }
    let nextMs = nowMs + lookEveryMs
    for (const want of this.#wants.exhausted) {
      if (want.state.phase !== 'exhausted') continue
      if (want.state.untilMs <= nowMs) this.#wants.setReady(want)
      else nextMs = Math.min(nextMs, want.state.untilMs)
    }
    if (this.#candidates.wakeRested(nowMs)) this.#wants.wake()
    nextMs = Math.min(nextMs, this.#candidates.restedAtMs)
    this.#turns.release()
    if (nowMs - this.#lastProgressMs >= lookEveryMs) this.#potential.lacked()
    if (this.#discovery.probeAtMs > nowMs) nextMs = Math.min(nextMs, this.#discovery.probeAtMs)
    const quiet = this.#wants.quiet(this.#lastProgressMs, this.#limits.giveUpMs, nowMs)
    this.#nextLookMs = nextMs
    return quiet
  }

  /** When `tick` is to be called next. */
  get nextLookMs(): number {
    return this.#nextLookMs
  }

  /** The one decision for one want: the peer that gets it, or why nobody does now. */
  #place(want: Want, nowMs: number): Decision | 'next' | 'stalled' {
    const { block } = want
    this.#space.blockBytes = this.sizes.expected(block.cid)
    const told = this.#tellOwner(want, nowMs)
    if (told !== undefined) return told
    const older = nowMs - this.#lastProgressMs < lookEveryMs ? undefined : this.#discovery.older(want, this.#space.isAtPeer, nowMs)
    if (older !== undefined) return { kind: 'ask', want, asks: [{ peer: older, type: 'want-block' }] }
    const rest = { bytes: this.#wants.size * this.nextBytes, blockBytes: this.nextBytes, inFlight: this.#inFlight }
    const choice = this.#candidates.choose(block, rest, this.#space.isAt, nowMs)
    if (choice.kind === 'peer') {
      const { candidate, isContested } = choice
      const ask: Ask = { peer: candidate.peer, type: 'want-block', isContested }
      return { kind: 'ask', want, asks: [ask, ...this.#besides(want, candidate, nowMs)] }
    }
    if (choice.kind === 'nobody') return this.#look(want, nowMs)
    if (choice.kind === 'awaits') this.#wakeBy(choice.untilMs)
    if (choice.kind === 'awaits' || block.stances.size === 0) return 'stalled'
    const at = this.#candidates.fullFor(block, linesMax, nowMs)
    if (at.length === 0) return this.#look(want, nowMs)
    this.#wants.move(want, { phase: 'blocked', at })
    return 'next'
  }

  /** Tells the partner that is to fetch a block first that we want it, where it was not told yet: the want has a later turn then. */
  #tellOwner(want: Want, nowMs: number): Decision | undefined {
    if (want.deferred || this.nextBytes <= inlineBytesMax) return undefined
    const owner = this.#partners.ownerOf(want.block.key)
    if (owner === undefined || want.block.stances.has(owner.key) || !owner.isUsable(nowMs) || !owner.hasHaveSpace) return undefined
    // One that has the whole DAG is a provider like others.
    if (this.#candidates.get(owner.key)?.isSure === true) return undefined
    want.deferred = true
    return { kind: 'ask', want, asks: [{ peer: owner, type: 'want-have' }] }
  }

  /** What potential is left beside a want-block buys want-haves, where it is not sure that the peer has the block (B10). */
  #besides(want: Want, chosen: Candidate, nowMs: number): Ask[] {
    if (chosen.isSure || want.block.stances.get(chosen.peer.key)?.promised === true) return []
    return this.#haves(want, potentialOf(want, this.#potential.value) - 1, chosen, nowMs)
  }

  #haves(want: Want, potential: number, but: Candidate | undefined, nowMs: number): Ask[] {
    return this.sizes.expected(want.block.cid) <= inlineBytesMax ? [] : this.#discovery.unsure(want, Math.floor(potential), but, nowMs)
  }

  /** Nobody who is known has it: others are asked whether they do, or it is exhausted for a while. */
  #look(want: Want, nowMs: number): Decision | 'next' | 'stalled' {
    if (this.#meetPromised(want, nowMs)) return 'next'
    if (want.block.havesAsked > 0) {
      this.#wants.move(want, { phase: 'asked' })
      return 'next'
    }
    const lone = this.#discovery.lone()
    if (lone !== undefined) return this.#askLone(want, lone, nowMs)
    // Until somebody is known to have the DAG, it is asked for by its first CID alone (B4).
    const isFirst = this.#candidates.awakeProviders === 0
    if (isFirst ? this.#wants.asking + this.#inFlight > 0 : this.#wants.asking >= this.#limits.discoveriesMax) return 'stalled'
    const asks = this.#discovery.look(want, isFirst, this.#space.isAtPeer, nowMs)
    // The one peer that is left has no space: the session is in line there.
    if (asks === 'full') return 'stalled'
    if (asks.length === 0) {
      this.#exhaust(want, nowMs)
      return 'next'
    }
    want.waves += 1
    this.#wants.move(want, { phase: 'asked' })
    return { kind: 'ask', want, asks }
  }

  /** One said HAVE when the session knew as many as it may. */
  #meetPromised(want: Want, nowMs: number): boolean {
    for (const { phase, peer } of want.block.stances.values()) {
      if (phase !== 'have' || this.#candidates.get(peer.key) !== undefined) continue
      if (this.#discovery.allows(peer.key) && peer.isUsable(nowMs) && this.#meet(peer, 1) !== undefined) return true
    }
    return false
  }

  /** There is one peer in all: whether it has a block shows as soon by asking for the block itself. */
  #askLone(want: Want, peer: PeerView, nowMs: number): Decision | 'next' | 'stalled' {
    if (!this.#discovery.isOpen(want.block, peer, nowMs, want.deniedUntilMs)) {
      this.#exhaust(want, nowMs)
      return 'next'
    }
    return this.#space.isAtPeer(peer) ? { kind: 'ask', want, asks: [{ peer, type: 'want-block' }] } : 'stalled'
  }

  #exhaust(want: Want, nowMs: number): void {
    const untilMs = exhaust(want, this.#limits.askAgainMs, nowMs)
    this.#wants.move(want, { phase: 'exhausted', untilMs })
    this.#wakeBy(untilMs)
    this.#search.exhausted()
  }

  #wakeBy(atMs: number): void {
    this.#nextLookMs = Math.min(this.#nextLookMs, atMs)
    this.#ports.wakeBy(atMs)
  }

  /** Every provider is full: promised wants may still fit, the rest learns where it is, and more providers are looked for. */
  #whileStalled(top: Want, nowMs: number): Decision | undefined {
    let left = stepsMax
    for (const want of this.#wants.promised) {
      if (left-- === 0) break
      const placed = want === top ? 'stalled' : this.#place(want, nowMs)
      if (typeof placed !== 'string') return placed
      // There is more to look at only where looking changes anything: else it would go on for ever.
      if (placed === 'next') return { kind: 'more' }
    }
    if (top.state.phase === 'ready' && asksOut(top) === 0 && this.#candidates.size > 1) {
      const asks = this.#haves(top, this.#potential.value, undefined, nowMs)
      if (asks.length > 0) return { kind: 'ask', want: top, asks }
    }
    if (this.#candidates.providers > 0) {
      const newest = this.#idleNewest() ?? top
      const asks = this.#discovery.widen(newest, nowMs, this.sizes.expected(newest.block.cid) <= inlineBytesMax)
      if (asks.length > 0) return { kind: 'ask', want: newest, asks }
    }
    return this.#probe(nowMs)
  }

  #probe(nowMs: number): Decision | undefined {
    // Once the newest is over, the oldest may be one that a silent provider keeps.
    const want = this.#idleNewest() ?? this.#newest ?? this.#wants.oldest
    if (want === undefined || this.#candidates.providers === 0) return undefined
    const asks = this.#discovery.probe(want, nowMs)
    return asks.length === 0 ? undefined : { kind: 'ask', want, asks }
  }

  /** The want that came last, where it is not on its way. */
  #idleNewest(): Want | undefined {
    return this.#newest?.state.phase === 'ready' ? this.#newest : undefined
  }

  /** A peer is known to have the DAG, or a part: what waits for space at others may go to it. */
  #meet(peer: PeerView, hit: number): Candidate | undefined {
    const known = this.#candidates.get(peer.key)
    const candidate = known ?? this.#candidates.add(peer, hit)
    if (known !== undefined || candidate === undefined) return candidate
    for (const want of this.#candidates.someBlocked(candidate.limit)) this.#wants.setReady(want)
    return candidate
  }
}
