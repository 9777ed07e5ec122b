import type { CID, PeerKey } from '@shardswap/interface'
import {
  clientKey,
  defaultServeLimits,
  Engine,
  type Envelope,
  ownerKey,
  type Sending,
  type ServeGauges,
  type Want
} from '@shardswap/server'
import type { WatchedAdmission } from '../checkers/admitted.ts'
import type { SimulatedBlock } from '../engine/block.ts'
import type { VirtualClock } from '../engine/clock.ts'
import type { Message } from '../engine/message.ts'
import { bytesOfLength } from './bytes.ts'

export interface ServingPorts {
  readonly clock: VirtualClock
  /** Milliseconds of each look-up and each read of the store; many run at once. */
  readonly storeDelayMs: number
  readonly admission: WatchedAdmission
  /** In whose name a peer asks; undefined: in nobody's but its own. */
  ownerOf(peer: PeerKey): string | undefined
  /** The block, where it is in this node's store. */
  find(cid: CID): SimulatedBlock | undefined
  block(cid: CID): SimulatedBlock
  send(peer: PeerKey, message: Message, written: (ok: boolean) => void): void
}

interface Reading {
  readonly envelope: Envelope
  next: number
  left: number
}

/** The production serving engine, with the virtual store and network where the peer has its own. */
export class Serving {
  readonly #ports: ServingPorts
  readonly #engine: Engine
  readonly #known = new Set<PeerKey>()
  readonly #reading: Reading[] = []
  /** How the sends end that are under way. */
  readonly #sends = new Map<PeerKey, (ok: boolean) => void>()
  #readers = 0
  #lookups = 0
  #isPumpPlanned = false

  constructor(ports: ServingPorts) {
    this.#ports = ports
    this.#engine = new Engine(defaultServeLimits, ports.admission)
  }

  gauges(): ServeGauges & { readonly openRequests: number } {
    return { ...this.#engine.gauges(), openRequests: this.admission.open }
  }

  get admission(): WatchedAdmission {
    return this.#ports.admission
  }

  /** A message with a wantlist. The engine hears of a peer when it first asks: most connected peers never do. */
  receive(peer: PeerKey, message: Message): void {
    if (!this.#known.has(peer)) {
      this.#known.add(peer)
      this.#engine.connected(peer)
      const owner = this.#ports.ownerOf(peer)
      // It has shown its binding when it connected.
      if (owner !== undefined) this.admission.identified(peer, clientKey(peer), ownerKey(owner), this.#ports.clock.nowMs())
    }
    this.#engine.message(peer, message, this.#ports.clock.nowMs())
    this.#lookUp()
    this.#pump()
  }

  disconnect(peer: PeerKey): void {
    if (!this.#known.delete(peer)) return
    this.#engine.disconnected(peer)
    this.admission.left(peer)
    this.#pump()
  }

  /** A block is in this node's store from now on. */
  blockArrived(block: SimulatedBlock): void {
    this.#engine.blockArrived(block.cid, block.bytes, this.#ports.clock.nowMs())
    if (this.#isPumpPlanned) return
    this.#isPumpPlanned = true
    this.#ports.clock.in(0, () => {
      this.#isPumpPlanned = false
      this.#pump()
    })
  }

  #lookUp(): void {
    while (this.#lookups < defaultServeLimits.lookupBatchesMax) {
      const wants = this.#engine.takeLookups()
      if (wants.length === 0) return
      this.#lookups += 1
      this.#afterStore(() => this.#lookedUp(wants))
    }
  }

  #lookedUp(wants: readonly Want[]): void {
    this.#lookups -= 1
    this.#engine.lookedUp(
      wants,
      wants.map((want) => this.#ports.find(want.cid)?.bytes),
      this.#ports.clock.nowMs()
    )
    if (this.#ports.storeDelayMs === 0) return
    this.#lookUp()
    this.#pump()
  }

  #pump(): void {
    for (;;) {
      const canRead = this.#readers < defaultServeLimits.readsMax
      const reading = this.#reading[0]
      if (canRead && reading !== undefined) {
        this.#read(reading)
        continue
      }
      const envelope = this.#engine.nextEnvelope(this.#ports.clock.nowMs(), canRead)
      if (envelope === undefined) break
      if (envelope.ready) this.#flush(envelope.ledger.peer)
      else this.#reading.push({ envelope, next: 0, left: envelope.wants.length })
    }
    this.admission.check()
  }

  #read(reading: Reading): void {
    const index = reading.next++
    if (reading.next === reading.envelope.wants.length) this.#reading.shift()
    const want = reading.envelope.wants[index] as Want
    this.#readers += 1
    this.#afterStore(() => {
      this.#readers -= 1
      const { envelope } = reading
      if (want.state === 'reading' && !envelope.discarded) {
        const block = this.#ports.find(want.cid)
        envelope.blocks[index] = block === undefined ? undefined : bytesOfLength(block.bytes)
      }
      if (--reading.left === 0) {
        this.#engine.blocksRead(envelope)
        this.#flush(envelope.ledger.peer)
      }
      // Without delay the loop that began this read goes on itself.
      if (this.#ports.storeDelayMs > 0) this.#pump()
    })
  }

  #flush(peer: PeerKey): void {
    const { clock } = this.#ports
    const sending = this.#engine.startSend(peer, clock.nowMs())
    if (sending === undefined) return
    const { blocks, presences, pendingBytes } = sending.message
    const message: Message = {
      full: false,
      entries: [],
      blocks: blocks.map(({ cid }) => ({ block: this.#ports.block(cid), isSound: true })),
      presences: presences.map(({ cid, presence }) => ({ block: this.#ports.block(cid), presence })),
      pendingBytes
    }
    this.#send(peer, message, sending)
  }

  /** A send ends when all is written, when its connection goes, or when the engine gives it up. */
  #send(peer: PeerKey, message: Message, { envelope }: Sending): void {
    const { clock } = this.#ports
    const late = clock.in(defaultServeLimits.sendSlowMs, () => {
      for (const slow of this.#engine.late(envelope, clock.nowMs())) this.#sends.get(slow)?.(false)
      this.#pump()
    })
    let isOver = false
    const end = (ok: boolean): void => {
      if (isOver) return
      isOver = true
      late.cancel()
      this.#sends.delete(peer)
      const retryMs = this.#engine.sent(envelope, ok, clock.nowMs())
      if (retryMs !== undefined) {
        clock.in(retryMs, () => {
          this.#engine.rearm(peer)
          this.#pump()
        })
      }
      this.#flush(peer)
      this.#pump()
    }
    this.#sends.set(peer, end)
    this.#ports.send(peer, message, end)
  }

  /** A store without delay answers at once: an event each would only make runs longer. */
  #afterStore(run: () => void): void {
    if (this.#ports.storeDelayMs === 0) run()
    else this.#ports.clock.in(this.#ports.storeDelayMs, run)
  }
}
