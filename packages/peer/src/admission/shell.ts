import { setImmediate as nextTurn } from 'node:timers/promises'
import { type PeerKey, peerKey } from '@shardswap/interface'
import { type Admission, clientKey } from '@shardswap/server'
import type { Logger } from '@libp2p/interface'
import type { Host } from '../network/host.ts'
import { Allowance } from '../reliability/allowance.ts'
import { readDelegation, type SignedDelegation } from './claim.ts'
import { isQuickToRead } from './envelope.ts'
import type { AdmissionRecords } from './records.ts'
import type { RegistryAnswer, RegistryFrame } from './registry-frame.ts'
import { RegistryProtocol } from './registry-protocol.ts'
import { admissionReport } from './report.ts'
import { ShownKeys } from './shown-keys.ts'
import { checkCost, readRecord, type SignedRecord } from './signed-record.ts'
import { Teller } from './teller.ts'
import type { AdmissionReport, RegistryRefusal } from './types.ts'

/** Peers whose allowance of signatures is remembered. */
const checkedPeersMax = 4096
/** Clients that are being told at once that we are busy. */
const busyTellsMax = 64
/** In the first frame of a connection so many are looked at whatever others have sent: the peer's own binding and delegation. */
const firstChecks = 2
/** To read a key that is no Ed25519 key costs so much of a check. */
const slowReadCost = 0.2
/** What all peers together may have checked is counted under this name. */
const everybody = peerKey('everybody')

export interface AdmissionShellPorts {
  readonly libp2p: Host
  readonly records: AdmissionRecords
  readonly log: Logger
  /** 0 to 1. */
  readonly random: () => number
  /** A server says that it will refuse requests for so long. */
  onBusy(peer: PeerKey, forMs: number): void
}

/** Whose frame is being taken. */
interface Source {
  readonly peer: PeerKey
  /** Signatures that are looked at whatever others have sent. */
  free: number
  /** Revocations of what it told as if it held. */
  readonly revoked: Uint8Array[]
}

/** Feeds admission: who peers are, by what they show and by the registry, which spreads from peer to peer. */
export class AdmissionShell {
  readonly #ports: AdmissionShellPorts
  readonly #protocol: RegistryProtocol
  readonly #shown: ShownKeys
  readonly #teller: Teller
  readonly #checks: Allowance
  readonly #allChecks: Allowance
  readonly #refused = new Map<RegistryRefusal, number>()
  /** Who was told that we are busy: when, and whether it knows. */
  readonly #busyTold = new Map<PeerKey, { readonly atMs: number; readonly told: Promise<void> }>()
  #tellingBusy = 0
  #sweep: NodeJS.Timeout | undefined
  #tick: NodeJS.Timeout | undefined
  #isRunning = false

