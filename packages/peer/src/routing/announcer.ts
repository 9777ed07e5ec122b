/** Tells routers, in the background, what is here. */
import { type BlockKey, blockKey, type CID } from '@shardswap/interface'
import type { Logger } from '@libp2p/interface'
import type { AnnouncePlan } from './announce-plan.ts'
import type { Announced } from './announced.ts'
import { announcesAtOnceMax, announcesWaitingMax, announceTimeoutMs, clockLookEveryMs } from './limits.ts'
import { orAborted } from './together.ts'
import { Turns } from './turns.ts'
import type { ProvideInit } from './types.ts'

export interface AnnouncerParts {
  readonly plan: AnnouncePlan
  readonly announced: Announced
  readonly keys: ProvideInit['keys']
  /** Tells the routers; fails where nobody was told. */
  readonly tell: (cid: CID, signal: AbortSignal) => Promise<void>
  /** What is no longer here: routers that would tell it again by themselves need not. */
  readonly untell: (cid: CID) => Promise<void>
  /** Milliseconds since 1970. */
  readonly nowMs: () => number
  readonly log: Logger
}

/** Goes by its plan; what is new is announced at once, as far as there is room. */
export class Announcer {
  readonly #parts: AnnouncerParts
  readonly #ending = new AbortController()
  readonly #turns = new Turns(announcesAtOnceMax)
  readonly #waiting = new Map<BlockKey, Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  #round: Promise<void> | undefined
  #announced = 0
  #failed = 0

  constructor(parts: AnnouncerParts) {
    this.#parts = parts
  }

  get waiting(): number {
    return this.#waiting.size
  }

  get announced(): number {
    return this.#announced
  }

  get failed(): number {
    return this.#failed
  }

  get nextRoundAtMs(): number {
    return this.#parts.plan.nextRoundAtMs
  }

  start(): void {
    this.#schedule()
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    clearTimeout(this.#timer)
    await this.#round
    await Promise.all(this.#waiting.values())
  }

  /** Announces something new, unless that was done a short while ago. Where too many wait, the next round finds it. */
  announce(cid: CID): void {
    if (this.#ending.signal.aborted) return
    if (this.#waiting.size < announcesWaitingMax) {
      void this.#announce(cid)
      return
    }
    const { plan, nowMs } = this.#parts
    plan.missed(nowMs())
    if (this.#round === undefined) this.#schedule()
  }

  #schedule(): void {
    if (this.#ending.signal.aborted) return
    clearTimeout(this.#timer)
    const { plan, nowMs } = this.#parts
    const waitMs = plan.waitMs(nowMs())
    this.#timer = setTimeout(
      () => {
        // Looked at again from time to time, for the clock may be set meanwhile.
        if (plan.waitMs(nowMs()) > 0) this.#schedule()
        else this.#round = this.#runRound()
      },
      Math.min(waitMs, clockLookEveryMs)
    )
    this.#timer.unref()
  }

  /** Never rejects. */
  async #runRound(): Promise<void> {
    const { plan, keys, nowMs, log } = this.#parts
    const { signal } = this.#ending
    const beginMs = nowMs()
    plan.beginRound()
    try {
      for await (const cid of keys({ signal })) {
        if (signal.aborted) return
        // A whole repo may have to be announced: no more than a queue of it is held.
        while (this.#waiting.size >= announcesWaitingMax) await Promise.race(this.#waiting.values())
        await this.#announceIfDue(cid)
      }
      await Promise.all(this.#waiting.values())
      if (plan.failed === 0 && !signal.aborted) await this.#forget(beginMs - plan.everyMs)
    } catch (error) {
      log.error('what is to be announced cannot be gone through - %e', error)
      plan.announced(nowMs(), false)
    } finally {
      plan.endRound(nowMs())
      this.#round = undefined
      this.#schedule()
    }
  }

  async #announceIfDue(cid: CID): Promise<void> {
    const { plan, announced, nowMs } = this.#parts
    const lastMs = await announced.lastMs(cid)
    if (lastMs !== undefined && !plan.isDue(lastMs, nowMs())) plan.later(lastMs)
    else void this.#announce(cid)
  }

  /** Resolves once it was announced, could not be, or was not due; never rejects. */
  async #announce(cid: CID): Promise<void> {
    const key = blockKey(cid)
    const before = this.#waiting.get(key)
    if (before !== undefined) return await before
    const announcing = this.#tell(cid).finally(() => this.#waiting.delete(key))
    this.#waiting.set(key, announcing)
    await announcing
  }

  async #tell(cid: CID): Promise<void> {
    const { plan, announced, tell, nowMs, log } = this.#parts
    const { signal } = this.#ending
    try {
      const done = await this.#turns.take(signal)
      try {
        if (!plan.isDue(await announced.lastMs(cid), nowMs())) return
        const end = AbortSignal.any([signal, AbortSignal.timeout(announceTimeoutMs)])
        await orAborted(tell(cid, end), end)
        await announced.note(cid, nowMs())
        plan.announced(nowMs(), true)
        this.#announced++
      } finally {
        done()
      }
    } catch (error) {
      if (signal.aborted) return
      log('%c could not be announced - %e', cid, error)
      plan.announced(nowMs(), false)
      this.#failed++
      if (this.#round !== undefined) return
      plan.missed(nowMs())
      this.#schedule()
    }
  }

  /** What was due, and the round did not meet, is no longer here. */
  async #forget(dueBeforeMs: number): Promise<void> {
    const { announced, untell } = this.#parts
    for await (const cid of announced.before(dueBeforeMs)) {
      if (this.#waiting.has(blockKey(cid))) continue
      await untell(cid)
      await announced.forget(cid)
    }
  }
}
