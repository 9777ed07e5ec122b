import type { AddedEntry, AddSource, DirectoryEntry } from '@shardswap/content'
import { parsePath, writeTree, type WriteTreeResult } from '@shardswap/content/disk'
import type { AbortOptions, CID } from '@shardswap/interface'
import type { AccountReceipt, AccountReport, BindingStat, ConnectedPeer, OwnRegistration, OwnScore, OwnScoreOptions } from '@shardswap/peer'
import type { RepoStat, VerifyResult } from '@shardswap/repo'
import type { HostPort } from '../address.ts'
import {
  type AdmissionShape,
  admissionOf,
  bindingOf,
  type BindingShape,
  ownRegistrationOf,
  type OwnRegistrationShape
} from '../admission-shapes.ts'
import type { NodeConfig } from '../api/config.ts'
import type { NodeStats } from '../api/stats.ts'
import { RemoteStats } from './stats.ts'
import type { NodeGarbage } from '../api/garbage.ts'
import type { NodePins } from '../api/pins.ts'
import { reasonFor } from '../errors.ts'
import { cidsPerRequestMax } from '../limits.ts'
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
import { sizeHeader } from '../rpc/reply.ts'
import { reportOf, type ReportShape } from '../report-shapes.ts'
import { ownScoreOf, type OwnScoreShape, scoresOf, type ScoresShape } from '../score-shapes.ts'
import { ledgersOf, type LedgersShape } from '../serve-shapes.ts'
import {
  type AddedShape,
  addedOf,
  blockOf,
  type BlockShape,
  idOf,
  type IdShape,
  importOf,
  type ImportShape,
  linkOf,
  type ListShape,
  peerOf,
  type PeerShape,
  removedOf,
  type RemovedShape,
  repoStatOf,
  type RepoStatShape,
  verifyOf,
  type VerifyShape,
  versionOf,
  type VersionShape
} from '../shapes.ts'
import { unpackTree } from '../tar.ts'
import { sizedTree, writeOptions } from '../tree.ts'
import { RemoteConfig } from './config.ts'
import { RemoteDag } from './dag.ts'
import { RemoteBitswap, RemoteSwarm } from './network.ts'
import { RemoteRoutes } from './routing.ts'
import { DaemonCalls, fetchParams } from './daemon-calls.ts'
import { body, call, type Params } from './http.ts'
import { uploadFields, uploadOf, uploadSources } from './multipart.ts'
import { RemoteGarbage } from './garbage.ts'
import { RemotePins } from './pins.ts'

/** A node in another process, asked over its RPC. */
export class RemoteNode implements SwapNode {
  readonly config: NodeConfig
  readonly dag: RemoteDag
  readonly swarm: RemoteSwarm
  readonly bitswap: RemoteBitswap
  readonly routing: RemoteRoutes
  readonly stats: NodeStats
  readonly pins: NodePins
  readonly garbage: NodeGarbage
  readonly #daemon: HostPort
  readonly #calls: DaemonCalls