  constructor(ports: AdmissionShellPorts) {
    this.#ports = ports
    const { book, own, limits } = ports.records
    const { libp2p, log } = ports
    this.#protocol = new RegistryProtocol({
      libp2p,
      log,
      limits,
      nowMs: () => book.nowMs(),
      onMet: (peer) => this.#teller.met(peer, this.#protocol.speakers.connectionTo(peer)?.direction === 'outbound'),
      onParted: (peer) => this.#onParted(peer),
      onFrame: async (peer, frame, isFirst) => await this.#onFrame({ peer, free: isFirst ? firstChecks : 0, revoked: [] }, frame),
      onRefused: (why) => this.#refuse(why)
    })
    this.#shown = new ShownKeys(book)
    this.#teller = new Teller({ book, own, protocol: this.#protocol, limits, random: ports.random })
    this.#checks = new Allowance({ burst: limits.checksBurst, refillMs: limits.checkRefillMs, peersMax: checkedPeersMax })
    this.#allChecks = new Allowance({ burst: limits.allChecksBurst, refillMs: limits.allCheckRefillMs, peersMax: 1 })
    own.follow((record) => {
      if (this.#isRunning) this.#teller.changed(record)
    })
  }

  /** Asked by the serving half. */
  get core(): Admission {
    return this.#ports.records.book.admission
  }

  async start(): Promise<void> {
    const { records } = this.#ports
    this.#isRunning = true
    records.start()
    await this.#look()
    this.#sweep = setInterval(() => void this.#look(), records.limits.sweepMs)
    this.#sweep.unref()
    this.#armTick()
    await this.#protocol.start()
  }

  async stop(): Promise<void> {
    if (!this.#isRunning) return
    this.#isRunning = false
    clearInterval(this.#sweep)
    clearTimeout(this.#tick)
    await Promise.all([this.#teller.stop(), this.#protocol.stop()])
    this.#shown.clear()
    this.#busyTold.clear()
  }

  /**
   * Tells a client that we refuse requests for load, before it gets DONT_HAVE. Resolves once it knows, or where it does not
   * speak the protocol, has been told of late, or does not listen. Never rejects.
   */
  async tellBusy(peer: PeerKey): Promise<void> {
    const { limits, book } = this.#ports.records
    if (!this.#isRunning || !this.#protocol.speakers.has(peer)) return
    const before = this.#busyTold.get(peer)
    const nowMs = book.nowMs()
    if (before !== undefined && nowMs - before.atMs < limits.busyMs / 2) return await before.told
    // Who refuses thousands has better things to do than to tell each of them why.
    if (this.#tellingBusy >= busyTellsMax) return
    this.#tellingBusy++
    const told = this.#protocol
      .tell(peer, { busyMs: limits.busyMs }, AbortSignal.timeout(limits.tellBusyTimeoutMs))
      .then(() => void this.#tellingBusy--)
    this.#busyTold.set(peer, { atMs: nowMs, told })
    await told
  }

  /** Resolves once a peer that has just come knows for whom we ask, or does not tell so in time. Rejects where the caller gives up. */
  async known(peer: PeerKey, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    const late = Promise.withResolvers<unknown>()
    const timer = setTimeout(late.resolve, this.#ports.records.limits.knownTimeoutMs)
    signal?.addEventListener('abort', late.resolve)
    await Promise.race([this.#teller.told(peer), late.promise])
    signal?.removeEventListener('abort', late.resolve)
    clearTimeout(timer)
    signal?.throwIfAborted()
  }

  report(): AdmissionReport {
    const { records, libp2p } = this.#ports
    return admissionReport(records, {
      refused: this.#refused,
      speakers: Math.max(this.#protocol.speakers.size, this.#shown.size, this.#busyTold.size),
      frames: this.#teller.size + this.#protocol.reading,
      reading: this.#protocol.reading,
      peers: libp2p.getPeers().map(peerKey),
      shown: this.#shown
    })
  }

  #onParted(peer: PeerKey): void {
    this.#teller.parted(peer)
    this.#shown.gone(peer)
    this.#busyTold.delete(peer)
  }

  async #onFrame(source: Source, { records = [], client, delegation, busyMs }: RegistryFrame): Promise<RegistryAnswer> {
    const { limits } = this.#ports.records
    const { peer } = source
    if (busyMs !== undefined && busyMs > 0) this.#ports.onBusy(peer, Math.min(busyMs, limits.busyMaxMs))
    for (const bytes of records) await this.#takeRecord(source, bytes)
    if (source.revoked.length > 0) void this.#protocol.tell(peer, { records: source.revoked })
    if (client !== undefined) await this.#takeClient(source, client, delegation)
    return { owner: this.#shown.of(peer)?.owner ?? null }
  }

  async #takeRecord(source: Source, bytes: Uint8Array): Promise<void> {
    const { book } = this.#ports.records
    if (!this.#mayRead(source, bytes)) return
    const record = this.#read(bytes)
    if (record === undefined) return
    const isToCheck = book.check(record) === undefined
    if (isToCheck && !this.#mayCheck(source, 1, checkCost(record))) return
    const outcome = await book.take(record)
    if (outcome === 'taken') this.#teller.learned(record)
    // Bindings alone: two revocations of one key would be told to and fro without end.
    if (outcome === 'replayed' && record.kind === 'binding') this.#contradict(source, record)
    // Signatures are looked at within one turn of the event loop, those of 32 records would take 10 ms.
    if (isToCheck) await nextTurn()
  }

  /** Who tells what was revoked has not heard of it: it is told once its frame is read. */
  #contradict({ revoked }: Source, { client }: SignedRecord): void {
    const { book } = this.#ports.records
    const standing = book.registry.recordOf(client, book.nowMs())
    if (standing?.kind === 'revocation') revoked.push(standing.bytes)
  }

  /** In the first frame of a connection all are read: a connection costs more. */
  #mayRead(source: Source, bytes: Uint8Array): boolean {
    if (source.free > 0 || isQuickToRead(bytes)) return true
    if (this.#allChecks.take(everybody, this.#ports.records.book.nowMs(), slowReadCost)) return true
    this.#refuse('too-many')
    return false
  }

  #read(bytes: Uint8Array): SignedRecord | undefined {
    try {
      return readRecord(bytes)
    } catch {
      this.#refuse('unreadable')
      return undefined
    }
  }

  async #takeClient(source: Source, client: string, text: string | undefined): Promise<void> {
    const delegation = text === undefined ? undefined : await this.#delegationIn(source, text)
    const { peer } = source
    // It may have left while we looked.
    if (!this.#isRunning || !this.#protocol.speakers.has(peer)) return
    if (!this.#shown.show(peer, clientKey(client), delegation)) this.#refuse('delegation')
  }

  async #delegationIn(source: Source, text: string): Promise<SignedDelegation | undefined> {
    const known = this.#shown.delegationOf(source.peer, text)
    if (known !== undefined || !this.#mayCheck(source, 0, 1)) return known
    return await readDelegation(text).catch(() => undefined)
  }

  /** Whether the signatures of one more word are looked at, which cost so much; of the free ones so many are left to others. */
  #mayCheck(source: Source, kept: number, cost: number): boolean {
    const nowMs = this.#ports.records.book.nowMs()
    if (this.#checks.take(source.peer, nowMs, cost)) {
      if (source.free > kept) {
        source.free--
        return true
      }
      if (this.#allChecks.take(everybody, nowMs, cost)) return true
    }
    this.#refuse('too-many')
    return false
  }

  #refuse(why: RegistryRefusal): void {
    this.#refused.set(why, (this.#refused.get(why) ?? 0) + 1)
  }

  /** Once a minute: what has expired ends, what is ours is renewed, who does not know us is told. */
  async #look(): Promise<void> {
    const { book, own } = this.#ports.records
    try {
      book.setClock(Date.now())
      book.expire()
      this.#shown.sweep()
      await own.renew()
      if (this.#isRunning) this.#teller.retry()
    } catch (error) {
      this.#ports.log.error('our binding could not be renewed - %e', error)
    }
  }

  #armTick(): void {
    const { tellMs } = this.#ports.records.limits
    this.#tick = setTimeout(
      () => {
        this.#teller.tick()
        this.#armTick()
      },
      tellMs * (0.5 + this.#ports.random())
    )
    this.#tick.unref()
  }
}
