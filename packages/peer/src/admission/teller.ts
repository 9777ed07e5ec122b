import type { PeerKey } from '@shardswap/interface'
import type { ClientKey } from '@shardswap/server'
import type { AdmissionBook } from './book.ts'
import { toText } from './envelope.ts'
import type { RegistryShellLimits } from './limits.ts'
import type { OwnBindings } from './own.ts'
import type { RegistryFrame } from './registry-frame.ts'
import type { RegistryProtocol } from './registry-protocol.ts'
import type { SignedRecord } from './signed-record.ts'

/** Frames that leave at once; more wait for their turn. */
const tellsAtOnceMax = 64
/** Records that are told before others since they are new, and to how many peers each. */
const newsMax = 256
const newsTells = 8
/** All records are listed anew after so long; in between the list is drawn from. */
const listedForMs = 5000
/** What a frame has beside its records, in bytes: braces, names, a delegation. */
const frameRestBytes = 5120

export interface TellerPorts {
  readonly book: AdmissionBook
  readonly own: OwnBindings
  readonly protocol: RegistryProtocol
  readonly limits: RegistryShellLimits
  /** 0 to 1. */
  readonly random: () => number
}

/**
 * Tells peers who we are and which bindings there are: each when it comes, all when something of ours has changed, and a
 * few now and then, so that records reach nodes that their owners never meet.
 */
export class Teller {
  readonly #ports: TellerPorts
  /** Who is to be told, the longest so first; before all others those whom we dialled, for we are about to ask them. */
  readonly #due = new Set<PeerKey>()
  readonly #dueFirst = new Set<PeerKey>()
  /** Who does not know yet for whom we ask. */
  readonly #unaware = new Set<PeerKey>()
  readonly #news = new Map<ClientKey, number>()
  #listed: { readonly atMs: number; readonly records: readonly SignedRecord[] } = { atMs: Number.NEGATIVE_INFINITY, records: [] }
  readonly #running = new Set<Promise<void>>()
  /** Who is being told now. */
  readonly #telling = new Map<PeerKey, Promise<void>>()
  #isStopped = false

  constructor(ports: TellerPorts) {
    this.#ports = ports
  }

  /** Peers that are to be told or are being told. */
  get size(): number {
    return this.#dueFirst.size + this.#due.size + this.#running.size
  }

  met(peer: PeerKey, isDialled: boolean): void {
    this.#unaware.add(peer)
    this.#tell(peer, isDialled)
  }

  parted(peer: PeerKey): void {
    this.#due.delete(peer)
    this.#dueFirst.delete(peer)
    this.#unaware.delete(peer)
  }

