import { type BlockKey, Heap, type PeerKey, peerKey, seededRandom } from '@shardswap/interface'
import { expect, it } from 'vitest'
import type { Broker, Command } from '../src/index.ts'
import { at, scene, want } from './scene.ts'

/** Numbers from 0 to 1, the same for the same seed; seeds that follow each other must not begin alike. */
function dice(seed: number): () => number {
  const random = seededRandom(Math.imul(seed, 2654435761) || 1)
  return () => random.next()
}

const kinds = ['silent', 'liar', 'denier', 'half', 'old', 'mute', 'late'] as const

interface Remote {
  readonly kind: 'honest' | (typeof kinds)[number]
  readonly latencyMs: number
  /** Counts its connections; even while it is away. */
  epoch: number
}

/** A broker among peers of all kinds, one of them honest, who come and go; a virtual clock. */
class World {
  readonly broker: Broker
  readonly #next: () => number
  readonly #remotes = new Map<PeerKey, Remote>()
  readonly #events = new Heap<(nowMs: number) => void>()
  readonly #bytes: number

  constructor(seed: number) {
    const next = dice(seed)
    this.#next = next
    this.#bytes = [100, 8192, 262_144][Math.floor(next() * 3)] ?? 100
    const small = { queueWantsStart: 4, queueWantsMax: 8, queueHavesMax: 4, standingWantsMax: 2 }
    const limits = { giveUpMs: 1e9, ...(next() < 0.3 ? small : {}), ...(next() < 0.2 ? { candidatesMax: 5 } : {}) }
    this.broker = scene({ seed, limits })
    this.#remotes.set(peerKey('honest'), { kind: 'honest', latencyMs: 5 + next() * 200, epoch: 0 })
    for (let i = 0; i < 1 + next() * 15; i++) {
      const kind = kinds[Math.floor(next() * kinds.length)] ?? 'mute'
      this.#remotes.set(peerKey(`${kind} ${i}`), { kind, latencyMs: 1 + next() * 300, epoch: 0 })
    }
    for (const key of this.#remotes.keys()) this.#events.push(next() * 1000, (nowMs) => this.#comeAndGo(key, nowMs))
    for (let id = 0; id < 1 + next() * 4; id++) {
      if (id > 0) this.broker.openSession(id, {}, 0)
      const from = Math.floor(next() * 100)
      this.#events.push(next() * 1000, (nowMs) => want(this.broker, from, from + 150, nowMs, id))
      if (next() < 0.3) this.#events.push(1000 + next() * 3000, (nowMs) => this.broker.dropWant(id, at(from).key, nowMs))
    }
  }

  /** Until nothing is wanted, or for so long. Throws where it takes more steps than any honest run. */
  run(untilMs: number): void {
    let atOnce = 0
    for (let nowMs = 0; nowMs < untilMs;) {
      const dueMs = Math.min(this.#events.topKey ?? Number.POSITIVE_INFINITY, this.broker.wakeAtMs() ?? Number.POSITIVE_INFINITY)
      if (dueMs === Number.POSITIVE_INFINITY) return
      atOnce = dueMs <= nowMs ? atOnce + 1 : 0
      if (atOnce > 200) throw new Error(`the broker wants its turn again and again at ${nowMs}`)
      nowMs = Math.max(nowMs, dueMs)
      while ((this.#events.topKey ?? Number.POSITIVE_INFINITY) <= nowMs) this.#events.pop()?.(nowMs)
      this.#carryOut(this.broker.tick(nowMs), nowMs)
      if (this.#events.size === 0 && this.broker.gauges().wants === 0) return
    }
  }

  #comeAndGo(key: PeerKey, nowMs: number): void {
    const remote = this.#remotes.get(key)
    if (remote === undefined) return
    remote.epoch += 1
    if (remote.epoch % 2 === 1) this.broker.connectPeer(key, remote.kind !== 'old', nowMs)
    else this.broker.disconnectPeer(key, nowMs)
    const stays = remote.epoch % 2 === 1 && (remote.epoch >= 5 || this.#next() < 0.4)
    if (!stays) this.#events.push(nowMs + this.#next() * 2000, (laterMs) => this.#comeAndGo(key, laterMs))
  }

  #carryOut(commands: readonly Command[], nowMs: number): void {
    for (const command of commands) {
      const remote = command.type === 'send' ? this.#remotes.get(command.peer) : undefined
      if (command.type !== 'send' || remote === undefined) continue
      const { epoch, kind, latencyMs } = remote
      for (const { type, key } of command.entries) {
        if (type === 'cancel') continue
        const answer = (atMs: number): void => {
          if (remote.epoch === epoch) this.#answer(command.peer, kind, type, key, atMs)
        }
        this.#events.push(nowMs + latencyMs + (kind === 'late' ? 3000 : 0), answer)
      }
    }
  }

  #answer(peer: PeerKey, kind: Remote['kind'], type: string, key: BlockKey, nowMs: number): void {
    const isHave = type === 'want-have'
    if (kind === 'mute' || (kind === 'silent' && !isHave)) return
    const lacks = kind === 'denier' || (kind === 'liar' && !isHave) || (kind === 'half' && key.charCodeAt(key.length - 1) % 2 === 0)
    if (lacks) this.broker.receivePresence(peer, key, 'dont-have', nowMs)
    else if (isHave && (this.#bytes > 1024 || kind === 'liar' || kind === 'silent')) this.broker.receivePresence(peer, key, 'have', nowMs)
    else {
      this.broker.receiveBytes(peer, this.#bytes, nowMs)
      this.broker.receiveBlock(peer, key, this.#bytes, nowMs)
    }
  }
}

it('whatever others do, who stays and has all delivers all in the end, and the broker never spins', () => {
  for (let seed = 1; seed <= 120; seed++) {
    const world = new World(seed)
    world.run(400_000)
    expect({ seed, wants: world.broker.gauges().wants }).toEqual({ seed, wants: 0 })
  }
}, 120_000)
