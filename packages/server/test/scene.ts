import { blockKey, peerKey } from '@shardswap/interface'
import type { BlockKey, CID, PeerKey } from '@shardswap/interface'
import { Admission, clientKey, Engine, ownerKey, verifyAdmissionLimits, verifyServeLimits } from '../src/index.ts'
import type {
  AdmissionLimits,
  AdmissionMode,
  Answer,
  AskedEntry,
  AskingMessage,
  Envelope,
  Sending,
  ServeLimits,
  Want
} from '../src/index.ts'
import type { TestBlock } from './asks.ts'

/** A message with these entries; `over` says what else it holds. */
export function message(entries: readonly AskedEntry[], over: Partial<AskingMessage> = {}): AskingMessage {
  return { full: false, entries, blocks: [], presences: [], ...over }
}

/** A server of the peer's owner, verified so many times just now, and the peer known to ask for that owner. */
export function register(scene: Scene, peer: PeerKey, verified = 40): void {
  const [server, owner] = [peerKey(`server of ${peer}`), ownerKey(`owner of ${peer}`)]
  scene.admission.follow([{ type: 'server', server, owner }], scene.nowMs)
  for (let test = 0; test < verified; test++) scene.admission.tested(server, true, scene.nowMs)
  scene.admission.identified(peer, clientKey(peer), owner, scene.nowMs)
}

/** Blocks by multihash, and how many were read. */
class Store {
  readonly #blocks = new Map<BlockKey, Uint8Array>()
  reads = 0
  /** What the engine is told a block's size is. */
  size = (cid: CID): number | undefined => this.#blocks.get(blockKey(cid))?.length

  put(...all: readonly TestBlock[]): void {
    for (const { cid, bytes } of all) this.#blocks.set(blockKey(cid), bytes)
  }

  get(cid: CID): Uint8Array | undefined {
    this.reads++
    return this.#blocks.get(blockKey(cid))
  }
}

interface Sent {
  readonly peer: PeerKey
  readonly message: Answer
}

interface Send extends Sent {
  readonly sending: Sending
  aborted: boolean
}

/**
 * An engine with all that it waits for, as data: sizes being looked up, blocks
 * being read, messages being written, retries. Nothing ends by itself; `turn`
 * ends one thing, `settle` all that can end. A held peer's sends do not.
 */
export class Scene {
  readonly engine: Engine
  readonly store = new Store()
  readonly sent: Sent[] = []
  /** Whether a send could be written; true by default. */
  outcome: (sent: Sent) => boolean = () => true
  nowMs = 0
  readonly #held = new Set<PeerKey>()
  readonly #lookups: Want[][] = []
  readonly #readings: Envelope[] = []
  readonly #sends: Send[] = []
  readonly #retries = new Map<PeerKey, number>()
  /** All envelopes that may hold blocks. */
  readonly #envelopes = new Set<Envelope>()
  /** Blocks in the order in which they were taken for each peer, and how many of those have left or never will. */
  readonly #taken = new Map<PeerKey, { readonly blocks: string[]; left: number }>()

  readonly admission: Admission

  /** Many more requests may be open than any test has, unless `admission` says so. */
  constructor(limits: Partial<ServeLimits> = {}, admission: Partial<AdmissionLimits> & { readonly mode?: AdmissionMode } = {}) {
    const { mode = 'open', openRequestsMax = 100_000, freeScoreRequests = openRequestsMax, ...others } = admission
    const admissionLimits = verifyAdmissionLimits({ openRequestsMax, freeScoreRequests, ...others })
    this.admission = new Admission({ mode, limits: admissionLimits, wallMs: 0, nowMs: 0 })
    this.engine = new Engine(verifyServeLimits(limits), this.admission)
  }

