import { MemoryBlockstore } from 'blockstore-core'
import type { CID, PeerKey } from '@shardswap/interface'
import type { DecodedMessage, OutgoingMessage, WantlistEntry } from '@shardswap/protocol'
import { Admission, verifyAdmissionLimits } from '@shardswap/server'
import type { AdmissionLimits, AdmissionMode, ServeLimits } from '@shardswap/server'
import type { TestBlock } from '../../../server/test/asks.ts'
import { Server } from '../../src/serve/server.ts'
import type { LocalBlocks, ServerLinks } from '../../src/serve/types.ts'

export { alice, block, blocks, bob, cancel, want, wantHave, type TestBlock } from '../../../server/test/asks.ts'

export function message(entries: readonly WantlistEntry[], over: Partial<DecodedMessage> = {}): DecodedMessage {
  const skipped = { entries: 0, presences: 0, blocks: 0 }
  return { full: false, entries, blocks: [], presences: [], pendingBytes: 0, skipped, ...over }
}

/** Blocks in a real store, and a count of what was asked of it. */
class Store implements LocalBlocks {
  readonly blocks = new MemoryBlockstore()
  readonly asked = { sizes: 0, gets: 0, getsAtOnceMax: 0, sizesAtOnceMax: 0 }
  #gets = 0
  #sizes = 0

  async put(...all: readonly TestBlock[]): Promise<void> {
    for (const { cid, bytes } of all) await this.blocks.put(cid, bytes)
  }

  async size(cid: CID): Promise<number | undefined> {
    this.asked.sizes++
    this.asked.sizesAtOnceMax = Math.max(this.asked.sizesAtOnceMax, ++this.#sizes)
    const bytes = await this.#read(cid)
    this.#sizes--
    return bytes?.length
  }

  async get(cid: CID): Promise<Uint8Array | undefined> {
    this.asked.gets++
    this.asked.getsAtOnceMax = Math.max(this.asked.getsAtOnceMax, ++this.#gets)
    const bytes = await this.#read(cid)
    this.#gets--
    return bytes
  }

  async #read(cid: CID): Promise<Uint8Array | undefined> {
    if (!(await this.blocks.has(cid))) return undefined
    for await (const bytes of this.blocks.get(cid)) return bytes
    return undefined
  }
}

interface Sent {
  readonly peer: PeerKey
  readonly message: OutgoingMessage
  readonly signal: AbortSignal
}

/** Links that keep what was sent. `hold` makes sends wait for `release`. */
class Links implements ServerLinks {
  readonly sent: Sent[] = []
  /** What each send returns; true by default. */
  outcome: (sent: Sent) => boolean = () => true
  onSent: (sent: Sent) => void = () => {}
  /** A held send does not end when it is aborted, only when it is released. */
  stubborn = false
  readonly #held = new Set<PeerKey>()
  readonly #waiting: { peer: PeerKey; go: () => void }[] = []
  readonly #busy = new Set<PeerKey>()

  hold(peer: PeerKey): void {
    this.#held.add(peer)
  }

  /** Lets the peer's sends end, those waiting included. */
  release(peer: PeerKey): void {
    this.#held.delete(peer)
    for (const waiting of this.#waiting.splice(0)) {
      if (waiting.peer === peer) waiting.go()
      else this.#waiting.push(waiting)
    }
  }

  /** Lets one waiting send of the peer end. */
  releaseOne(peer: PeerKey): void {
    const index = this.#waiting.findIndex((waiting) => waiting.peer === peer)
    this.#waiting.splice(index, 1)[0]?.go()
  }

  get waiting(): number {
    return this.#waiting.length
  }

  async send(peer: PeerKey, message: OutgoingMessage, signal: AbortSignal): Promise<boolean> {
    if (this.#busy.has(peer)) throw new Error('two sends at once to one peer')
    this.#busy.add(peer)
    const sent = { peer, message, signal }
    this.sent.push(sent)
    this.onSent(sent)
    if (this.#held.has(peer) && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#waiting.push({ peer, go: resolve })
        if (!this.stubborn) signal.addEventListener('abort', () => resolve(), { once: true })
      })
    } else await Promise.resolve()
    this.#busy.delete(peer)
    return !signal.aborted && this.outcome(sent)
  }

  /** Text of each block and presence sent to `peer`, in order. */
  answers(peer: PeerKey): string[] {
    const all: string[] = []
    for (const sent of this.sent) {
      if (sent.peer !== peer) continue
      for (const { cid } of sent.message.blocks ?? []) all.push(`block ${cid.toString()}`)
      for (const { cid, presence } of sent.message.presences ?? []) all.push(`${presence} ${cid.toString()}`)
    }
    return all
  }
}

export class Scene {
  readonly store = new Store()
  readonly links = new Links()
  readonly server: Server
  nowMs = 0

  /** Peers that were told that we are busy. */
  readonly toldBusy: PeerKey[] = []
  /** Until when it takes to tell them. */
  telling: Promise<void> = Promise.resolve()
  readonly admission: Admission

  constructor(limits: Partial<ServeLimits> = {}, mode: AdmissionMode = 'open', admissionLimits: Partial<AdmissionLimits> = {}) {
    this.admission = new Admission({ mode, limits: verifyAdmissionLimits(admissionLimits), wallMs: 0, nowMs: 0 })
    const tellBusy = async (peer: PeerKey): Promise<void> => {
      this.toldBusy.push(peer)
      await this.telling
    }
    this.server = new Server({ store: this.store, links: this.links, nowMs: () => this.nowMs, tellBusy }, limits, this.admission)
  }

  /** Until nothing happens any more. The store and links here answer within microtasks. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  }

  /** A message whose sender does not wait when it is held back. */
  tell(peer: PeerKey, message: DecodedMessage): void {
    void this.server.handleMessage(peer, message)
  }

  async ask(peer: PeerKey, ...entries: readonly WantlistEntry[]): Promise<void> {
    this.tell(peer, message(entries))
    await this.settle()
  }

  answers(peer: PeerKey): string[] {
    return this.links.answers(peer)
  }
}
