/** Connections and the exchange, asked of a daemon. */
import type { AbortOptions, CID } from '@shardswap/interface'
import type {
  BitswapLedger,
  BitswapStat,
  Disconnected,
  KnownAddresses,
  NodeBitswap,
  NodeSwarm,
  PingOptions,
  PingStep
} from '../api/network.ts'
import {
  addressesOf,
  type AddressesShape,
  bitswapLedgerOf,
  type BitswapLedgerShape,
  bitswapOf,
  type BitswapShape,
  disconnectedOf,
  pingOf,
  type PingShape,
  wantlistOf,
  type WantlistShape
} from '../network-shapes.ts'
import type { NodeId } from '../node.ts'
import { idOf, type IdShape } from '../shapes.ts'
import type { DaemonCalls } from './daemon-calls.ts'

interface StringsShape {
  readonly Strings: readonly string[]
}

export class RemoteSwarm implements NodeSwarm {
  readonly #calls: DaemonCalls

  constructor(calls: DaemonCalls) {
    this.#calls = calls
  }

  async addresses(options: AbortOptions = {}): Promise<readonly KnownAddresses[]> {
    return addressesOf(await this.#calls.json<AddressesShape>('swarm/addrs', {}, options))
  }

  async ownAddresses(options: AbortOptions = {}): Promise<readonly string[]> {
    return (await this.#calls.json<StringsShape>('swarm/addrs/local', {}, options)).Strings
  }

  async disconnect(address: string, options: AbortOptions = {}): Promise<Disconnected> {
    const { Strings } = await this.#calls.json<StringsShape>('swarm/disconnect', { arg: address }, options)
    return disconnectedOf(Strings[0] ?? '')
  }

  async *ping(peer: string, options: PingOptions = {}): AsyncGenerator<PingStep> {
    const params = { arg: peer, count: options.count }
    for await (const line of this.#calls.lines<PingShape>('ping', params, options)) yield pingOf(line)
  }

  async identity(peer: string, options: AbortOptions = {}): Promise<NodeId> {
    return idOf(await this.#calls.json<IdShape>('id', { arg: peer }, options))
  }
}

export class RemoteBitswap implements NodeBitswap {
  readonly #calls: DaemonCalls

  constructor(calls: DaemonCalls) {
    this.#calls = calls
  }

  async stat(options: AbortOptions = {}): Promise<BitswapStat> {
    return bitswapOf(await this.#calls.json<BitswapShape>('bitswap/stat', {}, options))
  }

  async wantlist(peer?: string, options: AbortOptions = {}): Promise<readonly CID[]> {
    return wantlistOf(await this.#calls.json<WantlistShape>('bitswap/wantlist', { peer }, options))
  }

  async ledger(peer: string, options: AbortOptions = {}): Promise<BitswapLedger> {
    return bitswapLedgerOf(await this.#calls.json<BitswapLedgerShape>('bitswap/ledger', { arg: peer }, options))
  }
}
