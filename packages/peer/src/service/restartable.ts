import type { Calibration, PeerScore } from '@shardswap/reliability'
import { type AbortOptions, type Block, type CID, StoppedError } from '@shardswap/interface'
import type { PeerId, Startable } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Blockstore } from 'interface-blockstore'
import type {
  AdmissionReport,
  BindingStat,
  ClaimOptions,
  DelegateOptions,
  OwnRegistration,
  RegisterOptions,
  UnregisterOptions
} from '../admission/types.ts'
import type { AccountReceipt, AccountReport, ReceiptsOptions } from '../reliability/account-book.ts'
import type { OwnScore, OwnScoreOptions } from '../reliability/types.ts'
import type {
  ConnectedPeer,
  Exchange,
  GetManyOptions,
  GetOptions,
  LedgerStat,
  PeerGauges,
  PeerStat,
  Session,
  SessionInit
} from '../types.ts'

/**
 * An exchange that can start again after it was stopped, as services of libp2p do: each start opens a new one over the
 * same store and the same memory of peers. Stopped, it still tells what the last one saw.
 * Errors of all but `start` and `stop`: StoppedError before the first start.
 */
export class RestartableExchange implements Exchange, Startable {
  readonly #peerId: () => PeerId
  readonly blockstore: Blockstore
  readonly #open: () => Promise<Exchange>
  #exchange: Exchange | undefined
  /** Starts and stops run one after another, in the order they were asked for. */
  #turn: Promise<void> = Promise.resolve()
  #started = false

  constructor(peerId: () => PeerId, blockstore: Blockstore, open: () => Promise<Exchange>) {
    this.#peerId = peerId
    this.blockstore = blockstore
    this.#open = open
  }

  /** The node's identity. */
  get peerId(): PeerId {
    return this.#peerId()
  }

  /** Whether it was started and not stopped since. */
  isStarted(): boolean {
    return this.#started
  }

  async start(): Promise<void> {
    await this.#after(async () => {
      if (this.#started) return
      const exchange = await this.#open()
      await exchange.start()
      this.#exchange = exchange
      this.#started = true
    })
  }

  async stop(): Promise<void> {
    await this.#after(async () => {
      if (!this.#started) return
      this.#started = false
      await this.#exchange?.stop()
    })
  }

  async #after(task: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(task)
    this.#turn = turn.catch(() => undefined)
    await turn
  }

  get #now(): Exchange {
    if (this.#exchange === undefined) throw new StoppedError('the exchange is not started: start the libp2p node first')
    return this.#exchange
  }

  createSession(init?: SessionInit): Session {
    return this.#now.createSession(init)
  }

  async get(cid: CID, options?: GetOptions): Promise<Uint8Array> {
    return await this.#now.get(cid, options)
  }

  async *getMany(cids: Iterable<CID> | AsyncIterable<CID>, options?: GetManyOptions): AsyncGenerator<Block> {
    yield* this.#now.getMany(cids, options)
  }

  async put(cid: CID, bytes: Uint8Array, options?: AbortOptions): Promise<void> {
    await this.#now.put(cid, bytes, options)
  }

  notify(cid: CID): void {
    this.#now.notify(cid)
  }

  async has(cid: CID): Promise<boolean> {
    return await this.#now.has(cid)
  }

  async connect(addr: Multiaddr | string, options?: AbortOptions): Promise<PeerId> {
    return await this.#now.connect(addr, options)
  }

  connections(): readonly ConnectedPeer[] {
    return this.#now.connections()
  }

  addresses(): readonly string[] {
    return this.#now.addresses()
  }

  stat(): PeerStat {
    return this.#now.stat()
  }

  scores(): readonly PeerScore[] {
    return this.#now.scores()
  }

  report(period?: string): AccountReport | undefined {
    return this.#now.report(period)
  }

  receipts(options?: ReceiptsOptions): AsyncGenerator<AccountReceipt> {
    return this.#now.receipts(options)
  }

  calibration(): Calibration {
    return this.#now.calibration()
  }

  async ownScoreAt(peer: PeerId | string, options?: OwnScoreOptions): Promise<OwnScore> {
    return await this.#now.ownScoreAt(peer, options)
  }

  gauges(): PeerGauges {
    return this.#now.gauges()
  }

  wantlist(): readonly CID[] {
    return this.#now.wantlist()
  }

  ledger(peer: PeerId | string): LedgerStat | undefined {
    return this.#now.ledger(peer)
  }

  ledgers(): readonly LedgerStat[] {
    return this.#now.ledgers()
  }

  admission(): AdmissionReport {
    return this.#now.admission()
  }

  async serverClaim(owner: PeerId | string, options?: ClaimOptions): Promise<string> {
    return await this.#now.serverClaim(owner, options)
  }

  async delegate(to: PeerId | string, options?: DelegateOptions): Promise<string> {
    return await this.#now.delegate(to, options)
  }

  async useDelegation(delegation: string | undefined): Promise<OwnRegistration> {
    return await this.#now.useDelegation(delegation)
  }

  async register(options?: RegisterOptions): Promise<BindingStat> {
    return await this.#now.register(options)
  }

  async unregister(options?: UnregisterOptions): Promise<readonly BindingStat[]> {
    return await this.#now.unregister(options)
  }
}
