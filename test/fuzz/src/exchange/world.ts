import type { Command, ExchangeCore } from '@shardswap/broker'
import { type BlockKey, type PeerKey, peerKey } from '@shardswap/interface'
import { createExchangeCore, type PeerLimits, peerLimits } from '@shardswap/peer'
import type { Random } from '../random.ts'
import { Broken } from './broken.ts'
import { Honest } from './honest.ts'
import { Judge, type JudgeKind } from './judge.ts'
import { blocks, chance, numberOf, type Setting, settingOf } from './setting.ts'

export interface OpenSession {
  readonly fixed: ReadonlySet<PeerKey> | undefined
  readonly wants: Set<BlockKey>
}

/** Calls of `tick` at one time, before it counts as a loop without end. */
const ticksMax = 1000
/** A block is taken for what others were before it is here: of the large ones below, for so much at most. */
export const strayBytesMax = 4_000_000

/** One core, the peers around it, and a second account of what sessions want, to hold it against. */
export class World {
  readonly random: Random
  readonly setting: Setting
  readonly limits: PeerLimits
  readonly core: ExchangeCore
  readonly judge: Judge | undefined
  readonly honest: readonly Honest[]
  readonly sessions = new Map<number, OpenSession>()
  nowMs = 0
  #nextSession = 0
  readonly #onLine: ((line: string) => void) | undefined

  constructor(random: Random, judge: { readonly kind: JudgeKind; readonly random: Random }, onLine?: (line: string) => void) {
    this.random = random
    this.#onLine = onLine
    this.setting = settingOf(random)
    this.limits = peerLimits(this.setting.limits)
    const next = (): number => random.below(2 ** 32) / 2 ** 32
    this.judge = judge.kind === 'none' ? undefined : new Judge(judge.kind, judge.random)
    this.core = createExchangeCore({ self: peerKey('me'), random: { next }, limits: this.setting.limits, reliability: this.judge })
    const of = 1 + random.below(3)
    this.honest = Array.from({ length: of }, (_, i) => new Honest(i, of, random))
    for (const { key, supportsHave } of this.honest) this.core.connectPeer(key, supportsHave, 0)
    this.say(
      JSON.stringify({ judge: judge.kind, ...this.setting, honest: this.honest.map(({ key, supportsHave }) => [key, supportsHave]) })
    )
  }

  say(line: string): void {
    this.#onLine?.(`${this.nowMs.toFixed(0)} ms ${line}`)
  }

  openSession(): void {
    const among = [...this.honest.map(({ key }) => key), ...this.setting.wild]
    const fixed = chance(this.random, 30) ? new Set(among.filter(() => chance(this.random, 30))) : undefined
    this.core.openSession(this.#nextSession, { fixedPeers: fixed }, this.nowMs)
    this.sessions.set(this.#nextSession++, { fixed, wants: new Set() })
  }

  closeSession(id: number): void {
    this.core.closeSession(id, this.nowMs)
    this.sessions.delete(id)
  }

  want(id: number, number: number): void {
    const { cid, key } = blocks[number] as (typeof blocks)[number]
    this.core.addWant(id, cid, key, this.nowMs)
    this.sessions.get(id)?.wants.add(key)
  }

  drop(id: number, key: BlockKey): void {
    this.core.dropWant(id, key, this.nowMs)
    this.sessions.get(id)?.wants.delete(key)
  }

  /** The block is here: nobody wants it any more. */
  readonly ended = (key: BlockKey): void => {
    for (const { wants } of this.sessions.values()) wants.delete(key)
  }

  /** Wants that some honest peer can fill which their session may ask. */
  fillable(): { readonly id: number; readonly key: BlockKey }[] {
    const found: { readonly id: number; readonly key: BlockKey }[] = []
    for (const [id, { fixed, wants }] of this.sessions) {
      const allowed = this.honest.filter(({ key }) => fixed?.has(key) !== false)
      for (const key of wants) if (allowed.some((peer) => peer.has(key))) found.push({ id, key })
    }
    return found
  }

  /** Lets honest peers answer, and the core do all that is to be done now. */
  settle(): void {
    const answering = { core: this.core, blockBytes: this.setting.blockBytes, ended: this.ended }
    for (const peer of this.honest) {
      const wrong = peer.answer(answering, this.nowMs)
      if (wrong !== undefined) throw new Broken(wrong)
    }
    this.take(this.core.decide(this.nowMs))
    for (let ticks = 0; ; ticks++) {
      const wakeMs = this.core.wakeAtMs()
      if (wakeMs === undefined || wakeMs > this.nowMs) return
      if (ticks > ticksMax) throw new Broken('the core has always more to do at one time')
      this.take(this.core.tick(this.nowMs))
    }
  }

  take(commands: readonly Command[]): void {
    for (const command of commands) {
      if (command.type !== 'send') {
        this.say(command.type)
        continue
      }
      this.say(`${command.peer} <- ${command.entries.map(({ type, key }) => `${type} ${numberOf(key)}`).join(', ')}`)
      const keys = new Set(command.entries.map(({ key }) => key))
      if (keys.size < command.entries.length) throw new Broken('a message names a block twice')
      const peer = this.honest.find(({ key }) => key === command.peer)
      for (const entry of command.entries) {
        if (entry.type !== 'cancel' && !this.#mayAsk(command.peer, entry.key)) throw new Broken('an ask that no session may send')
        peer?.receive(entry, this.nowMs)
      }
    }
  }

  #mayAsk(peer: PeerKey, key: BlockKey): boolean {
    for (const { fixed, wants } of this.sessions.values()) if (wants.has(key) && fixed?.has(peer) !== false) return true
    return false
  }
}
