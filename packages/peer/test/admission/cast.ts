import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Connection, Libp2p, PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { peerKey } from '@shardswap/interface'
import { createNode } from '../../src/libp2p-node.ts'
import {
  decodeRegistryAnswer,
  decodeRegistryFrame,
  encodeRegistryAnswer,
  encodeRegistryFrame,
  type RegistryAnswer,
  type RegistryFrame
} from '../../src/admission/registry-frame.ts'
import { registryProtocol } from '../../src/admission/registry-protocol.ts'
import { signBinding, type SignedRecord } from '../../src/admission/signed-record.ts'
import type { AdmittedPeer, Peer, PeerInit, RegistryShellLimits } from '../../src/index.ts'
import { readFrame, sendFrame } from '../../src/reliability/frame.ts'
import { connect, Peers } from '../support.ts'

export const dayMs = 24 * 3_600_000

/** So that tests wait for nothing. */
const quick: Partial<RegistryShellLimits> = { tellMs: 40, frameRefillMs: 10, sweepMs: 100 }

/** Peers of ours, and nodes that speak the registry's protocol as they like. */
export class Cast extends Peers {
  readonly #nodes: Libp2p[] = []

  /** A peer of ours whose key is known. */
  async ours(init: PeerInit = {}): Promise<{ readonly peer: Peer; readonly key: PrivateKey; readonly id: string }> {
    const key = init.privateKey ?? (await generateKeyPair('Ed25519'))
    const { shellLimits, ...admission } = init.admission ?? {}
    const peer = await this.create({ ...init, privateKey: key, admission: { ...admission, shellLimits: { ...quick, ...shellLimits } } })
    return { peer, key, id: peer.peerId.toString() }
  }

  /** A node that does nothing but what `tell` says. */
  async raw(key?: PrivateKey): Promise<Raw> {
    const privateKey = key ?? (await generateKeyPair('Ed25519'))
    const libp2p = await createNode({ privateKey, listen: [] })
    await libp2p.start()
    this.#nodes.push(libp2p)
    return new Raw(libp2p, privateKey)
  }

  override async stop(): Promise<void> {
    await Promise.all([super.stop(), ...this.#nodes.splice(0).map(async (node) => await node.stop())])
  }
}

/** A node without a handler of the protocol. */
export class Raw {
  readonly libp2p: Libp2p
  readonly key: PrivateKey
  readonly id: string

  constructor(libp2p: Libp2p, key: PrivateKey) {
    this.libp2p = libp2p
    this.key = key
    this.id = libp2p.peerId.toString()
  }

  /** A new connection, whether there is one or not. */
  async dial(peer: Peer): Promise<Connection> {
    return await this.libp2p.dial(peer.libp2p.getMultiaddrs(), { force: true })
  }

  /** Takes frames from now on. Returns the client keys that are shown, as they come. */
  async hear(): Promise<(string | undefined)[]> {
    const shown: (string | undefined)[] = []
    await this.libp2p.handle(registryProtocol, async (stream) => {
      const signal = AbortSignal.timeout(20_000)
      const { client } = decodeRegistryFrame(await readFrame(stream, 1024 * 1024, signal), { frameRecordsMax: 1024 })
      shown.push(client)
      await sendFrame(stream, encodeRegistryAnswer({ owner: client ?? null }), signal)
    })
    return shown
  }

  /** Rejects where the peer answers nothing. */
  async tell(connection: Connection, frame: RegistryFrame): Promise<RegistryAnswer> {
    return await this.tellBytes(connection, encodeRegistryFrame(frame))
  }

  /** Opens so many streams and begins a frame on each; it never ends. */
  async hang(connection: Connection, streams: number): Promise<void> {
    const signal = AbortSignal.timeout(20_000)
    for (let stream = 0; stream < streams; stream++) {
      const opened = await connection.newStream(registryProtocol, { signal, maxOutboundStreams: 1024 }).catch(() => undefined)
      if (opened?.status === 'open') opened.send(Uint8Array.of(0x80, 0x10, 1, 2, 3))
    }
  }

  /** Takes frames from now on, and answers none. */
  async ignore(): Promise<void> {
    await this.libp2p.handle(registryProtocol, () => undefined)
  }

  async tellBytes(connection: Connection, bytes: Uint8Array): Promise<RegistryAnswer> {
    const signal = AbortSignal.timeout(20_000)
    const stream = await connection.newStream(registryProtocol, { signal, maxOutboundStreams: 1024 })
    const answer = readFrame(stream, 4096, signal)
    const [answered] = await Promise.all([answer, sendFrame(stream, bytes, signal)])
    return decodeRegistryAnswer(answered)
  }
}

/** A binding of keys that one hand holds all. */
export async function bindingOf(
  owner: PrivateKey,
  { expiresMs = Date.now() + dayMs, sequence = Date.now() }: { readonly expiresMs?: number; readonly sequence?: number } = {}
): Promise<SignedRecord> {
  return await signBinding({ owner, client: owner, server: peerKey(peerIdFromPrivateKey(owner)), claim: undefined, expiresMs, sequence })
}

/** How one peer stands with another. */
export function seenBy(peer: Peer, other: { readonly id: string }): AdmittedPeer | undefined {
  return peer.admission().peers.find(({ peer: id }) => id === other.id)
}

export { connect }
