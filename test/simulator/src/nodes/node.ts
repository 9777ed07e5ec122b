import { assert, type CID, type PeerKey, type Random } from '@shardswap/interface'
import type { WatchedAdmission } from '../checkers/admitted.ts'
import type { SimulatedBlock } from '../engine/block.ts'
import type { VirtualClock } from '../engine/clock.ts'
import type { Message } from '../engine/message.ts'
import type { NodeGroup, NodeName } from '../scenario.ts'
import { type Fault, faultyAnswer, faultySend } from './faults.ts'
import type { Fetching } from './fetching.ts'
import { DelayedAnswers } from './delayed.ts'
import { Serving } from './serving.ts'

export interface NodePorts {
  readonly clock: VirtualClock
  block(cid: CID): SimulatedBlock
  /** A stream of chance for one node's answers. */
  random(node: PeerKey): Random
  /** In whose name a peer asks, if in anybody's. */
  ownerOf(peer: PeerKey): string | undefined
  /** What a node knows of owners. */
  admission(): WatchedAdmission
  /** Hands a message to the network; its connection stands. */
  send(from: SimulatedNode, to: PeerKey, message: Message, written?: (ok: boolean) => void): void
}

/** One peer of the simulated world: a store, the serving half, and the fetching half where it fetches. */
export class SimulatedNode {
  readonly name: NodeName
  readonly key: PeerKey
  readonly index: number
  readonly group: NodeGroup
  readonly store = new Set<number>()
  readonly serving: Serving
  /** Nodes with a connection to this one; of two that both only serve none is kept. */
  readonly connected = new Set<SimulatedNode>()
  fetching: Fetching | undefined
  fault: Fault | undefined
  isOnline: boolean
  readonly #ports: NodePorts
  readonly #delayed: DelayedAnswers | undefined

  constructor(name: NodeName, key: PeerKey, index: number, group: NodeGroup, ports: NodePorts) {
    this.name = name
    this.key = key
    this.index = index
    this.group = group
    this.fault = group.fault
    this.isOnline = group.isAway !== true
    this.#ports = ports
    const { answerMs } = group
    if (answerMs !== undefined) {
      this.#delayed = new DelayedAnswers(ports.clock, answerMs, ports.random(key), (peer, message) => this.send(peer, message))
    }
    this.serving = new Serving({
      clock: ports.clock,
      storeDelayMs: group.storeDelayMs ?? 0,
      admission: ports.admission(),
      ownerOf: (peer) => ports.ownerOf(peer),
      find: (cid) => {
        const block = ports.block(cid)
        return this.store.has(block.index) ? block : undefined
      },
      block: (cid) => ports.block(cid),
      send: (peer, message, written) => this.#answer(peer, message, written)
    })
  }

  get supportsHave(): boolean {
    return this.group.protocol !== '1.1.0'
  }

  /** A wanted block came, or somebody put it here. */
  keep(block: SimulatedBlock): void {
    this.store.add(block.index)
    this.serving.blockArrived(block)
  }

  receive(from: SimulatedNode, message: Message, bytes: number): void {
    this.fetching?.receive(from.key, message, bytes)
    if (message.entries.length === 0) return
    this.#delayed?.cancel(from.key, message, (cid) => this.#ports.block(cid))
    if (this.fault === undefined) {
      this.serving.receive(from.key, message)
      return
    }
    const answer = faultyAnswer(this.fault, message, (entry) => this.#ports.block(entry.cid))
    if (answer !== undefined) this.send(from.key, answer)
  }

  /** Sends, where there is still a connection. */
  send(to: PeerKey, message: Message, written?: (ok: boolean) => void): void {
    if (this.fetching !== undefined) this.fetching.figures.messagesOut += 1
    this.#ports.send(this, to, message, written)
  }

  /** The connection to whoever was served went. */
  left(peer: PeerKey): void {
    this.serving.disconnect(peer)
    this.#delayed?.drop(peer)
  }

  #answer(peer: PeerKey, made: Message, written: (ok: boolean) => void): void {
    const sound = this.fault === undefined ? made : faultySend(this.fault, made)
    const message = sound === undefined || this.#delayed === undefined ? sound : this.#delayed.keepBack(peer, sound)
    if (message === undefined) this.#ports.clock.in(0, () => written(true))
    else {
      assert(message.presences.length === 0 || this.supportsHave, 'a peer of 1.1.0 says neither HAVE nor DONT_HAVE')
      this.send(peer, message, written)
    }
  }
}
