import type { BlockKey, PeerKey } from '@shardswap/interface'
import type { BackupReason, Chances, Delivery, Outcome, PeerStanding, ReliabilityCore, Turn } from './types.ts'
import type { Calibration, PeerScore, Recalled, ReliabilityInit, RememberedPeers } from './views.ts'

/** The reliability layer: every peer's record, and what follows from it. */
export class Reliability implements ReliabilityCore {
  /** What was taken back from the last run. */
  readonly recalled: Recalled = { peers: 0, rejected: 0, problem: undefined }
  readonly #init: ReliabilityInit

  constructor(init: ReliabilityInit) {
    this.#init = init
  }

  peerConnected(_peer: PeerKey, _nowMs: number): void {}

  peerDisconnected(_peer: PeerKey, _nowMs: number): void {}

  asked(_turn: Turn, _nowMs: number): void {}

  settled(_turn: Turn, _outcome: Outcome, _nowMs: number, _delivery?: Delivery): void {}

  ended(_key: BlockKey, _nowMs: number): void {}

  failedHard(_peer: PeerKey, _nowMs: number): void {}

  duplicated(_peer: PeerKey, _bytes: number): void {}

  standing(_peer: PeerKey, _nowMs: number): PeerStanding {
    return { score: 100, weight: 100, isVetted: false, shutOutUntilMs: Number.NEGATIVE_INFINITY }
  }

  mayPickNewcomer(): boolean {
    return true
  }

  picked(_isVetted: boolean): void {}

  failChance(_peer: PeerKey, chances: Chances): number {
    return 1 - chances.presence
  }

  lateAfterMs(_peer: PeerKey, _queuedBytes: number, _reason: 'late' | 'endgame'): number {
    return 1000
  }

  takeBackup(_reason: BackupReason, _failChance: number, _nowMs: number): boolean {
    return false
  }

  returnBackup(): void {}

  isFitForBackup(_peer: PeerKey): boolean {
    return false
  }

  /** Every peer that is remembered, the greatest score first. */
  scores(_nowMs: number): PeerScore[] {
    return []
  }

  /** How good the forecasts were. */
  calibration(): Calibration {
    return { forecasts: 0, failRate: 0, brier: 0, baseRateBrier: 0, calibrationError: 0 }
  }

  /** What is to be kept over a restart. */
  remember(nowMs: number): RememberedPeers {
    return { version: 1, wallMs: this.#init.wallMs + nowMs - this.#init.nowMs, own: [], peers: [] }
  }
}
