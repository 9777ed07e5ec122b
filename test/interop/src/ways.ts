/** The ways in which other people's programs use a peer, so that one test is run over all of them. */
import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { identify } from '@libp2p/identify'
import { tcp } from '@libp2p/tcp'
import { cat } from '@shardswap/content'
import { connectDaemon, startDaemon } from '@shardswap/daemon'
import type { AbortOptions } from '@shardswap/interface'
import { createPeer, type Exchange, type PeerLimits, shardswap, type ShardswapService, withShardswap } from '@shardswap/peer'
import { memoryRepo } from '@shardswap/repo'
import { createLibp2p } from 'libp2p'
import type { CID } from 'multiformats/cid'
import { sha512 } from 'multiformats/hashes/sha2'
import { quietHelia } from './helia-node.ts'

/** One that is used in some way. */
export interface Used {
  /** What is behind it, to look at and to connect; it is asked for nothing. */
  readonly exchange: Exchange
  /** A block, by the way's own call. Without a signal it ends by itself where nothing comes. */
  get(cid: CID, options?: AbortOptions): Promise<Uint8Array>
  /** A block that is here, or an error at once. */
  getOffline(cid: CID): Promise<Uint8Array>
  /** A file's bytes. */
  cat(root: CID, options?: AbortOptions): AsyncIterable<Uint8Array>
  /** Ends it; may be called again. */
  stop(): Promise<void>
}

/** A way, and how one that is used so is started. */
export interface Way {
  readonly name: string
  start(limits?: Partial<PeerLimits>): Promise<Used>
}

const loopback = '/ip4/127.0.0.1/tcp/0'

async function library(limits: Partial<PeerLimits> = {}): Promise<Used> {
  const exchange = await createPeer({ limits })
  return { ...byExchange(exchange), stop: async () => await exchange.stop() }
}

async function service(limits: Partial<PeerLimits> = {}): Promise<Used> {
  const node = await createLibp2p<{ exchange: ShardswapService; identify: unknown }>({
    addresses: { listen: [loopback] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    services: { identify: identify(), exchange: shardswap({ limits }) },
    connectionMonitor: { abortConnectionOnPingFailure: false }
  })
  return { ...byExchange(node.services.exchange), stop: async () => await node.stop() }
}

function byExchange(exchange: Exchange): Omit<Used, 'stop'> {
  return {
    exchange,
    get: async (cid, options = {}) => await exchange.get(cid, options),
    getOffline: async (cid) => await exchange.get(cid, { timeoutMs: 0 }),
    async *cat(root, options = {}) {
      const session = exchange.createSession()
      try {
        yield* cat(session, root.toString(), options)
      } finally {
        session.close()
      }
    }
  }
}

async function helia(limits: Partial<PeerLimits> = {}): Promise<Used> {
  // Helia knows no hash function but those that it is given, and SHA2-256.
  const node = await withShardswap(quietHelia({ hashers: [sha512] }), { limits, patient: limits.giveUpMs === undefined }).start()
  const get = async (cid: CID, { signal }: AbortOptions, offline = false): Promise<Uint8Array> => {
    const parts = node.blockstore.get(cid, signal === undefined ? { offline } : { signal, offline })
    return Buffer.concat(await Array.fromAsync(parts).catch(rethrow))
  }
  return {
    exchange: node.shardswap,
    get: async (cid, options = {}) => await get(cid, options),
    getOffline: async (cid) => await get(cid, {}, true),
    // Helia's own reader leaves rejections to nobody where it is aborted.
    cat: (root, options = {}) => cat({ get }, root.toString(), options),
    stop: async () => {
      await node.stop()
    }
  }
}

/** Helia says that no broker had the block, and gives what each of them said: ours is the only one. */
function rethrow(error: unknown): never {
  throw error instanceof Error && 'errors' in error && Array.isArray(error.errors) && error.errors.length === 1 ? error.errors[0] : error
}

async function daemon(limits: Partial<PeerLimits> = {}): Promise<Used> {
  const running = await startDaemon({ repo: await memoryRepo(), listen: [loopback], api: loopback, limits })
  const node = await connectDaemon(running.api)
  return {
    exchange: await running.node.peer(),
    get: async (cid, options = {}) => await node.blockGet(cid, { ...options, patient: options.signal !== undefined }),
    getOffline: async (cid) => await node.blockGet(cid, { offline: true }),
    cat: (root, options = {}) => node.cat(root.toString(), { ...options, patient: options.signal !== undefined }),
    stop: async () => await running.stop()
  }
}

/** All of them. */
export const ways: readonly Way[] = [
  { name: 'the library', start: library },
  { name: 'a service of libp2p', start: service },
  { name: 'Helia', start: helia },
  { name: "a daemon's API", start: daemon }
]
