/** Pins as they stand in the datastore: one record for each CID. */
import { CID, isNotFound, isObject } from '@shardswap/interface'
import type { Repo } from '@shardswap/repo'
import { Key } from 'interface-datastore'
import { Turn } from '../gc/turn.ts'

const prefix = '/shardswap/pins/'

/** A pin that was asked for. */
export interface Pin {
  readonly cid: CID
  readonly isRecursive: boolean
  /** Empty where it has none. */
  readonly name: string
}

/** What is to become of pins, all of it or nothing. */
export interface PinChange {
  readonly put?: readonly Pin[]
  readonly remove?: readonly CID[]
}

function keyOf(cid: CID): Key {
  return new Key(`${prefix}${cid.toString()}`, false)
}

function encode({ isRecursive, name }: Pin): Uint8Array {
  return Buffer.from(JSON.stringify({ mode: isRecursive ? 'recursive' : 'direct', ...(name === '' ? {} : { name }) }))
}

/** A record that cannot be read counts as recursive: rather too much is kept than too little. */
function decode(cid: CID, value: Uint8Array): Pin {
  const record = parsed(value)
  if (!isObject<{ mode: string; name: string }>(record)) return { cid, isRecursive: true, name: '' }
  return { cid, isRecursive: record.mode !== 'direct', name: typeof record.name === 'string' ? record.name : '' }
}

function parsed(value: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(value).toString()) as unknown
  } catch {
    return undefined
  }
}

/** Reads and changes pins. */
export class PinStore {
  readonly #repo: Pick<Repo, 'datastore' | 'sync'>
  readonly #turn = new Turn()
  /** Told of pins once they are forced to the disk. */
  onPinned: (pins: readonly Pin[]) => void = () => undefined
  /** The forcing to the disk that has not begun yet. */
  #nextSync: Promise<void> | undefined
  #lastSync: Promise<void> = Promise.resolve()

  constructor(repo: Pick<Repo, 'datastore' | 'sync'>) {
    this.#repo = repo
  }

  async get(cid: CID): Promise<Pin | undefined> {
    try {
      return decode(cid, await this.#repo.datastore.get(keyOf(cid)))
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  /** All pins as they are when the first one is asked for. */
  async *all(): AsyncGenerator<Pin> {
    for await (const { key, value } of this.#repo.datastore.query({ prefix })) {
      const cid = CID.parse(key.toString().slice(prefix.length))
      yield decode(cid, value)
    }
  }

  /**
   * Decides on a change after all earlier ones, and makes it. Resolves to what `decide` gave, once the change, and the
   * blocks written before it, are forced to the disk. Errors: those of `decide`; then nothing is changed.
   */
  async change<T>(decide: () => Promise<PinChange & { readonly answer: T }>): Promise<T> {
    const { answer, put } = await this.#turn.run(async () => {
      const { put = [], remove = [], answer } = await decide()
      const batch = this.#repo.datastore.batch()
      for (const pin of put) batch.put(keyOf(pin.cid), encode(pin))
      for (const cid of remove) batch.delete(keyOf(cid))
      await batch.commit()
      return { answer, put }
    })
    await this.#sync()
    this.onPinned(put)
    return answer
  }

  /** Many changes that end together are forced to the disk together. */
  async #sync(): Promise<void> {
    this.#nextSync ??= this.#syncAfterLast()
    await this.#nextSync
  }

  async #syncAfterLast(): Promise<void> {
    await this.#lastSync
    // From here on a change may come too late for this one.
    this.#nextSync = undefined
    const running = this.#repo.sync()
    this.#lastSync = running.catch(() => undefined)
    await running
  }
}
