import { verify } from '@shardswap/hashes'
import {
  type AbortOptions,
  type Block,
  blockBytesMax,
  blockKey,
  type CID,
  InvalidParametersError,
  type PeerKey,
  peerKey,
  StoppedError,
  TooLargeError
} from '@shardswap/interface'
import type { DecodedMessage, OutgoingMessage } from '@shardswap/protocol'
import type { Calibration, PeerScore } from '@shardswap/reliability'
import type { Logger, PeerId, PrivateKey, Startable } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { isMultiaddr, type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import type { Blockstore } from 'interface-blockstore'
import type { AdmissionRecords } from './admission/records.ts'
import { AdmissionShell } from './admission/shell.ts'
import { introduced, type Introduction } from './admission/tests/introduction.ts'
import { type IntroducedPeer, nodeTests } from './admission/tests/node.ts'
import type { AvailabilityTests } from './admission/tests/tests.ts'
import type {
  AdmissionReport,
  BindingStat,
  ClaimOptions,
  DelegateOptions,
  OwnRegistration,
  RegisterOptions,
  UnregisterOptions
} from './admission/types.ts'
import { nowMs } from './clock.ts'
import { Fetcher } from './fetch/fetcher.ts'
import { PeerSession, type Reach } from './fetch/peer-session.ts'
import { fetchStat, peerFetchStat } from './fetch/stat.ts'
import { Search } from './fetch/search.ts'
import type { PeerLimits } from './limits.ts'
import type { Host } from './network/host.ts'
import { Network } from './network/network.ts'
import type { AccountReceipt, AccountReport, ReceiptsOptions } from './reliability/account-book.ts'
import type { PeerRecords } from './reliability/peer-records.ts'
import { ScoresProtocol } from './reliability/scores-protocol.ts'
import type { OwnScore, OwnScoreOptions } from './reliability/types.ts'
import { Server } from './serve/server.ts'
import type { ServerLinks } from './serve/types.ts'
import { type LocalStore, localStore } from './store.ts'
import type {
  ConnectedPeer,
  Exchange,
  ExchangeInit,
  GetManyOptions,
  GetOptions,
  LedgerStat,
  PeerGauges,
  PeerInit,
  PeerStat,
  Session,
  SessionInit
} from './types.ts'

/** What a peer is put together from. */
export interface PeerParts<H extends Host> {
  readonly libp2p: H
  /** The same node where it was made for this peer: it starts and stops with it. */
  readonly ownNode: Startable | undefined
  readonly blockstore: Blockstore
  /** The same as the exchange uses it, where that is not as usual. */
  readonly store?: LocalStore
  /** Of this peer's identity, where it is known. */
  readonly privateKey: PrivateKey | undefined
  readonly records: PeerRecords
  readonly admission: AdmissionRecords
  readonly limits: PeerLimits
  readonly log: Logger
  /** Makes other nodes, not started. */
  readonly newPeer: (init: PeerInit) => Promise<IntroducedPeer>
}

/** The node: wires libp2p, the fetching half, the serving half and the store. Decides nothing itself. */
export class ShardswapPeer<H extends Host = Host> implements Exchange {
  readonly libp2p: H
  readonly blockstore: Blockstore
  readonly #ownNode: Startable | undefined
  readonly #limits: PeerLimits
  readonly #log: Logger
  readonly #store: LocalStore
  readonly #network: Network
  readonly #fetcher: Fetcher
  readonly #server: Server | undefined
  readonly #search: Search
  readonly #records: PeerRecords
  readonly #scores: ScoresProtocol
  readonly #admission: AdmissionShell
  readonly #tests: AvailabilityTests
  readonly #admissionRecords: AdmissionRecords
  readonly #sessions = new Set<PeerSession>()
  #own: PeerSession | undefined
  #starting: Promise<void> | undefined
  #stopping: Promise<void> | undefined
  #state: 'new' | 'started' | 'stopped' = 'new'

  constructor(init: ExchangeInit, parts: PeerParts<H>) {
    const { libp2p, blockstore, privateKey, records, admission, limits, log } = parts
    this.libp2p = libp2p
    this.blockstore = blockstore
    this.#ownNode = parts.ownNode
    this.#limits = limits
    this.#log = log
    this.#store = parts.store ?? localStore(blockstore)
    this.#records = records
    this.#scores = new ScoresProtocol({ libp2p, privateKey, log, nowMs, lines: records })
    this.#admission = new AdmissionShell({
      libp2p,
      records: admission,
      log,
      random: Math.random,
      onBusy: (peer, forMs) => this.#fetcher.peerBusy(peer, forMs)
    })
    this.#admissionRecords = admission
    this.#tests = nodeTests({ ...parts, init, isOwnNode: parts.ownNode !== undefined })
    this.#network = new Network(
      libp2p,
      limits,
      {
        onConnected: (peer, supportsHave) => this.#onConnected(peer, supportsHave),
        onDisconnected: (peer) => this.#onDisconnected(peer),
        onBytes: (peer, bytes) => this.#fetcher.receiveBytes(peer, bytes),
        mayTake: (peer) => this.#server?.mayTake(peer),
        onTalk: (peer, ms) => this.#server?.took(peer, ms),
        onMessage: (peer, message, bytes) => this.#onMessage(peer, message, bytes),
        standingAt: (peer) => this.#fetcher.standingAt(peer),
        isWanting: () => this.#fetcher.wantlist().length > 0
      },
      log,
      nowMs
    )
    this.#search = new Search(libp2p, init.routing, limits, log)
    this.#fetcher = new Fetcher(limits, {
      store: this.#store,
      nowMs,
      random: { next: Math.random },
      reliability: records.core,
      backups: init.backups,
      self: peerKey(libp2p.peerId),
      log,
      want: (peer, cid, key, wantType) => this.#network.link(peer)?.want(cid, key, wantType),
      cancel: (peer, cid, key) => this.#network.link(peer)?.cancel(cid, key),
      flush: (peer) => this.#network.link(peer)?.flush(),
      findProviders: (session, cid) =>
        this.#search.start(
          cid,
          (provider) => this.#fetcher.providerFound(session, provider),
          (event) => this.#fetcher.progress(event)
        ),
      received: (peer, bytes, cid) => {
        this.#server?.blocksReceived(peer, 1, bytes)
        if (cid !== undefined) this.#tests.claimed(peer, cid)
      },
      stored: (cid, bytes) => this.#server?.blockArrived(cid, bytes),
      claimed: (peer, cid) => this.#tests.claimed(peer, cid)
    })
    if (init.serve === false) return
    const links: ServerLinks = { send: async (peer, message, signal) => await this.#serve(peer, message, signal) }
    const tellBusy = async (peer: PeerKey): Promise<void> => await this.#admission.tellBusy(peer)
    this.#server = new Server({ store: this.#store, links, nowMs, tellBusy, log }, init.serveLimits ?? {}, this.#admission.core)
  }

  get peerId(): PeerId {
    return this.libp2p.peerId
  }

  async start(): Promise<void> {
    if (this.#state === 'started') return
    if (this.#state === 'stopped') throw new StoppedError('a stopped peer does not start again: create a new one')
    this.#state = 'started'
    this.#starting = this.#start()
    try {
      await this.#starting
    } catch (error) {
      // What was started so far, timers and listeners among it, ends with the peer that is none.
      await this.stop()
      throw error
    }
  }

  async #start(): Promise<void> {
    this.#records.start()
    await this.#scores.start()
    await this.#admission.start()
    await this.#network.start()
    // Its own node starts last, so that no early connection finds it without handlers.
    await this.#ownNode?.start()
    this.#tests.start()
  }

  async stop(): Promise<void> {
    if (this.#state === 'started') this.#stopping = this.#stop()
    await this.#stopping
  }

  async #stop(): Promise<void> {
    this.#state = 'stopped'
    // What has begun to start would go on, and nobody would ever end it.
    await this.#starting?.catch(() => undefined)
    this.#search.stop()
    for (const session of [...this.#sessions, ...(this.#own === undefined ? [] : [this.#own])]) session.end('the peer was stopped')
    this.#sessions.clear()
    this.#own = undefined
    this.#fetcher.stop()
    // Together: the server waits for its sends, and a send that waits for a stream to open ends with the network.
    await Promise.all([this.#tests.stop(), this.#server?.stop(), this.#network.stop(), this.#scores.stop(), this.#admission.stop()])
    // Once nothing more happens that would have to be remembered.
    await Promise.all([this.#records.stop(), this.#admissionRecords.stop()])
    await this.#ownNode?.stop()
  }

  createSession(init: SessionInit = {}): Session {
    this.#mustRun()
    const fixed = init.peers === undefined ? undefined : new Set(init.peers.map(peerKey))
    const session = new PeerSession(this.#fetcher, this.#limits, this.#reach, fixed, init.signal, (ended) => this.#sessions.delete(ended))
    this.#sessions.add(session)
    return session
  }

  async get(cid: CID, options?: GetOptions): Promise<Uint8Array> {
    this.#mustRun()
    this.#own ??= new PeerSession(this.#fetcher, this.#limits, this.#reach, undefined, undefined, () => undefined)
    return await this.#own.get(cid, options)
  }

  async *getMany(cids: Iterable<CID> | AsyncIterable<CID>, options?: GetManyOptions): AsyncGenerator<Block> {
    const session = this.createSession()
    try {
      yield* session.getMany(cids, options)
    } finally {
      session.close()
    }
  }

  async put(cid: CID, bytes: Uint8Array, options?: AbortOptions): Promise<void> {
    options?.signal?.throwIfAborted()
    if (bytes.byteLength > blockBytesMax) {
      throw new TooLargeError(`block of ${bytes.byteLength} bytes is more than the ${blockBytesMax} that every Bitswap peer takes`)
    }
    verify(cid, bytes)
    await this.#store.put(cid, bytes, blockKey(cid))
    this.#fetcher.put(cid, bytes)
    this.#server?.blockArrived(cid, bytes.byteLength)
  }

  notify(cid: CID): void {
    const read = async (): Promise<Uint8Array | undefined> => await this.#store.get(cid, blockKey(cid))
    read().then(
      (bytes) => {
        if (bytes === undefined || this.#state !== 'started') return
        this.#fetcher.put(cid, bytes)
        this.#server?.blockArrived(cid, bytes.byteLength)
      },
      (error: unknown) => this.#log.error('could not read %c to tell of it - %e', cid, error)
    )
  }

  /** Whether anybody waits for the block: a caller here, or a client. */
  isWanted(cid: CID): boolean {
    return this.#fetcher.wants(blockKey(cid)) || this.#server?.isWanted(cid) === true
  }

  async has(cid: CID): Promise<boolean> {
    return await this.#store.has(cid)
  }

  async connect(addr: Multiaddr | string, options?: AbortOptions): Promise<PeerId> {
    this.#mustRun()
    return await this.#meet(isMultiaddr(addr) ? addr : multiaddr(addr), options)
  }

  readonly #reach: Reach = async (peer, options) => {
    this.#mustRun()
    return peerKey(await this.#meet('getComponents' in peer || 'toMultihash' in peer ? peer : [...peer], options))
  }

  async #meet(target: PeerId | Multiaddr | Multiaddr[], options: AbortOptions | undefined): Promise<PeerId> {
    const connection = await this.libp2p.dial(target, options?.signal === undefined ? {} : { signal: options.signal })
    await this.#network.identified(connection, options?.signal)
    const peer = peerKey(connection.remotePeer)
    // Whoever connects on purpose is going to ask, and not as a stranger.
    this.#network.link(peer)?.warm()
    await this.#admission.known(peer, options?.signal)
    return connection.remotePeer
  }

  connections(): readonly ConnectedPeer[] {
    return this.libp2p.getConnections().map((connection) => ({
      peer: connection.remotePeer.toString(),
      addr: connection.remoteAddr.toString(),
      direction: connection.direction,
      ...(connection.rtt === undefined ? {} : { latencyMs: connection.rtt }),
      protocols: [...new Set(connection.streams.map((stream) => stream.protocol).filter((protocol) => protocol !== ''))]
    }))
  }

  addresses(): readonly string[] {
    return this.libp2p.getMultiaddrs().map((addr) => addr.toString())
  }

  stat(): PeerStat {
    const { core } = this.#fetcher
    return {
      fetch: fetchStat(core.total),
      serve: this.#server?.stat() ?? { blocksSent: 0, bytesSent: 0, messagesSent: 0 },
      peers: core.queues().map((queue) => peerFetchStat(queue, this.#records.scoreOf(queue.peer))),
      wantlist: this.wantlist(),
      connectedPeers: this.#network.connectedPeers
    }
  }

  scores(): readonly PeerScore[] {
    return this.#records.scores()
  }

  calibration(): Calibration {
    return this.#records.core.calibration()
  }

  report(period?: string): AccountReport | undefined {
    return this.#records.book.report(period)
  }

  receipts(options?: ReceiptsOptions): AsyncGenerator<AccountReceipt> {
    return this.#records.book.receipts(options)
  }

  async ownScoreAt(peer: PeerId | string, options?: OwnScoreOptions): Promise<OwnScore> {
    this.#mustRun()
    return await this.#scores.ask(typeof peer === 'string' ? parsePeerId(peer) : peer, options)
  }

  admission(): AdmissionReport {
    return { ...this.#admission.report(), tests: this.#tests.report() }
  }

  /** Who it is to others, where that was settled elsewhere. */
  async introduced(introduction: Introduction): Promise<void> {
    await introduced(this.#admissionRecords, introduction)
  }

  async serverClaim(owner: PeerId | string, options?: ClaimOptions): Promise<string> {
    return await this.#admissionRecords.own.serverClaim(owner, options)
  }

  async delegate(to: PeerId | string, options?: DelegateOptions): Promise<string> {
    return await this.#admissionRecords.own.delegate(to, options)
  }

  async useDelegation(delegation: string | undefined): Promise<OwnRegistration> {
    return await this.#admissionRecords.own.useDelegation(delegation)
  }

  async register(options?: RegisterOptions): Promise<BindingStat> {
    return await this.#admissionRecords.own.register(options)
  }

  async unregister(options?: UnregisterOptions): Promise<readonly BindingStat[]> {
    return await this.#admissionRecords.own.unregister(options)
  }

  gauges(): PeerGauges {
    const fetch = this.#fetcher.gauges()
    const serve = this.#server?.gauges()
    return {
      ...fetch,
      sessions: fetch.sessions - (this.#own === undefined ? 0 : 1),
      records: fetch.records - (this.#own?.knownPeers ?? 0),
      searches: this.#search.running,
      clientWants: (serve?.wants ?? 0) + (serve?.lookups ?? 0),
      tests: this.#tests.running,
      clientBytes: (serve?.queuedBytes ?? 0) + (serve?.responseBytes ?? 0)
    }
  }

  wantlist(): readonly CID[] {
    return this.#fetcher.wantlist()
  }

  ledger(peer: PeerId | string): LedgerStat | undefined {
    return this.#server?.ledger(peerKey(peer))
  }

  ledgers(): readonly LedgerStat[] {
    return this.#server?.ledgers() ?? []
  }

  #mustRun(): void {
    if (this.#state === 'new') throw new StoppedError('the peer is not started: call start() first')
    if (this.#state === 'stopped') throw new StoppedError('the peer was stopped')
  }

  #onConnected(peer: PeerKey, supportsHave: boolean): void {
    this.#fetcher.connectPeer(peer, supportsHave)
    this.#server?.peerConnected(peer)
  }

  #onDisconnected(peer: PeerKey): void {
    this.#fetcher.disconnectPeer(peer)
    this.#server?.peerDisconnected(peer)
  }

  async #serve(peer: PeerKey, message: OutgoingMessage, signal: AbortSignal): Promise<boolean> {
    const isSent = (await this.#network.link(peer)?.send(message, signal)) ?? false
    if (isSent) for (const { cid } of message.blocks ?? []) this.#tests.given(peer, cid)
    return isSent
  }

  #onMessage(peer: PeerKey, message: DecodedMessage, bytes: number): Promise<void> | undefined {
    const behind = this.#fetcher.receive(peer, message, bytes)
    this.#fetcher.peerWants(peer, wantedIn(message))
    const asksTooFast = this.#server?.handleMessage(peer, message)
    if (behind === undefined || asksTooFast === undefined) return behind ?? asksTooFast
    return Promise.all([behind, asksTooFast]).then(() => undefined)
  }
}

function parsePeerId(text: string): PeerId {
  try {
    return peerIdFromString(text)
  } catch (cause) {
    throw new InvalidParametersError(`"${text}" is no peer id`, { cause })
  }
}

/** What a peer says that it wants. */
function* wantedIn(message: DecodedMessage): Generator<CID> {
  for (const { cid, cancel } of message.entries) if (!cancel) yield cid
}
