import type { CID, PeerKey, Random } from '@shardswap/interface'
import type { SimulatedBlock } from '../engine/block.ts'
import type { Scheduled, VirtualClock } from '../engine/clock.ts'
import type { Message } from '../engine/message.ts'
import { type Distribution, sample } from '../engine/random.ts'

/** Blocks that leave a node later than they were ready, each by itself: what waits holds up nothing else. */
export class DelayedAnswers {
  readonly #clock: VirtualClock
  readonly #answerMs: Distribution
  readonly #random: Random
  readonly #send: (peer: PeerKey, message: Message) => void
  /** Those that will leave; of those that never do nothing is kept. */
  readonly #waiting = new Map<PeerKey, Map<SimulatedBlock, Scheduled>>()

  constructor(clock: VirtualClock, answerMs: Distribution, random: Random, send: (peer: PeerKey, message: Message) => void) {
    this.#clock = clock
    this.#answerMs = answerMs
    this.#random = random
    this.#send = send
  }

  /** Takes the blocks out of a message, to be sent each at its time. Returns what is left of it, if anything. */
  keepBack(peer: PeerKey, message: Message): Message | undefined {
    for (const sent of message.blocks) {
      const delayMs = sample(this.#answerMs, this.#random)
      if (delayMs === Infinity) continue
      const waiting = this.#of(peer)
      waiting.get(sent.block)?.cancel()
      const scheduled = this.#clock.in(delayMs, () => {
        waiting.delete(sent.block)
        this.#send(peer, { full: false, entries: [], blocks: [sent], presences: [], pendingBytes: 0 })
      })
      waiting.set(sent.block, scheduled)
    }
    return message.presences.length === 0 && message.entries.length === 0 ? undefined : { ...message, blocks: [] }
  }

  /** The connection went, and with it what was to be sent. */
  drop(peer: PeerKey): void {
    for (const scheduled of this.#waiting.get(peer)?.values() ?? []) scheduled.cancel()
    this.#waiting.delete(peer)
  }

  /** What the peer no longer wants stays here. */
  cancel(peer: PeerKey, message: Message, blockOf: (cid: CID) => SimulatedBlock): void {
    const waiting = this.#waiting.get(peer)
    if (waiting === undefined) return
    for (const { cid, cancel } of message.entries) {
      if (!cancel) continue
      const block = blockOf(cid)
      waiting.get(block)?.cancel()
      waiting.delete(block)
    }
  }

  #of(peer: PeerKey): Map<SimulatedBlock, Scheduled> {
    let waiting = this.#waiting.get(peer)
    if (waiting === undefined) {
      waiting = new Map()
      this.#waiting.set(peer, waiting)
    }
    return waiting
  }
}
