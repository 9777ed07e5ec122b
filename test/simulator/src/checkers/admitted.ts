import { Admission, type AdmissionInit, type AdmissionView, type ClientKey, type Decision, type OwnerKey } from '@shardswap/server'
import type { PeerKey } from '@shardswap/interface'
import { Violation } from './violation.ts'

/** Requests of one owner that were admitted, or of nobody's. */
export interface Admitted {
  readonly atMs: number
  readonly owner: OwnerKey | undefined
  readonly requests: number
}

/** What is looked at of an owner, or of those without one. */
type Standing = Pick<AdmissionView['free'], 'score' | 'decision'>

/**
 * Invariant 9, from an account of its own: no more is open than Cap_max, and as many as were admitted and have not ended;
 * nobody is admitted while somebody with a higher score would be turned away, nor the other way round.
 */
export class AdmittedCount {
  readonly #openMax: number
  #open = 0

  constructor(openRequestsMax: number) {
    this.#openMax = openRequestsMax
  }

  /** So many requests with this score are admitted, as all others stand just before. */
  admit(score: number, requests: number, standings: readonly Standing[]): void {
    const passedOver = standings.find((each) => each.score > score && each.decision.action !== 'admit')
    if (passedOver !== undefined) {
      throw new Violation('admission', `a request with a score of ${score} is admitted, and one with ${passedOver.score} is not`)
    }
    this.#open += requests
    if (this.#open > this.#openMax) throw new Violation('admission', `${this.#open} requests are open, of ${this.#openMax}`)
  }

  /** A request with this score waits or is refused. */
  turnAway(score: number, standings: readonly Standing[]): void {
    const preferred = standings.find((each) => each.score < score && each.decision.action === 'admit')
    if (preferred === undefined) return
    throw new Violation('admission', `a request with a score of ${score} is turned away, and one with ${preferred.score} is not`)
  }

  end(requests: number): void {
    this.#open -= requests
    if (this.#open < 0) throw new Violation('admission', 'more requests have ended than were admitted')
  }

  /** Compares with what admission says of itself. */
  check(open: number): void {
    if (open !== this.#open) throw new Violation('admission', `${open} requests are said to be open, and ${this.#open} are`)
  }
}

/** The production admission, looked at in each of its decisions, and what it admitted when. */
export class WatchedAdmission extends Admission {
  readonly admitted: Admitted[] = []
  readonly #count: AdmittedCount
  readonly #owners = new Map<PeerKey, OwnerKey>()

  constructor(init: AdmissionInit) {
    super(init)
    this.#count = new AdmittedCount(init.limits.openRequestsMax)
  }

  /** After a step of the node. */
  check(): void {
    this.#count.check(this.open)
  }

  override identified(peer: PeerKey, key: ClientKey, owner: OwnerKey, nowMs: number): boolean {
    const isTaken = super.identified(peer, key, owner, nowMs)
    if (isTaken) this.#owners.set(peer, owner)
    return isTaken
  }

  override left(peer: PeerKey): void {
    this.#owners.delete(peer)
    super.left(peer)
  }

  override admit(peer: PeerKey, requests: number, nowMs: number): void {
    const owner = this.#owners.get(peer)
    const view = this.view(nowMs)
    this.#count.admit(scoreIn(view, owner), requests, standingsIn(view))
    this.admitted.push({ atMs: nowMs, owner, requests })
    super.admit(peer, requests, nowMs)
  }

  override turnAway(peer: PeerKey, requests: number, nowMs: number): Decision {
    const view = this.view(nowMs)
    this.#count.turnAway(scoreIn(view, this.#owners.get(peer)), standingsIn(view))
    return super.turnAway(peer, requests, nowMs)
  }

  override ended(peer: PeerKey, requests: number, how: { readonly isServed: boolean; readonly wasLate?: boolean }, nowMs: number): void {
    super.ended(peer, requests, how, nowMs)
    this.#count.end(requests)
  }
}

function standingsIn({ free, owners }: AdmissionView): Standing[] {
  return [free, ...owners]
}

function scoreIn({ free, owners }: AdmissionView, owner: OwnerKey | undefined): number {
  return owner === undefined ? free.score : (owners.find(({ owner: key }) => key === owner)?.score ?? NaN)
}
