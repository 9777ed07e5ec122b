import { createHash } from 'node:crypto'
import { type BlockKey, blockKey, CID, type PeerKey, peerKey } from '@shardswap/interface'
import type { Outcome, ReliabilityCore } from '@shardswap/reliability'
import { defaultSessionLimits, Session, type SessionLimits } from '@shardswap/session'
import { create } from 'multiformats/hashes/digest'
import { indifferent } from '../src/indifferent.ts'
import { Broker, type BrokerLimits, type Command, defaultBrokerLimits, type SessionInit } from '../src/index.ts'
import { seeded } from '../../session/test/scene.ts'

export const A = peerKey('A')
export const B = peerKey('B')
export const limits = { ...defaultBrokerLimits, ...defaultSessionLimits }

interface Named {
  readonly cid: CID
  readonly key: BlockKey
}

const named = new Map<number, Named>()
const numbers = new Map<BlockKey, number>()

/** The block number `i`. */
export function at(i: number): Named {
  let block = named.get(i)
  if (block === undefined) {
    const cid = CID.createV1(0x55, create(0x12, new Uint8Array(createHash('sha256').update(`block ${i}`).digest())))
    block = { cid, key: blockKey(cid) }
    named.set(i, block)
    numbers.set(block.key, i)
  }
  return block
}

export interface SceneOptions {
  readonly peers?: readonly PeerKey[]
  readonly limits?: Partial<BrokerLimits & SessionLimits>
  readonly seed?: number
  readonly self?: PeerKey
  readonly session?: SessionInit
  readonly reliability?: ReliabilityCore
  readonly backups?: boolean
}

/** A broker with session 0 open, and peers that know want-have connected. */
export function scene(options: SceneOptions = {}): Broker {
  const all = { ...limits, ...options.limits }
  const self = options.self ?? peerKey('self')
  const broker = new Broker({
    limits: all,
    random: seeded(options.seed ?? 7),
    reliability: options.reliability,
    backups: options.backups,
    openSession: (init) => new Session({ ...init, limits: all, self })
  })
  broker.openSession(0, options.session ?? {}, 0)
  for (const peer of options.peers ?? []) broker.connectPeer(peer, true, 0)
  return broker
}

/** Adds wants for the blocks from `from` up to but not including `to`. */
export function want(broker: Broker, from: number, to: number, nowMs = 0, session = 0): void {
  for (let i = from; i < to; i++) broker.addWant(session, at(i).cid, at(i).key, nowMs)
}

/** All lines of the messages in `commands`, as `block 3 A`, `have 3 A`, `cancel 3 A`. */
export function lines(commands: readonly Command[]): string[] {
  return commands.flatMap((command) =>
    command.type === 'send'
      ? command.entries.map(({ type, key }) => `${type.replace('want-', '')} ${numbers.get(key)} ${command.peer}`)
      : []
  )
}

export function asks(commands: readonly Command[]): string[] {
  return lines(commands).filter((line) => !line.startsWith('cancel'))
}

export function cancels(commands: readonly Command[]): string[] {
  return lines(commands).filter((line) => line.startsWith('cancel'))
}

export function count(commands: readonly Command[], type: Command['type']): number {
  return commands.filter((command) => command.type === type).length
}

/** The queue of a peer, as the broker shows it. */
export function queue(broker: Broker, peer: PeerKey): ReturnType<Broker['queues']>[number] {
  const found = broker.queues().find((each) => each.peer === peer)
  if (found === undefined) throw new Error(`the broker does not know ${peer}`)
  return found
}

/** A judge that says what it is told to say, and notes what it is told. */
export function judge(says: Partial<ReliabilityCore> = {}): ReliabilityCore & { readonly told: string[] } {
  const told: string[] = []
  const note = (line: string): void => void told.push(line)
  return {
    ...indifferent,
    asked: ({ key, peer, role }) => note(`asked ${role} ${numbers.get(key)} ${peer}`),
    settled: ({ key, peer, role }, outcome: Outcome) => note(`${outcome} ${role} ${numbers.get(key)} ${peer}`),
    ended: (key) => note(`ended ${numbers.get(key)}`),
    failedHard: (peer) => note(`failed hard ${peer}`),
    isFitForBackup: () => true,
    ...says,
    told
  }
}
