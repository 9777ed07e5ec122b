import { setTimeout as sleep } from 'node:timers/promises'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { peerKey } from '@shardswap/interface'
import { clientKey, ownerKey } from '@shardswap/server'
import { MemoryDatastore } from 'datastore-core'
import type { Datastore } from 'interface-datastore'
import { describe, expect, it } from 'vitest'
import { admissionPlace } from '../../src/admission/kept-admission.ts'
import { AdmissionRecords } from '../../src/admission/records.ts'
import { decodeRecord, encodeRecord } from '../../src/reliability/record.ts'
import { KeptLog } from '../reliability/log.ts'
import { bindingOf } from './cast.ts'

const { recordKey, damagedKey } = admissionPlace

class Scene {
  readonly datastore: Datastore = new MemoryDatastore()
  readonly privateKey: PrivateKey
  readonly log = new KeptLog()
  readonly warnings: string[] = []

  constructor(privateKey: PrivateKey) {
    this.privateKey = privateKey
  }

  async open(saveEveryMs = 60_000): Promise<AdmissionRecords> {
    return await AdmissionRecords.open({
      self: peerIdFromPrivateKey(this.privateKey),
      privateKey: this.privateKey,
      settings: { shellLimits: { saveEveryMs } },
      isServing: true,
      datastore: this.datastore,
      log: this.log.log,
      nowMs: () => performance.now(),
      onWarning: (message) => this.warnings.push(message)
    })
  }

  /** Something of everything, stored. */
  async filled(): Promise<Uint8Array> {
    const records = await this.open()
    const { admission } = records.book
    const other = await generateKeyPair('Ed25519')
    const [id, client] = [peerIdFromPrivateKey(other), peerKey('a client')]
    await records.own.register()
    await records.book.take(await bindingOf(other))
    const nowMs = records.book.nowMs()
    admission.tested(peerKey(id), true, nowMs)
    admission.identified(client, clientKey(id), ownerKey(id), nowMs)
    admission.admit(client, 3, nowMs)
    admission.ended(client, 3, { isServed: true }, nowMs)
    await records.stop()
    return await this.datastore.get(recordKey)
  }
}

async function scene(): Promise<Scene> {
  return new Scene(await generateKeyPair('Ed25519'))
}

describe('what is remembered of admission', () => {
  it('[I3][I5][I13] comes back: bindings, what is renewed, what servers answered, what owners were served', async () => {
    const kept = await scene()
    await kept.filled()
    const { book, own } = await kept.open()
    expect(book.registry.size).toBe(2)
    expect(own.stat().bindings).toMatchObject([{ isRenewed: true }])
    const view = book.admission.view(book.nowMs())
    expect(view.servers).toBe(1)
    expect(view.served).toBeCloseTo(3, 2)
    expect(view.owners).toMatchObject([{ registered: 1, servers: 1, tests: { sent: 1, received: 1 }, peers: 0, open: 0 }])
    expect(view.owners[0]?.served).toBeCloseTo(3, 2)
    expect(kept.warnings).toEqual([])
  })

  it('is not written again where nothing has changed', async () => {
    const kept = await scene()
    const before = await kept.filled()
    const records = await kept.open(1)
    records.start()
    await records.save()
    await records.stop()
    expect(await kept.datastore.get(recordKey)).toEqual(before)
  })

  it('is written at once where we made something ourselves, and now and then for the rest', async () => {
    const kept = await scene()
    const slow = await kept.open()
    slow.start()
    await slow.own.register()
    while (!(await kept.datastore.has(recordKey))) await sleep(5)
    expect((await kept.open()).book.registry.size).toBe(1)
    await slow.stop()
    const quick = await kept.open(5)
    quick.start()
    await quick.book.take(await bindingOf(await generateKeyPair('Ed25519')))
    const before = await kept.datastore.get(recordKey)
    while (Buffer.compare(before, await kept.datastore.get(recordKey)) === 0) await sleep(5)
    expect((await kept.open()).book.registry.size).toBe(2)
    await quick.stop()
  })

  it('costs nothing but itself where a byte of it is damaged or it is cut off: it is kept aside, with a warning', async () => {
    const kept = await scene()
    const good = await kept.filled()
    const step = 97
    for (let at = 0; at < good.byteLength; at += step) {
      const flipped = Uint8Array.from(good)
      flipped[at] = (flipped[at] as number) ^ 1
      for (const damaged of [flipped, good.subarray(0, at)]) {
        await kept.datastore.put(recordKey, damaged)
        kept.warnings.length = 0
        const { book, own } = await kept.open()
        expect(book.registry.size + book.admission.view(0).owners.length + own.stat().bindings.length).toBe(0)
        expect(kept.warnings).toEqual([expect.stringContaining('what is remembered of admission cannot be used')])
        expect(await kept.datastore.get(damagedKey)).toEqual(damaged)
        expect(await kept.datastore.has(recordKey)).toBe(false)
      }
    }
  })

  it('is kept aside where it is whole and holds what none holds', async () => {
    const kept = await scene()
    const decoded = decodeRecord(await kept.filled())
    const body = (decoded.kind === 'good' ? decoded.body : undefined) as { state: Record<string, unknown> }
    const wrong: readonly Record<string, unknown>[] = [
      { own: null },
      { admission: [] },
      { admission: { servers: [], owners: [], served: 'all' } },
      { admission: { servers: [1], owners: [], served: 0 } },
      { admission: { servers: [], owners: [['a']], served: 0 } },
      { records: {} },
      { records: [['AAAA', 1, 1]] },
      { records: [[1, 2, 3]] }
    ]
    for (const change of wrong) {
      await kept.datastore.put(recordKey, encodeRecord({ ...body, state: { ...body.state, ...change } }))
      kept.warnings.length = 0
      expect((await kept.open()).book.registry.size).toBe(0)
      expect(kept.warnings).toHaveLength(1)
    }
    await kept.datastore.put(recordKey, encodeRecord(body))
    expect((await kept.open()).book.registry.size).toBe(2)
  })
})
