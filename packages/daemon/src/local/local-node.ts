import {
  type AddedEntry,
  type AddSource,
  cat,
  type DirectoryEntry,
  exportCar,
  ls,
  parsePath,
  resolve,
  tree,
  type TreeEntry,
  writeTree,
  type WriteTreeResult
} from '@shardswap/content'
import {
  type AbortOptions,
  blockBytesMax,
  type BlockSink,
  type BlockSource,
  type CID,
  messageOf,
  NotFoundError,
  peerKey
} from '@shardswap/interface'
import type {
  AccountBook,
  AccountReceipt,
  AccountReport,
  BindingStat,
  ConnectedPeer,
  OwnRegistration,
  OwnScore,
  OwnScoreOptions,
  Peer,
  PeerInit,
  PeerLimits,
  PeerScore,
  Registering
} from '@shardswap/peer'
import { type Repo, type RepoStat, repoVersion, type VerifyResult } from '@shardswap/repo'
import { checkPeerId, checkPeerName, parseMultiaddr } from '../address.ts'
import type { NodeConfig } from '../api/config.ts'
import type { NodeStats } from '../api/stats.ts'
import type { NodeGarbage } from '../api/garbage.ts'
import type { NodePins } from '../api/pins.ts'
import { ConnectError, OfflineError, reasonFor } from '../errors.ts'
import type {
  BlockPutOptions,
  BlockRemoved,
  BlockStat,
  FetchOptions,
  LedgerOptions,
  LifetimeOptions,
  NodeAddOptions,
  NodeAdmission,
  NodeDelegateOptions,
  NodeGetOptions,
  NodeId,
  NodeImportOptions,
  NodeImportResult,
  NodeLedgers,
  NodeListOptions,
  NodeReadOptions,
  NodeRegisterOptions,
  NodeScores,
  NodeUnregisterOptions,
  NodeVersion,
  ReceiptListOptions,
  ReportOptions,
  SwapNode
} from '../node.ts'
import type { BlockKeeper } from '../gc/keeper.ts'
import type { StoreState } from '../metrics/store-table.ts'
import { privateKeyOf } from '../keys.ts'
import { scoredPeersMax } from '../limits.ts'
import { agentVersion, version } from '../version.ts'
import { checkBlockSize, cidForBlock, removeBlocks, type RemoveOptions } from './blocks.ts'
import { LocalBitswap } from './bitswap.ts'
import { LocalDag } from './dag.ts'
import { LocalSwarm } from './swarm.ts'
import type { Announcing } from './announcing.ts'
import { listening } from './listening.ts'
import { LocalRoutes, routingInit } from './routing.ts'
import { publicKeyText } from './identity.ts'
import { lateError } from './late.ts'
import { nodeLedgers } from './ledgers.ts'
import { admissionSettings, nodeAdmission, registerOptions } from './registration.ts'
import { sizedTree, writeOptions } from '../tree.ts'
import { keptBlocks } from './kept.ts'
import { offlineSource } from './source.ts'
import { noStats } from './stats.ts'
import { LocalWrites } from './writes.ts'

/** What a node in this process is made of. */
export interface LocalNodeInit {
  /** Opened by the caller, closed by the node. */
  readonly repo: Repo
  /** False: no peer is ever started, and reads end at the repo. */
  readonly online: boolean
  /** It stays: its peer finds others, and is found, by the config of the repo. False by default. */
  readonly isLasting?: boolean
  /** Multiaddrs to listen on once the peer is started; `[]` by default. */
  readonly listen?: readonly string[]
  /** What counts for `stats`, where something does. */
  readonly stats?: NodeStats | undefined
  /** The `metrics` of its peer (`PeerInit.metrics`). */
  readonly metrics?: PeerInit['metrics'] | undefined
  /** What whoever runs the node should know of its peer (`PeerInit.onWarning`). */
  readonly onWarning?: ((message: string) => void) | undefined
  /** Limits of its peer that are other than the defaults. */
  readonly limits?: Partial<PeerLimits> | undefined
}

