import type { PeerKey } from '@shardswap/interface'
import type { BrokerLimits } from './limits.ts'
import { PeerQueue } from './queue.ts'

/** The want queues of all peers that are connected, and of a bounded number that were. */
export class Peers {
  readonly #limits: BrokerLimits
  readonly #byKey = new Map<PeerKey, PeerQueue>()
  /** In no order that means anything: sessions draw from it. */
  readonly connected: PeerQueue[] = []
  /** Of these, those that are vetted. */
  readonly vetted: PeerQueue[] = []
  /** Those that said so, and are perhaps no longer. */
  readonly #busy = new Set<PeerQueue>()

  constructor(limits: BrokerLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#byKey.size
  }

  get(key: PeerKey): PeerQueue | undefined {
    return this.#byKey.get(key)
  }

  all(): Iterable<PeerQueue> {
    return this.#byKey.values()
  }

  /** The peer's queue, a new one where it was not heard of before. */
  known(key: PeerKey): PeerQueue {
    let queue = this.#byKey.get(key)
    if (queue === undefined) {
      queue = new PeerQueue(key, this.#limits)
      this.#byKey.set(key, queue)
      this.forget(queue)
    }
    return queue
  }

  connect(queue: PeerQueue): void {
    queue.isConnected = true
    enter(this.connected, queue, 'index')
    this.sort(queue)
    this.#noteWhoIsAlone()
  }

  disconnect(queue: PeerQueue): void {
    queue.isConnected = false
    queue.timing.isAlone = false
    this.sort(queue)
    leave(this.connected, queue, 'index')
    this.#noteWhoIsAlone()
    this.#endBusy(queue)
  }

  /** The peer refuses wants for load until then. */
  busy(queue: PeerQueue, untilMs: number): void {
    queue.busyUntilMs = Math.max(queue.busyUntilMs, untilMs)
    queue.lastBusyMs = queue.busyUntilMs
    queue.isBusy = true
    this.#busy.add(queue)
  }

  /** Whose time is over is busy no longer. */
  endBusy(nowMs: number): void {
    for (const queue of this.#busy) if (queue.busyUntilMs <= nowMs) this.#endBusy(queue)
  }

  #endBusy(queue: PeerQueue): void {
    queue.busyUntilMs = Number.NEGATIVE_INFINITY
    queue.isBusy = false
    this.#busy.delete(queue)
  }

  #noteWhoIsAlone(): void {
    const [first, second] = this.connected
    if (first !== undefined) first.timing.isAlone = second === undefined
    if (second !== undefined) second.timing.isAlone = false
  }

  /** After it connected or left, or was vetted or is no longer. */
  sort(queue: PeerQueue): void {
    const isIn = this.vetted[queue.vettedIndex] === queue
    if (isIn === (queue.isConnected && queue.isVetted)) return
    if (isIn) leave(this.vetted, queue, 'vettedIndex')
    else enter(this.vetted, queue, 'vettedIndex')
  }

  /** Where too many are remembered, the oldest of those that are not connected leave, but for one that just came. */
  forget(but?: PeerQueue): void {
    let excess = this.#byKey.size - this.connected.length - this.#limits.peersRememberedMax
    if (excess <= 0) return
    for (const queue of this.#byKey.values()) {
      if (queue.isConnected || queue === but) continue
      this.#byKey.delete(queue.key)
      excess -= 1
      if (excess <= 0) return
    }
  }
}

/** Where a queue keeps its place in a list without order. */
type Place = 'index' | 'vettedIndex'

function enter(list: PeerQueue[], queue: PeerQueue, place: Place): void {
  queue[place] = list.length
  list.push(queue)
}

/** The last one takes its place. */
function leave(list: PeerQueue[], queue: PeerQueue, place: Place): void {
  const last = list.pop()
  if (last === undefined || last === queue) return
  list[queue[place]] = last
  last[place] = queue[place]
}
