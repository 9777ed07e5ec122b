import { blockKeyOfMultihash, peerKey, type BlockKey, type PeerKey } from '@shardswap/interface'
import { Reliability, type ReliabilityInit } from '../src/index.ts'
import type { Outcome, Role } from '../src/types.ts'

export const hourMs = 60 * 60 * 1000
export const dayMs = 24 * hourMs
/** A Monday in November, at half past nine. */
export const wallMs = Date.UTC(2026, 10, 30, 9, 30)

export function peerNamed(name: string | number): PeerKey {
  return peerKey(`peer${name}`)
}

function keyNamed(number: number): BlockKey {
  return blockKeyOfMultihash(Uint8Array.of(0x12, 4, number >> 24, number >> 16, number >> 8, number))
}

/** A reliability layer with a clock of its own, and short words for what happens to it. */
export class Scene {
  readonly core: Reliability
  nowMs: number
  #keys = 0

  constructor(init: Partial<ReliabilityInit> = {}) {
    this.nowMs = init.nowMs ?? 0
    this.core = new Reliability({ wallMs, ...init, nowMs: this.nowMs })
  }

  connect(...names: (string | number)[]): void {
    for (const name of names) this.core.peerConnected(peerNamed(name), this.nowMs)
  }

  disconnect(...names: (string | number)[]): void {
    for (const name of names) this.core.peerDisconnected(peerNamed(name), this.nowMs)
  }

  /** So many wants are asked of the peer, one after the other, each of which comes to this end. */
  turns(name: string | number, outcome: Outcome, times = 1, latencyMs = 20, role: Role = 'primary'): void {
    for (let time = 0; time < times; time++) {
      const turn = { key: keyNamed(this.#keys++), peer: peerNamed(name), role, failChance: 0 }
      this.core.asked(turn, this.nowMs)
      this.nowMs += latencyMs
      const delivery = outcome === 'success' ? { latencyMs, bytes: 1000, queuedBytes: 1000 } : undefined
      this.core.settled(turn, outcome, this.nowMs, delivery)
      this.core.ended(turn.key, this.nowMs)
    }
  }

  /** So many wants are out at the peer when its line is cut. */
  fail(name: string | number, wants: number): void {
    const turns = Array.from({ length: wants }, () => {
      return { key: keyNamed(this.#keys++), peer: peerNamed(name), role: 'primary', failChance: 0 } as const
    })
    for (const turn of turns) this.core.asked(turn, this.nowMs)
    for (const turn of turns) this.core.settled(turn, 'reset', this.nowMs)
    for (const { key } of turns) this.core.ended(key, this.nowMs)
  }

  /** Time passes, long enough for the cohort's figures to be taken anew. */
  pass(ms = 1000): void {
    this.nowMs += ms
  }

  score(name: string | number): number {
    return this.core.standing(peerNamed(name), this.nowMs).score
  }

  weight(name: string | number): number {
    return this.core.standing(peerNamed(name), this.nowMs).weight
  }

  isVetted(name: string | number): boolean {
    return this.core.standing(peerNamed(name), this.nowMs).isVetted
  }

  returnLeftMs(name: string | number): number | undefined {
    return this.core.scores(this.nowMs).find(({ peer }) => peer === peerNamed(name))?.returnLeftMs
  }

  shutOutUntilMs(name: string | number): number {
    return this.core.standing(peerNamed(name), this.nowMs).shutOutUntilMs
  }
}
