import { generateKeyPair } from '@libp2p/crypto/keys'
import type { PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { MemoryDatastore } from 'datastore-core'
import type { Key } from 'interface-datastore'
import { describe, expect, it } from 'vitest'
import { AdmissionRecords } from '../../src/admission/records.ts'
import { openAdmission } from '../../src/index.ts'
import { KeptLog } from '../reliability/log.ts'

/** As a disk: a write takes a while, and none succeeds where it is full. */
class Disk extends MemoryDatastore {
  isFull = false

  override async put(key: Key, value: Uint8Array): Promise<Key> {
    await new Promise((resolve) => setTimeout(resolve, 20))
    if (this.isFull) throw new Error('no space is left on the disk')
    return super.put(key, value)
  }
}

class Machine {
  readonly datastore = new Disk()
  readonly warnings: string[] = []
  readonly key: PrivateKey

  constructor(key: PrivateKey) {
    this.key = key
  }

  /** A process on it; it ends without a word. */
  async run(): Promise<AdmissionRecords> {
    const records = await AdmissionRecords.open({
      self: peerIdFromPrivateKey(this.key),
      privateKey: this.key,
      settings: {},
      isServing: true,
      datastore: this.datastore,
      log: new KeptLog().log,
      nowMs: () => performance.now(),
      onWarning: (message) => this.warnings.push(message)
    })
    records.start()
    return records
  }

  async bindings(): Promise<number> {
    return (await this.run()).own.stat().bindings.length
  }
}

async function machine(): Promise<Machine> {
  return new Machine(await generateKeyPair('Ed25519'))
}

describe('[I16] what somebody was told is done', () => {
  it('outlives a process that is killed at once: bindings, revocations, delegations', async () => {
    const ours = await machine()
    const other = await generateKeyPair('Ed25519')
    const { own } = await ours.run()
    await own.register()
    expect(await ours.bindings()).toBe(1)
    await own.unregister()
    expect(await ours.bindings()).toBe(0)
    await own.useDelegation(await own.delegate(peerIdFromPrivateKey(ours.key), { clientKey: other }))
    expect((await ours.run()).own.shown().client).toBe(peerIdFromPrivateKey(other).toString())
    await own.useDelegation(undefined)
    expect((await ours.run()).own.shown().client).toBe(peerIdFromPrivateKey(ours.key).toString())
    expect(ours.warnings).toEqual([])
  })

  it('holds until the end of the process where the disk is full, which is said', async () => {
    const ours = await machine()
    const { own } = await ours.run()
    ours.datastore.isFull = true
    await own.register()
    expect(own.stat().bindings).toHaveLength(1)
    expect(ours.warnings).toEqual([expect.stringContaining('could not be written')])
    ours.datastore.isFull = false
    await own.unregister()
    expect(ours.warnings).toHaveLength(1)
  })

  it('is an error where nothing runs in which it could hold, and the disk is full; what is only looked at is none', async () => {
    const { datastore, key } = await machine()
    datastore.isFull = true
    const stored = await openAdmission({ datastore, privateKey: key })
    await stored.register()
    await expect(stored.close()).rejects.toMatchObject({ name: 'NotStoredError', code: 'ERR_NOT_STORED' })
    const looked = await openAdmission({ datastore, privateKey: key })
    expect(looked.admission().own.bindings).toEqual([])
    await looked.close()
  })
})
