import type { PeerKey } from '@shardswap/interface'
import type { Admission, Decision } from './admission/admission.ts'
import type { Ledger } from './ledger.ts'
import type { ServeLimits } from './limits.ts'
import type { Envelope } from './want.ts'

/** A peer for whose wants there was no room: they wait, or were refused. */
export interface TurnedAway {
  readonly peer: PeerKey
  readonly decision: Decision
  readonly requests: number
}

/**
 * Between the scheduler and admission: how many wants of a peer may be taken, and what of that is open. Rules:
 * G1. Each want that is taken into an envelope is admitted, and open until the envelope is written or given up. One for which
 *     there is no room waits in its queue (mode `open`), which counts once until the peer has its turn again, or is refused with
 *     DONT_HAVE (`registered`). Want-haves that are answered with small blocks count alike.
 * G2. While a client with a proven owner has something to be served, and reads it, all those without have `strangersBytesMax`
 *     in memory together, and what the last of them has above it: were it to fit, small blocks would pass a large one for ever.
 *     Proven is an owner of whose servers one was verified of late, since a binding costs nothing. Admission says who waits;
 *     this keeps those who wait for nobody from being delayed by all who are served beside them.
 * G3. Who has the free score waits for as long as more requests are open than that: for ever, beside a single client whose
 *     owner has a higher score and that asks without end for small blocks. So once in `newcomerAfterMs` the stranger that has
 *     waited longest, and for that long, has its way: nobody else is given anything until so few are open that it is admitted,
 *     but for `sendSlowMs` at most, in which what is open is written or late. It is admitted by its score like everybody.
 * G4. Nobody is refused by an idle server: where all that is open is the peer's own, and nobody else was refused within
 *     `newcomerAfterMs`, what there is no room for waits in any mode. A client alone that asks for small blocks has more of them
 *     on their way than its score.
 */
export class Gate {
  readonly #admission: Admission
  readonly #limits: Pick<ServeLimits, 'strangersBytesMax' | 'newcomerAfterMs' | 'sendSlowMs'>
  /** (G2) Ledgers with a proven owner that have something to be served, and read it. */
  readonly #owned = new Set<Ledger>()
  #strangersBytes = 0
  /** Envelopes whose sends take long, the longest first. */
  readonly #late = new Set<Envelope>()
  readonly #turnedAway = new Map<PeerKey, TurnedAway>()
  /** (G3) Strangers that wait to be admitted, the longest first, and since when. */
  readonly #waiting = new Map<Ledger, number>()
  /** (G4) Who was refused last, and when another was before. */
  #refused: { readonly peer: PeerKey; readonly atMs: number } | undefined
  #otherRefusedMs = Number.NEGATIVE_INFINITY
  /** (G3) When one of them last had its way, or did not get it in time. */
  #hadWayMs = Number.NEGATIVE_INFINITY

  constructor(admission: Admission, limits: Pick<ServeLimits, 'strangersBytesMax' | 'newcomerAfterMs' | 'sendSlowMs'>) {
    this.#admission = admission
    this.#limits = limits
  }

  /** Nothing is served at all. */
  get isShut(): boolean {
    return this.#admission.mode === 'off'
  }

  /** (G2) */
  isStranger(peer: PeerKey, nowMs: number): boolean {
    return !this.#admission.isBacked(peer, nowMs)
  }