  constructor(daemon: HostPort) {
    this.#daemon = daemon
    this.config = new RemoteConfig(daemon)
    this.#calls = new DaemonCalls(daemon)
    this.dag = new RemoteDag(this.#calls)
    this.swarm = new RemoteSwarm(this.#calls)
    this.bitswap = new RemoteBitswap(this.#calls)
    this.routing = new RemoteRoutes(this.#calls)
    this.stats = new RemoteStats(this.#calls)
    this.pins = new RemotePins(this.#calls)
    this.garbage = new RemoteGarbage(this.#calls)
  }

  async version(options: AbortOptions = {}): Promise<NodeVersion> {
    return versionOf(await this.#calls.json<VersionShape>('version', {}, options))
  }

  async id(options: AbortOptions = {}): Promise<NodeId> {
    return idOf(await this.#calls.json<IdShape>('id', {}, options))
  }

  async *add(sources: AsyncIterable<AddSource> | Iterable<AddSource>, options: NodeAddOptions = {}): AsyncGenerator<AddedEntry> {
    const { onProgress } = options
    const upload = uploadSources(onProgress === undefined ? sources : counted(sources, onProgress))
    for await (const line of this.#calls.lines<AddedShape>('add', addParams(options), options, upload)) yield addedOf(line)
  }

  async *cat(path: string, options: NodeReadOptions = {}): AsyncGenerator<Uint8Array> {
    const { offset, length, onSize, signal } = options
    const response = await call(this.#daemon, 'cat', { arg: path, offset, length, ...fetchParams(options) }, { signal })
    const size = response.headers[sizeHeader.toLowerCase()]
    if (typeof size === 'string' && /^\d+$/.test(size)) onSize?.(BigInt(size))
    yield* body(response, { signal })
  }

  async *ls(path: string, options: NodeListOptions = {}): AsyncGenerator<DirectoryEntry> {
    const names = options.namesOnly === true ? { size: false, 'resolve-type': false } : {}
    const params = { arg: path, stream: true, ...names, ...fetchParams(options) }
    for await (const line of this.#calls.lines<ListShape>('ls', params, options)) {
      for (const object of line.Objects) yield* object.Links.map(linkOf)
    }
  }

  async get(path: string, target: string, options: NodeGetOptions = {}): Promise<WriteTreeResult> {
    const { signal, onSize } = options
    const response = await call(this.#daemon, 'get', { arg: path, ...fetchParams(options) }, { signal })
    const entries = unpackTree(body(response, { signal }), parsePath(path).root)
    try {
      // The entries come one after another through one stream.
      return await writeTree(sizedTree(entries, onSize), target, { ...writeOptions(path, options), filesMax: 1 })
    } catch (error) {
      throw reasonFor(error, signal)
    }
  }

  async blockPut(bytes: Uint8Array, options: BlockPutOptions = {}): Promise<BlockStat> {
    const { codec, mhtype, mhlen, allowBigBlock, pin } = options
    const params = { 'cid-codec': codec, mhtype, mhlen, 'allow-big-block': allowBigBlock, pin }
    return blockOf(await this.#calls.json<BlockShape>('block/put', params, options, uploadOf(bytes)))
  }

  async blockGet(cid: CID, options: FetchOptions = {}): Promise<Uint8Array> {
    const params = { arg: cid.toString(), ...fetchParams(options) }
    const response = await call(this.#daemon, 'block/get', params, { signal: options.signal })
    const parts: Uint8Array[] = []
    for await (const part of body(response, options)) parts.push(part)
    return Buffer.concat(parts)
  }

  async blockStat(cid: CID, options: FetchOptions = {}): Promise<BlockStat> {
    return blockOf(await this.#calls.json<BlockShape>('block/stat', { arg: cid.toString(), ...fetchParams(options) }, options))
  }

  async *blockRm(cids: readonly CID[], options: AbortOptions & { readonly force?: boolean } = {}): AsyncGenerator<BlockRemoved> {
    for (let first = 0; first < cids.length; first += cidsPerRequestMax) {
      const arg = cids.slice(first, first + cidsPerRequestMax).map(String)
      for await (const line of this.#calls.lines<RemovedShape>('block/rm', { arg, force: options.force }, options)) yield removedOf(line)
    }
  }

  async dagImport(archive: AsyncIterable<Uint8Array>, options: NodeImportOptions = {}): Promise<NodeImportResult> {
    const { pinRoots = true } = options
    const params = { stats: true, 'pin-roots': pinRoots }
    const read: ImportShape[] = []
    for await (const line of this.#calls.lines<ImportShape>('dag/import', params, options, uploadOf(archive))) read.push(line)
    return importOf(read)
  }

  async *dagExport(path: string, options: FetchOptions = {}): AsyncGenerator<Uint8Array> {
    const response = await call(this.#daemon, 'dag/export', { arg: path, ...fetchParams(options) }, { signal: options.signal })
    yield* body(response, options)
  }

  async swarmPeers(options: AbortOptions = {}): Promise<readonly ConnectedPeer[]> {
    const { Peers } = await this.#calls.json<{ Peers: readonly PeerShape[] }>('swarm/peers', {}, options)
    return Peers.map(peerOf)
  }

  async swarmConnect(address: string, options: AbortOptions = {}): Promise<string> {
    const { Strings } = await this.#calls.json<{ Strings: readonly string[] }>('swarm/connect', { arg: address }, options)
    return Strings[0]?.split(' ')[1] ?? ''
  }

  async scores(options: AbortOptions = {}): Promise<NodeScores> {
    return scoresOf(await this.#calls.json<ScoresShape>('shardswap/peers', {}, options))
  }

  async ownScoreAt(peer: string, options: OwnScoreOptions = {}): Promise<OwnScore> {
    const { period, receiptsFrom } = options
    const params = { arg: peer, period, 'receipts-from': receiptsFrom }
    return ownScoreOf(await this.#calls.json<OwnScoreShape>('shardswap/peers/me-at', params, options))
  }

  async report({ period, signal }: ReportOptions = {}): Promise<AccountReport> {
    return reportOf(await this.#calls.json<ReportShape>('shardswap/report', { period }, { signal }))
  }

  async *receipts({ period, peer, signal }: ReceiptListOptions = {}): AsyncGenerator<AccountReceipt> {
    yield* this.#calls.lines<AccountReceipt>('shardswap/report/receipts', { period, peer }, { signal })
  }

  async ledgers({ peer, signal }: LedgerOptions = {}): Promise<NodeLedgers> {
    return ledgersOf(await this.#calls.json<LedgersShape>('shardswap/ledger', { arg: peer }, { signal }))
  }

  async admission(options: AbortOptions = {}): Promise<NodeAdmission> {
    return admissionOf(await this.#calls.json<AdmissionShape>('shardswap/admission', {}, options))
  }

  async register(options: NodeRegisterOptions = {}): Promise<BindingStat> {
    const { ownerKey, clientKey, serverClaim, lifetimeMs } = options
    const upload = uploadFields({ 'owner-key': ownerKey, 'client-key': clientKey, 'server-claim': encoded(serverClaim) })
    return bindingOf(await this.#calls.json<BindingShape>('shardswap/register', { 'lifetime-ms': lifetimeMs }, options, upload))
  }

  async unregister(options: NodeUnregisterOptions = {}): Promise<readonly BindingStat[]> {
    const upload = uploadFields({ 'owner-key': options.ownerKey })
    const params = { client: options.client }
    const { Revoked } = await this.#calls.json<{ Revoked: readonly BindingShape[] }>('shardswap/unregister', params, options, upload)
    return Revoked.map(bindingOf)
  }

  async serverClaim(owner: string, options: LifetimeOptions = {}): Promise<string> {
    const params = { arg: owner, 'lifetime-ms': options.lifetimeMs }
    return (await this.#calls.json<{ Claim: string }>('shardswap/register/claim', params, options)).Claim
  }

  async delegate(to: string, options: NodeDelegateOptions = {}): Promise<string> {
    const params = { arg: to, 'lifetime-ms': options.lifetimeMs }
    const upload = uploadFields({ 'client-key': options.clientKey })
    return (await this.#calls.json<{ Delegation: string }>('shardswap/register/delegate', params, options, upload)).Delegation
  }

  async useDelegation(delegation: string | undefined, options: AbortOptions = {}): Promise<OwnRegistration> {
    const upload = uploadFields({ delegation: encoded(delegation) })
    return ownRegistrationOf(await this.#calls.json<OwnRegistrationShape>('shardswap/register/use', {}, options, upload))
  }

  async repoStat(options: AbortOptions = {}): Promise<RepoStat> {
    return repoStatOf(await this.#calls.json<RepoStatShape>('repo/stat', {}, options))
  }

  async *repoVerify(options: AbortOptions = {}): AsyncGenerator<VerifyResult> {
    for await (const line of this.#calls.lines<VerifyShape>('repo/verify', {}, options)) {
      const result = verifyOf(line)
      if (result !== undefined) yield result
    }
  }

  /** Asks the daemon to stop. */
  async shutdown(options: AbortOptions = {}): Promise<void> {
    const response = await call(this.#daemon, 'shutdown', {}, options)
    response.resume()
  }

  /** Nothing to let go of: each call has a connection of its own, which ends with it. */
  async close(): Promise<void> {}
}

function encoded(text: string | undefined): Uint8Array | undefined {
  return text === undefined ? undefined : new TextEncoder().encode(text)
}

function addParams(options: NodeAddOptions): Params {
  return {
    chunker: options.chunker,
    'cid-version': options.cidVersion,
    'raw-leaves': options.rawLeaves,
    trickle: options.trickle,
    hash: options.hash,
    'wrap-with-directory': options.wrapWithDirectory,
    'only-hash': options.onlyHash,
    pin: options.pin,
    'pin-name': options.pinName,
    // The sources hold them only where they are wanted.
    'preserve-mode': true,
    'preserve-mtime': true
  }
}

async function* counted(
  sources: AsyncIterable<AddSource> | Iterable<AddSource>,
  onProgress: (bytes: number) => void
): AsyncGenerator<AddSource> {
  let bytes = 0
  const count = async function* (content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const data of content) {
      bytes += data.byteLength
      onProgress(bytes)
      yield data
    }
  }
  for await (const source of sources) {
    const { content } = source
    if (content === undefined) yield source
    else yield { ...source, content: count(content instanceof Uint8Array ? [content] : content) }
  }
}
