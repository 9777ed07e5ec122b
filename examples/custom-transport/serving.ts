import type { BlockKey, PeerKey } from '@shardswap/interface'
import type { DecodedMessage } from '@shardswap/protocol'
import { Admission, Engine, type Envelope, verifyAdmissionLimits, verifyServeLimits } from '@shardswap/server'
import type { Line } from './line.ts'

/**
 * The serving half: the engine says whom to answer next and with what; this reads the blocks and writes the answers. Where a
 * line may outlive a failed write, `sent` and `message` say when to try again (`rearm`); here it is dead, and its peer forgotten.
 */
export class Serving {
  readonly #blocks: ReadonlyMap<BlockKey, Uint8Array>
  readonly #engine: Engine
  readonly #lines = new Map<PeerKey, Line>()
  readonly #sending = new Set<PeerKey>()

  constructor(blocks: ReadonlyMap<BlockKey, Uint8Array>) {
    this.#blocks = blocks
    const times = { wallMs: Date.now(), nowMs: performance.now() }
    this.#engine = new Engine(verifyServeLimits({}), new Admission({ mode: 'open', limits: verifyAdmissionLimits({}), ...times }))
  }

  connect(peer: PeerKey, line: Line): void {
    this.#lines.set(peer, line)
    this.#engine.connected(peer)
  }

  disconnect(peer: PeerKey): void {
    this.#lines.delete(peer)
    this.#engine.disconnected(peer)
  }

  receive(peer: PeerKey, message: DecodedMessage): void {
    this.#engine.message(peer, message, performance.now())
    for (let wants = this.#engine.takeLookups(); wants.length > 0; wants = this.#engine.takeLookups()) {
      const sizes = wants.map((want) => this.#blocks.get(want.blockKey)?.byteLength)
      this.#engine.lookedUp(wants, sizes, performance.now())
    }
    this.#pump()
  }

  #pump(): void {
    for (let envelope = this.#next(); envelope !== undefined; envelope = this.#next()) {
      if (!envelope.ready) {
        envelope.blocks = envelope.wants.map((want) => this.#blocks.get(want.blockKey))
        this.#engine.blocksRead(envelope)
      }
      void this.#send(envelope.ledger.peer)
    }
  }

  #next(): Envelope | undefined {
    return this.#engine.nextEnvelope(performance.now())
  }

  /** One message at a time to each peer; the next is ready when this one is written. */
  async #send(peer: PeerKey): Promise<void> {
    if (this.#sending.has(peer)) return
    this.#sending.add(peer)
    let sending = this.#engine.startSend(peer, performance.now())
    while (sending !== undefined) {
      const isWritten = (await this.#lines.get(peer)?.send(sending.message)) === true
      this.#engine.sent(sending.envelope, isWritten, performance.now())
      this.#pump()
      sending = this.#engine.startSend(peer, performance.now())
    }
    this.#sending.delete(peer)
  }
}