  /** A record that was not known here: others may not know it either. */
  learned({ client }: SignedRecord): void {
    this.#news.delete(client)
    this.#news.set(client, newsTells)
    for (const oldest of this.#news.keys()) {
      if (this.#news.size <= newsMax) break
      this.#news.delete(oldest)
    }
  }

  /** Something of ours is another: everybody is told. */
  changed(record: SignedRecord | undefined): void {
    if (record !== undefined) this.learned(record)
    for (const peer of this.#ports.protocol.speakers.keys()) this.met(peer, false)
  }

  /**
   * Resolves once a peer that is being told for whom we ask has answered, or will not: until then our requests may be a
   * stranger's there. At once where nobody stands behind us.
   */
  async told(peer: PeerKey): Promise<void> {
    if (this.#unaware.has(peer) && this.#expected() !== null) await this.#telling.get(peer)
  }

  /** Now and then: a few by chance. */
  tick(): void {
    const peers = this.#ports.protocol.speakers.keys()
    for (let left = Math.min(this.#ports.limits.tellPeersMax, peers.length); left > 0; left--) {
      const at = Math.floor(this.#ports.random() * peers.length)
      const [peer] = peers.splice(at, 1)
      if (peer !== undefined) this.#tell(peer)
    }
  }

  /** Who did not take it in, since it or we had too much to do, is told again. */
  retry(): void {
    for (const peer of this.#unaware) this.#tell(peer)
  }

  /** Resolves once nothing is on its way any more; what is ends with the protocol. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#due.clear()
    this.#dueFirst.clear()
    this.#unaware.clear()
    this.#news.clear()
    this.#listed = { atMs: Number.NEGATIVE_INFINITY, records: [] }
    await Promise.all(this.#running)
  }

  #tell(peer: PeerKey, isFirst = false): void {
    if (this.#isStopped) return
    if (isFirst) this.#dueFirst.add(peer)
    else this.#due.add(peer)
    // Peers that take nothing hold up no one whom we dialled.
    if (this.#running.size >= (isFirst ? 2 : 1) * tellsAtOnceMax) return
    const working = this.#work().finally(() => this.#running.delete(working))
    this.#running.add(working)
  }

  async #work(): Promise<void> {
    for (let peer = this.#next(); peer !== undefined; peer = this.#next()) {
      const telling = this.#tellNow(peer)
      this.#telling.set(peer, telling)
      await telling
      if (this.#telling.get(peer) === telling) this.#telling.delete(peer)
    }
  }

  async #tellNow(peer: PeerKey): Promise<void> {
    const answer = await this.#ports.protocol.tell(peer, this.#frame())
    // What has changed meanwhile is on its way as another frame.
    if (answer !== undefined && answer.owner === this.#expected() && !this.#isDue(peer)) this.#unaware.delete(peer)
  }

  #next(): PeerKey | undefined {
    const isCrowded = this.#running.size > tellsAtOnceMax
    const [peer] = this.#dueFirst.size > 0 || isCrowded ? this.#dueFirst : this.#due
    if (peer !== undefined) {
      this.#dueFirst.delete(peer)
      this.#due.delete(peer)
    }
    return peer
  }

  #isDue(peer: PeerKey): boolean {
    return this.#due.has(peer) || this.#dueFirst.has(peer)
  }

  /** The owner for whom we should count. */
  #expected(): string | null {
    const { book, own } = this.#ports
    const record = book.registry.recordOf(own.shown().client, book.nowMs())
    return record?.kind === 'binding' ? record.owner : null
  }

  #frame(): RegistryFrame {
    const { book, limits } = this.#ports
    const { client, delegation } = this.#ports.own.shown()
    const own = book.registry.recordOf(client, book.nowMs())
    const records = new Set<SignedRecord>(own === undefined ? [] : [own])
    for (const record of this.#takeNews()) records.add(record)
    for (const record of this.#drawn(limits.frameRecordsMax - records.size)) records.add(record)
    return {
      records: fitting(records, limits),
      client,
      ...(delegation === undefined ? {} : { delegation: delegation.text })
    }
  }

  #takeNews(): SignedRecord[] {
    const { book, limits } = this.#ports
    const taken: SignedRecord[] = []
    for (const [client, left] of Array.from(this.#news)) {
      if (taken.length >= limits.frameRecordsMax / 2) break
      const record = book.registry.recordOf(client, book.nowMs())
      if (record !== undefined) taken.push(record)
      this.#news.delete(client)
      // To the end: next time others have their turn.
      if (record !== undefined && left > 1) this.#news.set(client, left - 1)
    }
    return taken
  }

  #drawn(count: number): SignedRecord[] {
    const { book, random } = this.#ports
    const nowMs = book.nowMs()
    if (nowMs - this.#listed.atMs >= listedForMs) this.#listed = { atMs: nowMs, records: [...book.registry.records(nowMs)] }
    const { records } = this.#listed
    if (records.length <= count) return [...records]
    return Array.from({ length: Math.max(0, count) }, () => records[Math.floor(random() * records.length)] as SignedRecord)
  }
}

/** As many as a frame may have. */
function fitting(records: Iterable<SignedRecord>, limits: RegistryShellLimits): Uint8Array[] {
  const taken: Uint8Array[] = []
  let left = limits.frameBytesMax - frameRestBytes
  for (const { bytes } of records) {
    left -= toText(bytes).length + 3
    if (left < 0 || taken.length >= limits.frameRecordsMax) break
    taken.push(bytes)
  }
  return taken
}
