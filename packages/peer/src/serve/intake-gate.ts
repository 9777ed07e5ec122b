import type { PeerKey } from '@shardswap/interface'
import { Intake, type IntakeLimits } from '@shardswap/server'

/** How often it is asked who need not wait any longer, in milliseconds. */
const tickMs = 5

/** Where messages wait, unread, whose senders have said more than their share; see `Intake`. */
export class IntakeGate {
  readonly #intake: Intake
  readonly #nowMs: () => number
  readonly #waiting = new Map<PeerKey, (() => void)[]>()
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(limits: IntakeLimits, nowMs: () => number) {
    this.#intake = new Intake(limits)
    this.#nowMs = nowMs
  }

  /** Resolves when the peer's next message may be looked at: ask again then. Undefined: now. */
  wait(peer: PeerKey): Promise<void> | undefined {
    if (this.#stopped || !this.#intake.mustWait(peer, this.#nowMs())) return undefined
    this.#timer ??= setTimeout(this.#tick, tickMs)
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(peer)
      if (waiting === undefined) this.#waiting.set(peer, [resolve])
      else waiting.push(resolve)
    })
  }

  /** A message of the peer's was read; `talkMs` of that for what is no block. */
  took(peer: PeerKey, talkMs: number): void {
    this.#intake.took(peer, talkMs, this.#nowMs())
  }

  left(peer: PeerKey): void {
    this.#intake.forget(peer)
    this.#go(peer)
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    for (const peer of Array.from(this.#waiting.keys())) this.left(peer)
  }

  readonly #tick = (): void => {
    const nowMs = this.#nowMs()
    for (const peer of Array.from(this.#waiting.keys())) if (!this.#intake.mustWait(peer, nowMs)) this.#go(peer)
    this.#timer = this.#waiting.size === 0 || this.#stopped ? undefined : setTimeout(this.#tick, tickMs)
  }

  #go(peer: PeerKey): void {
    const waiting = this.#waiting.get(peer) ?? []
    this.#waiting.delete(peer)
    for (const go of waiting) go()
  }
}