  /**
   * How many wants of the peer, whose turn it is, may be taken for one envelope. Where there is no room it waits from now on, or
   * was refused. Where others stand in line (`isAlone` is false), an envelope gets a quarter of what there is, and what is read
   * ahead leaves half alone, so that it goes round.
   */
  room(ledger: Ledger, isAlone: boolean, nowMs: number): number {
    // (G2)
    if (this.#strangersHaveAll && this.isStranger(ledger.peer, nowMs)) return 0
    const room = this.#admission.room(ledger.peer, nowMs)
    if (room > 0) {
      if (this.#yields(ledger, nowMs)) return 0
      if (isAlone) return room
      const part = Math.ceil(room / 4)
      return ledger.hasEnvelope ? Math.max(0, Math.min(part, Math.floor((room - this.#admission.counted) / 2))) : part
    }
    // (G1)
    if (this.#admission.mode === 'open') {
      if (!ledger.waits) this.turnAway(ledger, 1, nowMs)
      ledger.waits = true
      const mayWaitLong = this.#admission.freeScore > 0 && !ledger.slow && !this.#admission.hasOwner(ledger.peer)
      if (mayWaitLong && !this.#waiting.has(ledger)) this.#waiting.set(ledger, nowMs)
    } else if (this.#isIdle(ledger, nowMs)) ledger.waits = true
    else {
      this.turnAway(ledger, ledger.queuedBlocks, nowMs)
      ledger.refuseQueued()
    }
    return 0
  }

  /** Whether a peer is to be told DONT_HAVE in place of its block or HAVE; asked before either is promised. */
  refuses(ledger: Ledger, nowMs: number): boolean {
    if (this.#admission.mode === 'open' || this.#admission.room(ledger.peer, nowMs) > 0 || this.#isIdle(ledger, nowMs)) return false
    this.turnAway(ledger, 1, nowMs)
    return true
  }

  turnAway(ledger: Ledger, requests: number, nowMs: number): void {
    const { peer } = ledger
    ledger.turnedAway += requests
    const decision = this.#admission.turnAway(peer, requests, nowMs)
    if (this.#refused !== undefined && this.#refused.peer !== peer) this.#otherRefusedMs = this.#refused.atMs
    this.#refused = { peer, atMs: nowMs }
    this.#turnedAway.set(peer, { peer, decision, requests: requests + (this.#turnedAway.get(peer)?.requests ?? 0) })
  }

  /** Who had to wait or was refused since this was last asked, and why. */
  takeTurnedAway(): readonly TurnedAway[] {
    if (this.#turnedAway.size === 0) return []
    const taken = Array.from(this.#turnedAway.values())
    this.#turnedAway.clear()
    return taken
  }

  /** (G2) Whether a peer has something to be served, and reads it. */
  attend(ledger: Ledger, isServed: boolean, nowMs: number): void {
    if (isServed && !this.isStranger(ledger.peer, nowMs)) this.#owned.add(ledger)
    else this.#owned.delete(ledger)
  }

  /** (G2) Whether it has a proven owner, something to be served, and reads it. */
  isAttended(ledger: Ledger): boolean {
    return this.#owned.has(ledger)
  }

  /** It waits for nothing any more, or reads too slowly for anybody to wait for it. */
  waitsNoMore(ledger: Ledger): void {
    this.#waiting.delete(ledger)
    if (ledger.queuedBlocks === 0) ledger.waits = false
  }

  forget(ledger: Ledger): void {
    this.#owned.delete(ledger)
    this.#waiting.delete(ledger)
    this.#turnedAway.delete(ledger.peer)
  }

  /** (G1) The envelope was made of wants for which there was room. */
  took(envelope: Envelope, nowMs: number): void {
    if (envelope.requests === 0) return
    envelope.ledger.waits = false
    const sinceMs = this.#waiting.get(envelope.ledger) ?? nowMs
    if (nowMs - sinceMs >= this.#limits.newcomerAfterMs) this.#hadWayMs = nowMs
    this.#waiting.delete(envelope.ledger)
    this.#admission.admit(envelope.ledger.peer, envelope.requests, nowMs)
    if (envelope.isStrangers) this.#strangersBytes += envelope.bytes
  }

  /** The envelope's send takes long: it is in nobody's way any more. */
  late(envelope: Envelope): void {
    if (envelope.requests === 0) return
    if (envelope.isStrangers) this.#strangersBytes -= envelope.bytes
    this.#admission.late(envelope.ledger.peer, envelope.requests)
    this.#late.add(envelope)
  }

  /** Peers whose sends take longest: as many as it takes to free so many bytes, and to keep what is overdue in its part. */
  tooLate(excessBytes: number): PeerKey[] {
    let bytes = excessBytes
    let requests = this.#admission.overdue - this.#admission.overdueMax
    const peers: PeerKey[] = []
    for (const envelope of this.#late) {
      if (bytes <= 0 && requests <= 0) break
      peers.push(envelope.ledger.peer)
      bytes -= envelope.bytes
      requests -= envelope.requests
    }
    return peers
  }

  /** (G1) The envelope is over; so many of its blocks were written. */
  ended(envelope: Envelope, blocksWritten: number, nowMs: number): void {
    const { ledger, requests, isLate } = envelope
    this.#late.delete(envelope)
    if (envelope.isStrangers && !isLate) this.#strangersBytes -= envelope.bytes
    this.#admission.ended(ledger.peer, blocksWritten, { isServed: true, wasLate: isLate }, nowMs)
    this.#admission.ended(ledger.peer, requests - blocksWritten, { isServed: false, wasLate: isLate }, nowMs)
  }

  /** (G2) */
  get #strangersHaveAll(): boolean {
    return this.#owned.size > 0 && this.#strangersBytes >= this.#limits.strangersBytesMax
  }

  /** (G4) */
  #isIdle({ peer }: Ledger, nowMs: number): boolean {
    const { peer: refused, atMs = Number.NEGATIVE_INFINITY } = this.#refused ?? {}
    const otherMs = refused === peer ? this.#otherRefusedMs : atMs
    return nowMs - otherMs >= this.#limits.newcomerAfterMs && this.#admission.isAlone(peer, nowMs)
  }

  /** (G3) */
  #yields(ledger: Ledger, nowMs: number): boolean {
    const { newcomerAfterMs, sendSlowMs } = this.#limits
    const [longest] = this.#waiting
    if (longest === undefined || longest[0] === ledger || this.#strangersHaveAll) return false
    const waitedMs = nowMs - Math.max(longest[1], this.#hadWayMs)
    if (waitedMs >= newcomerAfterMs + sendSlowMs) this.#hadWayMs = nowMs
    return waitedMs >= newcomerAfterMs && waitedMs < newcomerAfterMs + sendSlowMs
  }
}
