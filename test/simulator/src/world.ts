import { assert, type BlockKey, blockKey, type CID, type PeerKey, peerKey } from '@shardswap/interface'
import { type SimulatedBlock, makeBlocks } from './engine/block.ts'
import { VirtualClock } from './engine/clock.ts'
import { type Message, wireBytes } from './engine/message.ts'
import { type LinkQuality, VirtualNetwork } from './engine/network.ts'
import { sample, SeededRandom } from './engine/random.ts'
import { Trace, traceKinds } from './engine/trace.ts'
import { admissionFor } from './nodes/admission.ts'
import { SimulatedNode } from './nodes/node.ts'
import { nodeKey } from './run-result.ts'
import type { NodeName, Scenario, WorldEvent } from './scenario.ts'

/** Providers that one search in routing names. */
const providersMax = 10

/** The nodes of a scenario, what they hold, and the network between them; nobody fetches yet. */
export class World {
  readonly clock = new VirtualClock()
  readonly trace = new Trace()
  readonly random: SeededRandom
  readonly blocks: readonly SimulatedBlock[]
  readonly network: VirtualNetwork<Message>
  readonly nodes: SimulatedNode[] = []
  readonly #scenario: Scenario
  readonly #byKey = new Map<PeerKey, SimulatedNode>()
  readonly #byCid = new Map<CID, SimulatedBlock>()
  readonly #byBlockKey = new Map<BlockKey, SimulatedBlock>()

  constructor(scenario: Scenario, seed: number) {
    this.#scenario = scenario
    this.random = new SeededRandom(seed)
    const { bytes, count, innerNodes } = scenario.blocks
    this.blocks = makeBlocks(count, typeof bytes === 'number' ? () => bytes : bytes, innerNodes)
    for (const block of this.blocks) {
      this.#byCid.set(block.cid, block)
      this.#byBlockKey.set(block.key, block)
    }
    this.network = new VirtualNetwork<Message>({
      clock: this.clock,
      trace: this.trace,
      random: this.random.fork('loss'),
      quality: (from, to) => this.#quality(from, to),
      uplinkBytesPerS: (node) => this.nodes[node]?.group.uplinkBytesPerS ?? Infinity,
      onBytes: (to, from, arrived) => this.#numbered(to).fetching?.receiveBytes(this.#numbered(from).key, arrived),
      onMessage: (to, from, message, length) => {
        this.#traceContent(to, from, message)
        this.#numbered(to).receive(this.#numbered(from), message, length)
      }
    })
    for (const group of scenario.nodes) for (let place = 0; place < group.count; place++) this.#addNode([group.name, place])
    for (const node of this.nodes) this.#fill(node)
  }

  node(name: NodeName): SimulatedNode {
    return this.keyed(peerKey(nodeKey(name)))
  }

  keyed(key: PeerKey): SimulatedNode {
    const node = this.#byKey.get(key)
    assert(node !== undefined, `a node called ${key}`)
    return node
  }

  block(cid: CID): SimulatedBlock {
    // A server makes the CID of a want that stood there anew: then it is equal, and not the same.
    const block = this.#byCid.get(cid) ?? this.#byBlockKey.get(blockKey(cid))
    assert(block !== undefined, 'a block of this world')
    return block
  }

  /** Connects those who fetch with everybody that is there. */
  connectAll(): void {
    for (const one of this.nodes) {
      if (one.fetching === undefined || !one.isOnline) continue
      for (const other of this.nodes) if (other.isOnline && other.group.isUnconnected !== true) this.connect(one, other)
    }
  }

  connect(one: SimulatedNode, other: SimulatedNode): void {
    if (one === other || one.connected.has(other)) return
    one.connected.add(other)
    other.connected.add(one)
    this.trace.add(traceKinds.connect, this.clock.nowMs(), one.index, other.index, 0, 0)
    one.fetching?.connect(other.key)
    other.fetching?.connect(one.key)
  }

  disconnect(one: SimulatedNode, other: SimulatedNode): void {
    if (!one.connected.delete(other)) return
    other.connected.delete(one)
    this.trace.add(traceKinds.disconnect, this.clock.nowMs(), one.index, other.index, 0, 0)
    this.network.drop(one.index, other.index)
    for (const [near, far] of [
      [one, other],
      [other, one]
    ] as const) {
      near.fetching?.disconnect(far.key)
      near.left(far.key)
    }
  }

  /** Makes something happen to the world, now. */
  apply(event: WorldEvent): void {
    if (event.kind === 'reset' || event.kind === 'cut') {
      const one = this.node(event.one)
      const other = this.node(event.other)
      if (event.kind === 'cut') this.network.setCut(one.index, other.index, event.isCut)
      else {
        this.disconnect(one, other)
        this.clock.in(event.backAfterMs, () => {
          if (one.isOnline && other.isOnline) this.connect(one, other)
        })
      }
      return
    }
    const node = this.node(event.node)
    this.trace.add(traceKinds.fault, this.clock.nowMs(), node.index, node.index, 0, 0)
    if (event.kind === 'fault') node.fault = event.fault
    else if (event.kind === 'put') this.#put(node, event.block)
    else if (event.kind === 'leave') {
      node.isOnline = false
      for (const other of node.connected) this.disconnect(node, other)
    } else {
      node.isOnline = true
      for (const other of this.nodes) {
        if (other.isOnline && (node.fetching !== undefined || other.fetching !== undefined)) this.connect(node, other)
      }
    }
  }

