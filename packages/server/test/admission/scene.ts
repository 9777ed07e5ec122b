import { peerKey, type PeerKey } from '@shardswap/interface'
import { Admission, type AdmissionMode, type Decision } from '../../src/admission/admission.ts'
import { clientKey, ownerKey, type ClientKey, type OwnerKey } from '../../src/admission/binding.ts'
import { verifyAdmissionLimits, type AdmissionLimits } from '../../src/admission/limits.ts'

export const hourMs = 60 * 60 * 1000
/** A Monday in November, at half past nine. */
export const wallMs = Date.UTC(2026, 10, 30, 9, 30)

export const peerOf = (name: string | number): PeerKey => peerKey(`peer ${name}`)
export const keyOf = (name: string | number): ClientKey => clientKey(`client ${name}`)
export const ownerOf = (name: string | number): OwnerKey => ownerKey(`owner ${name}`)
export const serverOf = (name: string | number): PeerKey => peerKey(`server ${name}`)

/** Admission with a clock of its own, and short words for what happens to it. An owner's server and peer bear its name. */
export class Scene {
  readonly core: Admission
  /** Requests of each peer that were admitted and have not ended. */
  readonly open = new Map<string | number, number>()
  nowMs = 0

  constructor(limits: Partial<AdmissionLimits> = {}, mode: AdmissionMode = 'open') {
    this.core = new Admission({ mode, limits: verifyAdmissionLimits(limits), wallMs, nowMs: 0 })
  }

  /** An owner with a server and one peer that asks in its name. */
  enter(name: string | number, tests: { received: number; lost?: number } = { received: 0 }): PeerKey {
    this.core.follow([{ type: 'server', server: serverOf(name), owner: ownerOf(name) }], this.nowMs)
    this.core.identified(peerOf(name), keyOf(name), ownerOf(name), this.nowMs)
    this.test(name, tests)
    return peerOf(name)
  }

  test(name: string | number, { received = 0, lost = 0 }): void {
    for (let at = 0; at < received; at++) this.core.tested(serverOf(name), true, this.nowMs)
    for (let at = 0; at < lost; at++) this.core.tested(serverOf(name), false, this.nowMs)
  }

  request(name: string | number): Decision {
    const peer = peerOf(name)
    const decision = this.core.judge(peer, this.nowMs)
    if (decision.action !== 'admit') return this.core.turnAway(peer, 1, this.nowMs)
    this.core.admit(peer, 1, this.nowMs)
    this.open.set(name, (this.open.get(name) ?? 0) + 1)
    return decision
  }

  /** `request`, as one word. */
  ask(name: string | number): string {
    const { action, reason } = this.request(name)
    return `${action}: ${reason}`
  }

  /** So many requests that are admitted and stay open. */
  fill(name: string | number, requests: number): void {
    for (let at = 0; at < requests; at++) {
      const { action, reason } = this.request(name)
      if (action !== 'admit') throw new Error(`the request ${at} of ${name} was told ${action}, ${reason}`)
    }
  }

  /** So many requests that are admitted, one after the other, and served. */
  serve(name: string | number, requests: number): void {
    for (let at = 0; at < requests; at++) {
      this.fill(name, 1)
      this.end(name, 1)
    }
  }

  end(name: string | number, requests: number, isServed = true): void {
    this.core.ended(peerOf(name), requests, { isServed }, this.nowMs)
    this.open.set(name, (this.open.get(name) ?? 0) - requests)
  }

  score(name: string | number): number {
    const seen = this.core.view(this.nowMs).owners.find(({ owner }) => owner === ownerOf(name))
    if (!seen) throw new Error(`nothing is known of ${name}`)
    return seen.score
  }
}
