/** When each CID was announced last, kept in the datastore so that a restart does not announce everything anew. */
import { type CID, isNotFound } from '@shardswap/interface'
import { base32 } from 'multiformats/bases/base32'
import * as Digest from 'multiformats/hashes/digest'
import { CID as Cid } from 'multiformats/cid'
import { type Datastore, Key } from 'interface-datastore'

const prefix = '/shardswap/announced/'
const timeBytes = 8

/** Routers know blocks by their multihashes, whatever the codec. */
function keyOf(cid: CID): Key {
  return new Key(prefix + base32.baseEncode(cid.multihash.bytes), false)
}

function timeIn(value: Uint8Array): number | undefined {
  if (value.byteLength !== timeBytes) return undefined
  const ms = new DataView(value.buffer, value.byteOffset, timeBytes).getFloat64(0)
  return Number.isFinite(ms) ? ms : undefined
}

export class Announced {
  readonly #datastore: Datastore

  constructor(datastore: Datastore) {
    this.#datastore = datastore
  }

  /** When a CID was announced last, in milliseconds since 1970; undefined where it never was. */
  async lastMs(cid: CID): Promise<number | undefined> {
    try {
      return timeIn(await this.#datastore.get(keyOf(cid)))
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  async note(cid: CID, atMs: number): Promise<void> {
    const value = new Uint8Array(timeBytes)
    new DataView(value.buffer).setFloat64(0, atMs)
    await this.#datastore.put(keyOf(cid), value)
  }

  async forget(cid: CID): Promise<void> {
    await this.#datastore.delete(keyOf(cid))
  }

  /** Those that were announced before `beforeMs` and not since. */
  async *before(beforeMs: number): AsyncGenerator<CID> {
    for await (const { key, value } of this.#datastore.query({ prefix })) {
      const lastMs = timeIn(value)
      if (lastMs !== undefined && lastMs >= beforeMs) continue
      yield Cid.createV1(0x55, Digest.decode(base32.baseDecode(key.toString().slice(prefix.length))))
    }
  }
}