  /** Routing names those who have the block, after its time; each is connected before it is named. */
  findProviders(seeker: SimulatedNode, cid: CID, found: (peer: PeerKey) => void): void {
    const { routingMs } = this.#scenario
    if (routingMs === undefined) return
    const block = this.block(cid)
    this.clock.in(routingMs, () => {
      let named = 0
      for (const node of this.nodes) {
        if (node === seeker || !node.isOnline || !node.store.has(block.index)) continue
        if (named++ === providersMax) return
        this.connect(seeker, node)
        found(node.key)
      }
    })
  }

  /** What the policy `oracle` may know, at one node. */
  delivers(peer: PeerKey, key: BlockKey): boolean {
    const node = this.keyed(peer)
    const block = this.#byBlockKey.get(key)
    return block !== undefined && node.isOnline && node.fault === undefined && node.store.has(block.index)
  }

  deliveryMs(from: SimulatedNode, peer: PeerKey, bytes: number): number {
    const node = this.keyed(peer)
    if (!node.isOnline || node.fault !== undefined) return Infinity
    const there = this.network.quality(from.index, node.index)
    const back = this.network.quality(node.index, from.index)
    const bytesPerS = Math.min(back.bytesPerS, node.group.uplinkBytesPerS ?? Infinity)
    return there.delayMs + back.delayMs + 2 * (node.group.storeDelayMs ?? 0) + (bytes / bytesPerS) * 1000
  }

  #put(node: SimulatedNode, index: number): void {
    const block = this.blocks[index]
    assert(block !== undefined, 'a block of this world')
    node.keep(block)
    node.fetching?.put(block)
  }

  #traceContent(to: number, from: number, message: Message): void {
    const nowMs = this.clock.nowMs()
    for (const { cid, cancel, wantType } of message.entries) {
      this.trace.add(traceKinds.entry, nowMs, from, to, this.block(cid).index, cancel ? 2 : wantType === 'block' ? 0 : 1)
    }
    for (const { block, isSound } of message.blocks) this.trace.add(traceKinds.block, nowMs, from, to, block.index, isSound ? 0 : 1)
    for (const { block, presence } of message.presences) {
      this.trace.add(traceKinds.presence, nowMs, from, to, block.index, presence === 'have' ? 0 : 1)
    }
  }

  #ownerOf({ group, name }: SimulatedNode): string | undefined {
    return typeof group.owner === 'function' ? group.owner(name[1]) : group.owner
  }

  #numbered(index: number): SimulatedNode {
    return this.nodes[index] as SimulatedNode
  }

  #addNode(name: NodeName): void {
    const group = this.#scenario.nodes.find((candidate) => candidate.name === name[0])
    assert(group !== undefined, `a group called ${name[0]}`)
    const node = new SimulatedNode(name, peerKey(nodeKey(name)), this.nodes.length, group, {
      clock: this.clock,
      block: (cid) => this.block(cid),
      random: (key) => this.random.fork(`answers ${key}`),
      ownerOf: (peer) => this.#ownerOf(this.keyed(peer)),
      admission: () => admissionFor(this.#scenario.admission),
      send: (from, to, message, written) => this.#send(from, to, message, written)
    })
    this.nodes.push(node)
    this.#byKey.set(node.key, node)
  }

  #fill(node: SimulatedNode): void {
    const { holds, holdsOnly, count } = node.group
    for (const index of holdsOnly?.(node.name[1]) ?? []) node.store.add(index)
    if (holds === undefined) return
    const random = this.random.fork(`holds ${node.group.name}`)
    for (const block of this.blocks) if (holds(block.index, node.name[1], count, random)) node.store.add(block.index)
  }

  /** Each direction has a stream of its own, so that its numbers are the same whoever uses which link first. */
  #quality(from: number, to: number): LinkQuality {
    const random = this.random.fork(`link ${from}>${to}`)
    const plan = this.#scenario.link(this.#numbered(from).group.name, this.#numbered(to).group.name)
    const delayMs = sample(plan.delayMs, random)
    const bytesPerS = plan.bytesPerS === undefined ? Infinity : Math.max(1, sample(plan.bytesPerS, random))
    return {
      delayMs,
      jitterMs: plan.jitterMs,
      bytesPerS,
      burstBytes: plan.burstS === undefined ? 0 : plan.burstS * bytesPerS,
      lossShare: plan.lossShare ?? 0
    }
  }

  #send(from: SimulatedNode, to: PeerKey, message: Message, written?: (ok: boolean) => void): void {
    const target = this.keyed(to)
    if (from.connected.has(target)) this.network.send(from.index, target.index, message, wireBytes(message), written)
    else if (written !== undefined) this.clock.in(0, () => written(false))
  }
}
