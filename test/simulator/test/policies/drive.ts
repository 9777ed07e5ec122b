import type { Arrival, Command, ExchangeCore, Gauges } from '@shardswap/broker'
import { blockKey, CID, peerKey, type BlockKey, type PeerKey, type Random } from '@shardswap/interface'
import { create } from 'multiformats/hashes/digest'
import { expect } from 'vitest'
import { baselines } from '../../src/policies/index.ts'
import type { PolicyOptions, World } from '../../src/policy.ts'

/** Numbers that a test gives, again and again. */
export function numbers(...values: readonly number[]): Random {
  let next = 0
  return { next: () => values[next++ % values.length] ?? 0 }
}

/** A world in which every peer would deliver everything in no time. */
const plainWorld: World = { delivers: () => true, deliveryMs: () => 0 }

const names = new Map<BlockKey, string>()

/** A block's CID by the name that a test gives it. */
function cidOf(name: string): CID {
  const cid = CID.createV1(0x55, create(0x12, new TextEncoder().encode(name.padEnd(32, '.'))))
  names.set(blockKey(cid), name)
  return cid
}

/**
 * A policy with events given to it by hand. Peers are named by capital letters and blocks by anything else. What it
 * does is kept as lines: `20 A: block x, have y, cancel z`, `1000 A times out on x`, `1000 find x`, `60000 give up x`.
 */
export class Drive {
  readonly core: ExchangeCore
  nowMs = 0
  #lines: string[] = []

  constructor(policy: string, options: Partial<PolicyOptions> = {}) {
    const found = baselines.find(({ name }) => name === policy)
    if (found === undefined) throw new Error(`no policy is called ${policy}`)
    this.core = found.create({ self: peerKey('self'), random: numbers(0), world: plainWorld, ...options })
  }

  /** What it has done since the last time. */
  get lines(): string[] {
    return this.#lines.splice(0)
  }

  get gauges(): Gauges {
    return this.core.gauges()
  }

  connect(peers: string, supportsHave = true): this {
    for (const peer of peers) this.core.connectPeer(peer as PeerKey, supportsHave, this.nowMs)
    return this.decide()
  }

  disconnect(peer: string): this {
    this.core.disconnectPeer(peer as PeerKey, this.nowMs)
    return this.decide()
  }

  open(id = 1, fixed?: string): this {
    const fixedPeers = fixed === undefined ? undefined : new Set(fixed.split('') as PeerKey[])
    this.core.openSession(id, { fixedPeers }, this.nowMs)
    return this.decide()
  }

  close(id = 1): this {
    this.core.closeSession(id, this.nowMs)
    return this.decide()
  }

  want(blocks: string, id = 1): this {
    for (const name of blocks.split(' ')) this.core.addWant(id, cidOf(name), blockKey(cidOf(name)), this.nowMs)
    return this.decide()
  }

  drop(blocks: string, id = 1): this {
    for (const name of blocks.split(' ')) this.core.dropWant(id, blockKey(cidOf(name)), this.nowMs)
    return this.decide()
  }

  found(peer: string, id = 1): this {
    this.core.providerFound(id, peer as PeerKey, this.nowMs)
    return this.decide()
  }

  /** One message, as in `A: have x y, dont-have z, block w`; blocks have 1,000 bytes. */
  says(message: string): this {
    this.hears(message)
    return this.decide()
  }

  /** As `says`, without a decision after it: for what comes at the same moment. */
  hears(message: string): Arrival[] {
    const [peer = '', text = ''] = message.split(': ')
    const arrivals: Arrival[] = []
    for (const part of text.split(', ')) {
      const [kind, ...blocks] = part.split(' ')
      for (const name of blocks) {
        const key = blockKey(cidOf(name))
        if (kind === 'block') {
          this.core.receiveBytes(peer as PeerKey, 1000, this.nowMs)
          arrivals.push(this.core.receiveBlock(peer as PeerKey, key, 1000, this.nowMs))
        } else this.core.receivePresence(peer as PeerKey, key, kind === 'have' ? 'have' : 'dont-have', this.nowMs)
      }
    }
    return arrivals
  }

  bytes(peer: string, bytes: number): this {
    this.core.receiveBytes(peer as PeerKey, bytes, this.nowMs)
    return this
  }

  decide(): this {
    this.#keep(this.core.decide(this.nowMs))
    return this
  }

  /** Lets the time go on, with a tick whenever it asks for one. */
  until(nowMs: number): this {
    for (let wakeMs = this.core.wakeAtMs(); wakeMs !== undefined && wakeMs <= nowMs; wakeMs = this.core.wakeAtMs()) {
      this.nowMs = Math.max(this.nowMs, wakeMs)
      this.#keep(this.core.tick(this.nowMs))
    }
    this.nowMs = nowMs
    return this
  }

  #keep(commands: readonly Command[]): void {
    for (const command of commands) this.#lines.push(`${this.nowMs} ${lineOf(command)}`)
  }
}

function lineOf(command: Command): string {
  if (command.type === 'send') {
    const keys = command.entries.map(({ key }) => key)
    expect(new Set(keys).size).toBe(keys.length)
    return `${command.peer}: ${command.entries.map(({ type, key }) => `${type.replace('want-', '')} ${nameOf(key)}`).join(', ')}`
  }
  if (command.type === 'timed-out') return `${command.peer} times out on ${nameOf(command.key)}`
  if (command.type === 'give-up') return `give up ${nameOf(command.key)}`
  return `find ${nameOf(blockKey(command.cid))}`
}

function nameOf(key: BlockKey): string {
  return names.get(key) ?? '?'
}

/** All that must be nothing once the last session has ended. */
export const nothing: Omit<Gauges, 'peers'> = { sessions: 0, wants: 0, inFlight: 0, inFlightBytes: 0, backups: 0, haves: 0, records: 0 }