  tell(peer: PeerKey, message: AskingMessage): void {
    const retryMs = this.engine.message(peer, message, this.nowMs)
    if (retryMs !== undefined && !this.#retries.has(peer)) this.#retries.set(peer, this.nowMs + retryMs)
  }

  ask(peer: PeerKey, ...entries: readonly AskedEntry[]): void {
    this.tell(peer, message(entries))
    this.settle()
  }

  /** Puts blocks into the store and says so. */
  arrive(...all: readonly TestBlock[]): void {
    this.store.put(...all)
    for (const { cid, bytes } of all) this.engine.blockArrived(cid, bytes.length, this.nowMs)
  }

  disconnect(peer: PeerKey): void {
    this.engine.disconnected(peer)
    this.#retries.delete(peer)
    for (const send of this.#sends) if (send.peer === peer) send.aborted = true
  }

  hold(peer: PeerKey): void {
    this.#held.add(peer)
  }

  release(peer: PeerKey): void {
    this.#held.delete(peer)
  }

  /** Lets the held peer's send end that is being written now. */
  releaseOne(peer: PeerKey): void {
    const send = this.#sends.find((send) => send.peer === peer)
    if (send) this.#endSend(send)
  }

  /** Sends that are being written. */
  get sending(): number {
    return this.#sends.length
  }

  /** Envelopes that are being read. */
  get reading(): number {
    return this.#readings.length
  }

  /** Bytes of blocks that are really in memory. */
  get heldBytes(): number {
    let bytes = 0
    for (const { blocks } of this.#envelopes) for (const block of blocks) bytes += block?.length ?? 0
    for (const { message } of this.#sends) for (const block of message.blocks) bytes += block.bytes.length
    return bytes
  }

  /** Begins what can begin; nothing ends. */
  begin(): void {
    for (;;) {
      const wants = this.engine.takeLookups()
      if (wants.length === 0) break
      this.#lookups.push(wants)
    }
    this.#pump()
  }

  /** Reads and sends one envelope, and only then begins the next: whose it was, undefined where nobody may have one. */
  serveOne(): PeerKey | undefined {
    for (let wants = this.engine.takeLookups(); wants.length > 0; wants = this.engine.takeLookups()) {
      this.engine.lookedUp(
        wants,
        wants.map(({ cid }) => this.store.size(cid)),
        this.nowMs
      )
    }
    const envelope = this.engine.nextEnvelope(this.nowMs)
    if (!envelope) return undefined
    for (const [index, want] of envelope.wants.entries()) envelope.blocks[index] = this.store.get(want.cid)
    this.engine.blocksRead(envelope)
    const sending = this.engine.startSend(envelope.ledger.peer, this.nowMs)
    if (sending) this.engine.sent(sending.envelope, true, this.nowMs)
    return envelope.ledger.peer
  }

  /** So much time passes, and every send that lasts longer is late; of one peer, where one is named. */
  late(ms: number, peer?: PeerKey): void {
    this.nowMs += ms
    for (const send of this.#sends) {
      if (peer !== undefined && send.peer !== peer) continue
      for (const given of this.engine.late(send.sending.envelope, this.nowMs)) {
        for (const other of this.#sends) if (other.peer === given) other.aborted = true
      }
    }
    this.settle()
  }

  /** Ends one thing that can end, of all such the one that `pick` names; false where there is none. */
  turn(pick = 0): boolean {
    const wants = this.engine.takeLookups()
    if (wants.length > 0) this.#lookups.push(wants)
    this.#pump()
    const ends = [
      ...this.#lookups.map((wants) => () => this.#endLookup(wants)),
      ...this.#readings.map((envelope) => () => this.#endReading(envelope)),
      ...this.#sends.filter(({ peer, aborted }) => aborted || !this.#held.has(peer)).map((send) => () => this.#endSend(send))
    ]
    const end = ends[pick % Math.max(1, ends.length)]
    end?.()
    return end !== undefined
  }

  /** Until nothing can end any more. */
  settle(): void {
    while (this.turn());
  }

  /** Lets so much time pass, and what follows from it happen. */
  advance(ms: number): void {
    this.nowMs += ms
    for (const [peer, atMs] of Array.from(this.#retries)) {
      if (atMs > this.nowMs) continue
      this.#retries.delete(peer)
      this.engine.rearm(peer)
    }
    this.settle()
  }

  ledger(peer: PeerKey): { wants: CID[]; blocksSent: number; bytesSent: number } | undefined {
    const ledger = this.engine.ledger(peer)
    return ledger && { wants: Array.from(ledger.wants.values(), ({ cid }) => cid), ...ledger.counted }
  }

  /** Text of each block and presence sent to `peer`, in order. */
  answers(peer: PeerKey): string[] {
    const all: string[] = []
    for (const sent of this.sent) {
      if (sent.peer !== peer) continue
      for (const { cid } of sent.message.blocks) all.push(`block ${cid.toString()}`)
      for (const { cid, presence } of sent.message.presences) all.push(`${presence} ${cid.toString()}`)
    }
    return all
  }

  #pump(): void {
    for (;;) {
      const envelope = this.engine.nextEnvelope(this.nowMs)
      if (!envelope) break
      this.#envelopes.add(envelope)
      const taken = this.#taken.get(envelope.ledger.peer) ?? { blocks: [], left: 0 }
      taken.blocks.push(...envelope.wants.map(({ cid }) => cid.toString()))
      this.#taken.set(envelope.ledger.peer, taken)
      if (envelope.ready) this.#flush(envelope.ledger.peer)
      else this.#readings.push(envelope)
    }
  }

  #endLookup(wants: Want[]): void {
    this.#lookups.splice(this.#lookups.indexOf(wants), 1)
    this.engine.lookedUp(
      wants,
      wants.map(({ cid }) => this.store.size(cid)),
      this.nowMs
    )
  }

  #endReading(envelope: Envelope): void {
    this.#readings.splice(this.#readings.indexOf(envelope), 1)
    for (const [index, want] of envelope.wants.entries()) {
      if (want.state === 'reading' && !envelope.discarded) envelope.blocks[index] = this.store.get(want.cid)
    }
    this.engine.blocksRead(envelope)
    this.#flush(envelope.ledger.peer)
  }

  #flush(peer: PeerKey): void {
    if (this.#sends.some((send) => send.peer === peer)) return
    const sending = this.engine.startSend(peer, this.nowMs)
    for (const envelope of this.#envelopes) if (envelope.released) this.#envelopes.delete(envelope)
    if (!sending) return
    const taken = this.#taken.get(peer)
    for (const { cid } of sending.message.blocks) {
      const index = taken?.blocks.indexOf(cid.toString(), taken.left) ?? -1
      if (!taken || index < 0) throw new Error('blocks of a peer leave in the order in which they were taken')
      taken.left = index + 1
    }
    const send = { peer, message: sending.message, sending, aborted: false }
    this.#sends.push(send)
    this.sent.push(send)
  }

  #endSend(send: Send): void {
    this.#sends.splice(this.#sends.indexOf(send), 1)
    const ok = !send.aborted && this.outcome(send)
    const retryMs = this.engine.sent(send.sending.envelope, ok, this.nowMs)
    if (retryMs !== undefined) this.#retries.set(send.peer, this.nowMs + retryMs)
    this.#flush(send.peer)
  }
}
