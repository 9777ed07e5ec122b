import { setTimeout as sleep } from 'node:timers/promises'
import type { WantlistEntry } from '@shardswap/protocol'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { cidsOf } from '../content.ts'
import type { AttackDone, AttackInit } from './api.ts'
import { Foe } from './foe.ts'

const sha256 = 0x12
const raw = 0x55
/** So long a turned-away identity waits before it knocks again. */
const knockAgainMs = 100

/** One attack from its first connection to its last. */
export class Attack {
  readonly #init: AttackInit
  readonly #cids: readonly CID[]
  readonly #stopping = new AbortController()
  readonly #under = Promise.withResolvers<void>()
  readonly #startMs = performance.now()
  readonly #seats: Promise<void>[]
  readonly #count = { wants: 0, messages: 0, identities: 0, refusals: 0, resets: 0, receivedBytes: 0 }
  #made = 0
  #lackingMade = 0

  constructor(init: AttackInit) {
    this.#init = init
    this.#cids = init.ask === 'lacking' || init.ask === 'abreast' ? [] : cidsOf(init.blocks)
    this.#seats = Array.from({ length: Math.min(init.identities, init.identitiesAtOnce) }, async () => await this.#sit())
  }

  /** Resolves once it is under way. */
  async underWay(): Promise<void> {
    // On a machine that gives it no time, it may be over before.
    await Promise.race([this.#under.promise, Promise.all(this.#seats)])
  }

  async finish(): Promise<AttackDone> {
    const isShort = (): boolean => this.#count.wants < this.#init.wantsMin || this.#count.identities < this.#init.identities
    while (isShort() && !this.#isOver) await this.#wait(50)
    this.#stopping.abort()
    await Promise.all(this.#seats)
    return { ...this.#count, seconds: this.#seconds }
  }

  get #seconds(): number {
    return (performance.now() - this.#startMs) / 1000
  }

  get #isOver(): boolean {
    return this.#stopping.signal.aborted || this.#seconds > this.#init.secondsMax
  }

  /** One place among those who are connected: an identity takes it after another. */
  async #sit(): Promise<void> {
    while (!this.#isOver) {
      const isAnyLeft = this.#made < this.#init.identities
      if (!isAnyLeft) return
      this.#made += 1
      const foe = await this.#knock()
      if (foe === undefined) return
      this.#count.identities += 1
      try {
        await this.#ask(foe)
      } catch {
        this.#count.resets += 1
      }
      await foe.leave()
    }
  }

  async #knock(): Promise<Foe | undefined> {
    const { address, isDeaf } = this.#init
    const onBytes = (bytes: number): void => {
      this.#count.receivedBytes += bytes
    }
    while (!this.#isOver) {
      try {
        return await Foe.connect(address, { isDeaf, onBytes })
      } catch {
        this.#count.refusals += 1
        await this.#wait(knockAgainMs)
      }
    }
    return undefined
  }

  async #ask(foe: Foe): Promise<void> {
    const untilMs = performance.now() + this.#init.stayMs
    while (!this.#isOver) {
      await this.#once(foe)
      this.#count.messages += 1
      if (this.#count.identities * 2 >= this.#seats.length) this.#under.resolve()
      await this.#wait(this.#init.everyMs)
      if (this.#made < this.#init.identities && performance.now() > untilMs) return
    }
  }

  async #once(foe: Foe): Promise<void> {
    const { ask, wantsPerMessage, streams } = this.#init
    if (ask === 'lacking') await foe.send({ entries: this.#lacking(wantsPerMessage) })
    else if (ask === 'abreast') {
      await foe.sendAbreast({ entries: this.#lacking(wantsPerMessage) }, streams)
      this.#count.wants += wantsPerMessage * (streams - 1)
    } else if (ask === 'present') await foe.send({ entries: this.#present(wantsPerMessage), full: true })
    else if (ask === 'cancels') {
      const wants = this.#present(wantsPerMessage)
      await foe.send({ entries: wants })
      await foe.send({ entries: wants.map((entry) => ({ ...entry, cancel: true })) })
    } else {
      await Promise.all(this.#present(wantsPerMessage).map(async (entry) => await foe.sendAlone({ entries: [entry] })))
    }
    this.#count.wants += wantsPerMessage
  }

  /** Of every kind in turn. */
  #lacking(count: number): WantlistEntry[] {
    return Array.from({ length: count }, () => {
      const digest = Buffer.alloc(32)
      digest.writeUInt32BE(++this.#lackingMade)
      const cid = CID.createV1(raw, createDigest(sha256, digest))
      const wantType = this.#lackingMade % 2 === 0 ? 'block' : 'have'
      return { cid, priority: 1, cancel: false, wantType, sendDontHave: this.#lackingMade % 4 < 2 }
    })
  }

  #present(count: number): WantlistEntry[] {
    return Array.from({ length: count }, (_, index) => {
      const cid = this.#cids[index % this.#cids.length]
      if (cid === undefined) throw new RangeError('an attack on blocks that are there names some')
      return { cid, priority: 1, cancel: false, wantType: 'block', sendDontHave: true }
    })
  }

  /** Lets others have their turn even where there is nothing to wait for. */
  async #wait(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined)
  }
}