/** A node on a repo that is open in this process. Its peer starts when a call first needs it. */
export class LocalNode implements SwapNode {
  readonly repo: Repo
  readonly config: NodeConfig
  readonly stats: NodeStats
  readonly dag: LocalDag
  readonly swarm: LocalSwarm
  readonly bitswap: LocalBitswap
  readonly pins: NodePins
  readonly garbage: NodeGarbage
  readonly routing: LocalRoutes
  readonly #online: boolean
  readonly #isLasting: boolean
  readonly #metrics: PeerInit['metrics'] | undefined
  readonly #listen: readonly string[]
  readonly #onWarning: (message: string) => void
  readonly #limits: Partial<PeerLimits>
  readonly #offline: BlockSource
  readonly #keeper: BlockKeeper
  readonly #announcing: Announcing
  readonly #writes: LocalWrites
  #peer: Promise<Peer> | undefined

  constructor(init: LocalNodeInit) {
    this.repo = init.repo
    this.config = init.repo.configFile
    this.stats = init.stats ?? noStats
    this.#metrics = init.metrics
    this.#online = init.online
    this.#isLasting = init.isLasting === true
    this.#listen = init.listen ?? []
    this.#onWarning = init.onWarning ?? (() => undefined)
    this.#limits = init.limits ?? {}
    this.#offline = offlineSource(init.repo)
    this.bitswap = new LocalBitswap(async () => await this.peer())
    this.routing = new LocalRoutes({ repo: init.repo, local: this.#offline, peer: async () => await this.peer() })
    this.swarm = new LocalSwarm({
      peer: async () => await this.peer(),
      connect: async (address, options) => await this.swarmConnect(address, options)
    })
    this.dag = new LocalDag({
      repo: init.repo,
      reading: (options, use, roots) => this.#reading(options, use, roots),
      read: async (options, use, roots) => await this.#read(options, use, roots),
      blockPut: async (bytes, options) => await this.blockPut(bytes, options)
    })
    const { keeper, pins, announcing } = keptBlocks({
      repo: init.repo,
      offline: this.#offline,
      read: async (options, use) => await this.#read(options, use),
      onWarning: this.#onWarning
    })
    this.#keeper = keeper
    this.#announcing = announcing
    this.pins = pins
    this.garbage = keeper
    this.#writes = new LocalWrites({ keeper, pins, blocks: init.repo.blocks, sink: this.#sink() })
  }

  /** The node's peer, started at the first call. Errors: OfflineError. */
  async peer(): Promise<Peer> {
    if (!this.#online) throw new OfflineError('this command needs peers, and this node is offline: start "shardswap daemon" first')
    this.#peer ??= this.#start()
    return await this.#peer
  }

  async #start(): Promise<Peer> {
    const { privateKey, datastore, config } = this.repo
    // Loaded here, for the network's modules take longer to load than most offline commands take to run.
    const { createPeer } = await import('@shardswap/peer')
    const init = {
      ...(await routingInit({ repo: this.repo, announcing: this.#announcing, onWarning: this.#onWarning }, this.#isLasting)),
      privateKey,
      blockstore: this.#keeper.store,
      datastore,
      listen: this.#listen,
      ...(this.#metrics === undefined ? {} : { metrics: this.#metrics }),
      onWarning: this.#onWarning,
      limits: this.#limits,
      share: config.reliability.share,
      backups: config.reliability.backups,
      admission: admissionSettings(config)
    }
    const peer = await listening(this.#listen, async () => await createPeer(init))
    this.#announcing.begin(peer)
    return peer
  }

  /** How its blocks stand, for metrics. */
  storeState(): StoreState {
    const { bytes, isCollecting, collections } = this.#keeper
    return { bytes, isCollecting, collections, maxBytes: this.repo.config.repo.maxBytes }
  }

  async version(): Promise<NodeVersion> {
    return { version, repoVersion, system: `${process.arch}/${process.platform}`, runtime: process.version }
  }

  async id(): Promise<NodeId> {
    const id = this.repo.peerId.toString()
    const publicKey = publicKeyText(this.repo.privateKey)
    const peer = await this.#peer
    if (peer === undefined) return { id, publicKey, addresses: [], agentVersion, protocols: [] }
    return { id, publicKey, addresses: peer.addresses(), agentVersion, protocols: peer.libp2p.getProtocols() }
  }

  async *add(sources: AsyncIterable<AddSource> | Iterable<AddSource>, options: NodeAddOptions = {}): AsyncGenerator<AddedEntry> {
    yield* this.#guarded(options, this.#writes.add(sources, options))
  }

  async *cat(path: string, options: NodeReadOptions = {}): AsyncGenerator<Uint8Array> {
    const { onSize, offset = 0, length } = options
    const sized = async function* (source: BlockSource): AsyncGenerator<Uint8Array> {
      if (onSize !== undefined) {
        const { size } = await resolve(source, path, options)
        const rest = size > BigInt(offset) ? size - BigInt(offset) : 0n
        onSize(length === undefined || BigInt(length) > rest ? rest : BigInt(length))
      }
      yield* cat(source, path, options)
    }
    yield* this.#reading(options, sized, [parsePath(path).root])
  }

  async *ls(path: string, options: NodeListOptions = {}): AsyncGenerator<DirectoryEntry> {
    yield* this.#reading(options, (source) => ls(source, path, options), [parsePath(path).root])
  }

  async get(path: string, target: string, options: NodeGetOptions = {}): Promise<WriteTreeResult> {
    const write = async (source: BlockSource): Promise<WriteTreeResult> =>
      await writeTree(sizedTree(tree(source, path, options), options.onSize), target, writeOptions(path, options))
    return await this.#read(options, write, [parsePath(path).root])
  }

  /** A whole tree, parents first. The content of an entry must be read, if at all, before the next entry is asked for. */
  async *tree(path: string, options: NodeReadOptions = {}): AsyncGenerator<TreeEntry> {
    yield* this.#reading(options, (source) => tree(source, path, options), [parsePath(path).root])
  }

  async blockPut(bytes: Uint8Array, options: BlockPutOptions = {}): Promise<BlockStat> {
    checkBlockSize(bytes.byteLength, options.allowBigBlock === true)
    const cid = cidForBlock(bytes, options)
    await this.#writes.put(cid, bytes, options)
    return { cid, size: bytes.byteLength }
  }

  async blockGet(cid: CID, options: FetchOptions = {}): Promise<Uint8Array> {
    return await this.#read(options, async (source) => await source.get(cid, options), [cid])
  }

  async blockStat(cid: CID, options: FetchOptions = {}): Promise<BlockStat> {
    const size = await this.repo.blocks.size(cid, options)
    return { cid, size: size ?? (await this.blockGet(cid, options)).byteLength }
  }

  async *blockRm(cids: readonly CID[], options: RemoveOptions = {}): AsyncGenerator<BlockRemoved> {
    yield* removeBlocks(this.#keeper, cids, options)
  }

  async dagImport(archive: AsyncIterable<Uint8Array>, options: NodeImportOptions = {}): Promise<NodeImportResult> {
    try {
      return await this.#writes.import(archive, options)
    } catch (error) {
      throw reasonFor(error, options.signal)
    }
  }

  async *dagExport(path: string, options: FetchOptions = {}): AsyncGenerator<Uint8Array> {
    const exported = async function* (source: BlockSource): AsyncGenerator<Uint8Array> {
      const { cid } = await resolve(source, path, options)
      yield* exportCar(source, cid, options)
    }
    yield* this.#reading(options, exported, [parsePath(path).root])
  }

  async swarmPeers(): Promise<readonly ConnectedPeer[]> {
    return (await this.peer()).connections()
  }

  async swarmConnect(address: string, options: AbortOptions = {}): Promise<string> {
    const target = parseMultiaddr(address)
    const peer = await this.peer()
    try {
      return (await peer.connect(target, options)).toString()
    } catch (error) {
      if (options.signal?.aborted === true) throw reasonFor(error, options.signal)
      const why = messageOf(error)
      throw new ConnectError(`could not connect to ${address}: ${why}`, { cause: error })
    }
  }

  async scores(): Promise<NodeScores> {
    const peer = await this.#peer
    if (peer !== undefined) return { ...fewScores(peer.scores()), calibration: peer.calibration() }
    const { rememberedScores } = await import('@shardswap/peer')
    return { ...fewScores(await rememberedScores(this.repo.datastore)), calibration: undefined }
  }

  async ownScoreAt(target: string, options: OwnScoreOptions = {}): Promise<OwnScore> {
    checkPeerName(target)
    const peer = await this.peer()
    const id = target.startsWith('/') ? await this.swarmConnect(target, options) : target
    try {
      return await peer.ownScoreAt(id, options)
    } catch (error) {
      throw reasonFor(error, options.signal)
    }
  }

  async report({ period }: ReportOptions = {}): Promise<AccountReport> {
    return reportIn(await this.#book(), period)
  }

  async *receipts({ period, peer, signal }: ReceiptListOptions = {}): AsyncGenerator<AccountReceipt> {
    const book = await this.#book()
    const { period: name } = reportIn(book, period)
    yield* this.#guarded({ signal }, book.receipts({ period: name, signal, ...(peer === undefined ? {} : { peer: peerKey(peer) }) }))
  }

  /** The accounts of the peer that runs, or what the last one has left. */
  async #book(): Promise<Pick<AccountBook, 'report' | 'receipts'>> {
    const peer = await this.#peer
    if (peer !== undefined) return peer
    const { rememberedAccounts } = await import('@shardswap/peer')
    return await rememberedAccounts(this.repo.datastore)
  }

  async ledgers({ peer }: LedgerOptions = {}): Promise<NodeLedgers> {
    return nodeLedgers(await this.#peer, this.repo.config.serve.mode, peer)
  }

  async admission(): Promise<NodeAdmission> {
    const isRunning = (await this.#peer) !== undefined
    return nodeAdmission(await this.#registering(async (registering) => registering.admission()), isRunning)
  }

  async register(options: NodeRegisterOptions = {}): Promise<BindingStat> {
    return await this.#registering(async (registering) => await registering.register(registerOptions(options)))
  }

  async unregister({ ownerKey, client }: NodeUnregisterOptions = {}): Promise<readonly BindingStat[]> {
    if (client !== undefined) checkPeerId(client)
    const options = { ...(ownerKey === undefined ? {} : { ownerKey: privateKeyOf(ownerKey) }), ...(client === undefined ? {} : { client }) }
    return await this.#registering(async (registering) => await registering.unregister(options))
  }

  async serverClaim(owner: string, { lifetimeMs }: LifetimeOptions = {}): Promise<string> {
    checkPeerId(owner)
    const options = lifetimeMs === undefined ? {} : { lifetimeMs }
    return await this.#registering(async (registering) => await registering.serverClaim(owner, options))
  }

  async delegate(to: string, options: NodeDelegateOptions = {}): Promise<string> {
    checkPeerId(to)
    return await this.#registering(async (registering) => await registering.delegate(to, registerOptions(options)))
  }

  async useDelegation(delegation: string | undefined): Promise<OwnRegistration> {
    return await this.#registering(async (registering) => await registering.useDelegation(delegation))
  }

  /** What runs, or what is stored, which is written again where the call changes it. */
  async #registering<T>(use: (registering: Registering) => Promise<T>): Promise<T> {
    const peer = await this.#peer
    if (peer !== undefined) return await use(peer)
    const { openAdmission } = await import('@shardswap/peer')
    const { privateKey, datastore, config } = this.repo
    const stored = await openAdmission({ privateKey, datastore, settings: admissionSettings(config), onWarning: this.#onWarning })
    try {
      return await use(stored)
    } finally {
      await stored.close()
    }
  }

  async repoStat(): Promise<RepoStat> {
    return await this.repo.stat()
  }

  async *repoVerify(options: AbortOptions = {}): AsyncGenerator<VerifyResult> {
    yield* this.#guarded(options, this.repo.verify(options))
  }

  async close(): Promise<void> {
    const starting = this.#peer
    this.#peer = undefined
    this.#announcing.end()
    try {
      // First, for what the peer has to store may wait for a collection.
      await this.#keeper.close()
      const peer = await starting?.catch(() => undefined)
      await peer?.stop()
    } finally {
      await this.repo.close()
    }
  }

  /** The repo; online, peers that wait for a block are told that it is here. */
  #sink(): BlockSink {
    return {
      put: async (cid, bytes, { signal } = {}) => {
        const peer = await this.#peer
        if (peer !== undefined && bytes.byteLength <= blockBytesMax) await peer.put(cid, bytes)
        else await this.#keeper.store.put(cid, bytes, signal === undefined ? {} : { signal })
        this.#announcing.stored(cid)
      }
    }
  }

  async #read<T>(options: FetchOptions, use: (source: BlockSource) => Promise<T>, roots: readonly CID[] = []): Promise<T> {
    let answer: { value: T } | undefined
    const single = async function* (source: BlockSource): AsyncGenerator<T> {
      yield await use(source)
    }
    for await (const value of this.#reading(options, single, roots)) answer = { value }
    if (answer === undefined) throw new NotFoundError('nothing was read')
    return answer.value
  }

  /** Runs a read against the repo or, online, against a session that ends with the read. Collections that begin meanwhile spare what is below the roots. */
  async *#reading<T>(options: FetchOptions, use: (source: BlockSource) => AsyncIterable<T>, roots: readonly CID[] = []): AsyncGenerator<T> {
    const hold = this.#keeper.hold(roots, true)
    try {
      if (!this.#online || options.offline === true) yield* this.#guarded(options, use(this.#offline))
      else yield* this.#fetching(options, use)
    } finally {
      hold.end()
    }
  }

  async *#fetching<T>(options: FetchOptions, use: (source: BlockSource) => AsyncIterable<T>): AsyncGenerator<T> {
    const peer = await this.peer()
    const session = peer.createSession({ signal: options.signal })
    try {
      yield* this.#guarded(options, use(options.patient === true ? session : impatient(session)))
    } catch (error) {
      throw lateError(error, options.signal, session, peer)
    } finally {
      session.close()
    }
  }

  /** Ends with the signal's reason, whatever the layers below made of it. */
  async *#guarded<T>(options: AbortOptions, items: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* items
    } catch (error) {
      throw reasonFor(error, options.signal)
    }
  }
}

function reportIn(book: Pick<AccountBook, 'report'>, period: string | undefined): AccountReport {
  const report = book.report(period)
  if (report !== undefined) return report
  const known = book.report()?.periods ?? []
  throw new NotFoundError(`no account of a period called "${period ?? ''}" is known: there are ${known.join(', ')}`)
}

/** Those whose scores fit into an answer. */
function fewScores(all: readonly PeerScore[]): Pick<NodeScores, 'peers' | 'known'> {
  if (all.length <= scoredPeersMax) return { peers: all, known: all.length }
  const connected = all.filter(({ isConnected }) => isConnected)
  const others = all.filter(({ isConnected }) => !isConnected)
  const kept = new Set([...connected, ...others].slice(0, scoredPeersMax))
  return { peers: all.filter((score) => kept.has(score)), known: all.length }
}

/**
 * A session asked without a signal gives up by itself where nothing comes. It
 * is closed when the read ends or is given up, so no want outlives its reader.
 */
function impatient(session: BlockSource): BlockSource {
  return { get: async (cid) => await session.get(cid) }
}
