import { MemoryDatastore } from 'datastore-core'
import { Key } from 'interface-datastore'
import { expect, it } from 'vitest'
import { recordVersion } from '../../src/reliability/record.ts'
import { damagedKey, findRecord, recordBytesMax, recordKey, RecordStore } from '../../src/reliability/record-store.ts'
import { KeptLog } from './log.ts'

const state = { version: 1, peers: [{ peer: 'a', hours: [1, 2, 3] }] }

/** A datastore that holds a good record, and something of somebody else's. */
async function filled(): Promise<{ datastore: MemoryDatastore; good: Uint8Array }> {
  const datastore = new MemoryDatastore()
  await datastore.put(new Key('/peers/a'), Uint8Array.of(7))
  await new RecordStore(datastore, new KeptLog().log).save(() => state)
  return { datastore, good: await datastore.get(recordKey) }
}

async function load(datastore: MemoryDatastore): Promise<{ taken: unknown; errors: string[] }> {
  const kept = new KeptLog()
  return { taken: await new RecordStore(datastore, kept.log).load((found) => found), errors: kept.errors }
}

it('what was saved is loaded, with the time since', async () => {
  const { datastore } = await filled()
  const kept = new KeptLog()
  const taken = await new RecordStore(datastore, kept.log).load((found, pausedMs) => ({ found, pausedMs }))
  expect(taken?.found).toEqual(state)
  expect(taken?.pausedMs).toBeGreaterThanOrEqual(0)
  expect(taken?.pausedMs).toBeLessThan(60_000)
  expect(kept.errors).toEqual([])
})

it('an empty datastore holds nothing, and that is no fault', async () => {
  expect(await load(new MemoryDatastore())).toEqual({ taken: undefined, errors: [] })
})

it('a record damaged or cut off at any byte is warned of, kept aside, and all else stays', async () => {
  const { datastore, good } = await filled()
  const damages = Array.from(good, (byte, at) => [
    good.subarray(0, at),
    Uint8Array.from(good, (same, each) => (each === at ? byte ^ 0xff : same)),
    Uint8Array.from(good, (same, each) => (each === at ? byte ^ 1 : same))
  ]).flat()
  for (const damaged of damages) {
    await datastore.put(recordKey, damaged)
    const { taken, errors } = await load(datastore)
    expect(taken).toBeUndefined()
    expect(errors).toHaveLength(1)
    expect(errors[0]).toContain('scores begin afresh')
    expect(await datastore.has(recordKey)).toBe(false)
    expect(await datastore.get(damagedKey)).toEqual(damaged)
    expect(await load(datastore)).toEqual({ taken: undefined, errors: [] })
  }
  expect(await datastore.get(new Key('/peers/a'))).toEqual(Uint8Array.of(7))
  let keys = 0
  for await (const _ of datastore.queryKeys({})) keys += 1
  expect(keys).toBe(2)
})

it('a record of a later version is kept aside, and named as such', async () => {
  const { datastore, good } = await filled()
  good[11] = recordVersion + 1
  await datastore.put(recordKey, good)
  const { taken, errors } = await load(datastore)
  expect(taken).toBeUndefined()
  expect(errors[0]).toContain(`version ${recordVersion + 1}`)
  expect(await datastore.get(damagedKey)).toEqual(good)
})

it('a record that its reader cannot take is kept aside too', async () => {
  const { datastore, good } = await filled()
  const kept = new KeptLog()
  const warnings: string[] = []
  const taken = await new RecordStore(datastore, kept.log, (message) => warnings.push(message)).load(() => {
    throw new Error('a peer of minus one hours')
  })
  expect(taken).toBeUndefined()
  expect(kept.errors[0]).toContain('a peer of minus one hours')
  expect(warnings).toEqual([expect.stringMatching(/^what is remembered of peers cannot be used: .*a peer of minus one hours.*afresh$/)])
  expect(await datastore.get(damagedKey)).toEqual(good)
})

it('a datastore that cannot be read is not written to', async () => {
  const broken = new (class extends MemoryDatastore {
    override get(): Promise<Uint8Array> {
      return Promise.reject(new Error('the disk is away'))
    }
    override put(key: Key): Key {
      throw new Error(`${key.toString()} is written to`)
    }
  })()
  const kept = new KeptLog()
  const warnings: string[] = []
  const store = new RecordStore(broken, kept.log, (message) => warnings.push(message))
  expect(await store.load((found) => found)).toBeUndefined()
  expect(kept.errors[0]).toContain('the disk is away')
  expect(warnings).toEqual([expect.stringContaining('the disk is away')])
  expect(await store.save(() => ({ peers: [] }))).toBe(false)
  expect(kept.errors).toHaveLength(1)
})

it('a datastore that cannot be written to is an entry in the log', async () => {
  const broken = new (class extends MemoryDatastore {
    override put(): Key {
      throw new Error('the disk is full')
    }
  })()
  const kept = new KeptLog()
  expect(await new RecordStore(broken, kept.log).save(() => state)).toBe(false)
  expect(kept.errors[0]).toContain('the disk is full')
})

it('a record is bounded: those that come last are left out', async () => {
  const datastore = new MemoryDatastore()
  const peers = Array.from({ length: 20_000 }, (_, at) => ({ peer: String(at), text: 'x'.repeat(1000) }))
  const store = new RecordStore(datastore, new KeptLog().log)
  expect(await store.save((peersMax) => ({ peers: peers.slice(0, peersMax) }))).toBe(true)
  const bytes = await datastore.get(recordKey)
  expect(bytes.byteLength).toBeLessThanOrEqual(recordBytesMax)
  const found = await findRecord(datastore)
  expect(found).toMatchObject({ kind: 'good', state: { peers: peers.slice(0, 8192) } })
})
