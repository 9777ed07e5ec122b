import { type BlockKey, blockKeyOfMultihash, peerKey } from '@shardswap/interface'
import { Accounts, defaultAccountLimits, type Receipt, sumReceipts } from '@shardswap/reliability'
import { MemoryDatastore } from 'datastore-core'
import { Key } from 'interface-datastore'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { accountBook, rememberedAccounts } from '../../src/reliability/account-book.ts'
import { ReceiptStore } from '../../src/reliability/receipts.ts'
import type { StoredReceiptsLimits } from '../../src/reliability/receipts-limits.ts'
import { KeptLog } from './log.ts'

const [first, second] = [peerKey('first'), peerKey('second')]
const noonMs = Date.UTC(2026, 10, 30, 12)
const day = '2026-11-30'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

function keyOf(index: number): BlockKey {
  return blockKeyOfMultihash(Uint8Array.from({ length: 34 }, (_, at) => (at === 0 ? 0x12 : at === 1 ? 0x20 : (index >> (at % 4)) & 255)))
}

/** One run of a peer, from its start to its stop or its end without one. */
class Run {
  readonly accounts: Accounts
  readonly log = new KeptLog()
  readonly #datastore: MemoryDatastore | undefined
  readonly #limits: Partial<StoredReceiptsLimits>
  nowMs = 0
  #store: ReceiptStore | undefined

  constructor(datastore: MemoryDatastore | undefined, limits: Partial<StoredReceiptsLimits> = {}, segmentBytes = 512) {
    this.#datastore = datastore
    this.#limits = limits
    this.accounts = new Accounts({ ...defaultAccountLimits, segmentBytes }, noonMs, 0)
  }

  async start(): Promise<this> {
    this.#store = await ReceiptStore.open({
      datastore: this.#datastore,
      accounts: this.accounts,
      log: this.log.log,
      nowMs: () => this.nowMs,
      limits: this.#limits
    })
    this.#store.start()
    return this
  }

  get store(): ReceiptStore {
    if (this.#store === undefined) throw new Error('start it first')
    return this.#store
  }

  /** Every fourth primary fails and is rescued. */
  fetch(wants: number, from = 0): void {
    for (let index = from; index < from + wants; index++) {
      this.accounts.turn(keyOf(index), first, 'primary', this.nowMs)
      this.accounts.turn(keyOf(index), second, 'backup', this.nowMs)
      this.accounts.settle(keyOf(index), second, 'success', this.nowMs)
      this.accounts.settle(keyOf(index), first, index % 4 === 0 ? 'timeout' : 'success', this.nowMs)
      this.accounts.end(keyOf(index), this.nowMs)
    }
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 1000) {
      this.nowMs += 1000
      await vi.advanceTimersByTimeAsync(1000)
    }
  }

  async receipts(period = day, bytesMax?: number): Promise<Receipt[]> {
    const receipts: Receipt[] = []
    for await (const receipt of this.store.receipts(period, bytesMax)) receipts.push(receipt)
    return receipts
  }

  get report(): ReturnType<Accounts['report']> {
    return this.accounts.report(this.nowMs, day)
  }
}

async function keysIn(datastore: MemoryDatastore, prefix: string): Promise<Key[]> {
  const keys: Key[] = []
  for await (const key of datastore.queryKeys({ prefix })) keys.push(key)
  return keys
}

/** A run that ended, with three receipts in one segment. */
async function oneSegment(): Promise<{ datastore: MemoryDatastore; before: Run; key: Key; good: Uint8Array }> {
  const datastore = new MemoryDatastore()
  const before = await new Run(datastore).start()
  before.fetch(3)
  await before.store.stop()
  const [key] = (await keysIn(datastore, '/shardswap/receipts')) as [Key]
  return { datastore, before, key, good: await datastore.get(key) }
}

/** The same bytes but for one bit of the one at a place. */
function flipped(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.map((byte, index) => (index === at ? byte ^ (1 << (at % 8)) : byte))
}

describe('receipts in a datastore', () => {
  it('[P8][P9] give, with those in memory, the account of their period, before and after a restart', async () => {
    const datastore = new MemoryDatastore()
    const before = await new Run(datastore).start()
    before.fetch(100)
    await before.pass(3000)
    before.fetch(50, 100)
    const receipts = await before.receipts()
    expect(receipts.map(({ key }) => key)).toEqual(Array.from({ length: 150 }, (_, index) => keyOf(index)))
    expect(sumReceipts(receipts)).toMatchObject({ wants: 150, rows: before.report?.rows })
    expect(before.store.kept(day)).toBe(150)
    await before.store.stop()

    const after = await new Run(datastore).start()
    expect(after.report).toEqual(before.report)
    after.fetch(10, 200)
    const all = await after.receipts()
    expect(all).toHaveLength(160)
    expect(sumReceipts(all)).toMatchObject({ wants: 160, rows: after.report?.rows })
    await after.store.stop()
    expect(after.log.errors).toEqual([])
  })

  it('leave memory as their segments fill', async () => {
    const run = await new Run(new MemoryDatastore()).start()
    for (let round = 0; round < 20; round++) {
      run.fetch(100, 100 * round)
      await run.pass(1000)
      expect(run.accounts.gauges.receiptBytes).toBeLessThan(1024)
    }
    expect(run.store.kept(day)).toBe(2000)
    await run.store.stop()
    expect(run.accounts.gauges.receiptBytes).toBe(0)
  })

  it('[F22] keep within their bounds, and the oldest leave', async () => {
    const datastore = new MemoryDatastore()
    const limits = { storedReceiptBytesMax: 4096, storedSegmentsMax: 100 }
    const run = await new Run(datastore, limits).start()
    for (let round = 0; round < 10; round++) {
      run.fetch(100, 100 * round)
      await run.pass(1000)
      const keys = await keysIn(datastore, '/shardswap/receipts')
      expect(keys.length).toBeLessThanOrEqual(9)
    }
    const kept = await run.receipts()
    expect(kept).toHaveLength(run.store.kept(day))
    expect(kept.at(-1)?.key).toEqual(keyOf(999))
    expect(kept.length).toBeLessThan(200)
    expect(run.report).toMatchObject({ wants: 1000, receipts: 1000 })
    await run.store.stop()
    // Small segments are bounded by their number.
    const few = await new Run(datastore, { storedSegmentsMax: 3 }).start()
    for (let round = 0; round < 5; round++) {
      few.fetch(1, round)
      await few.pass(60_000)
    }
    expect(await keysIn(datastore, '/shardswap/receipts')).toHaveLength(3)
    expect(few.report).toMatchObject({ wants: 1005 })
    await few.store.stop()
  })

  it('are read from the newest on where not all are asked for', async () => {
    const run = await new Run(new MemoryDatastore()).start()
    run.fetch(200)
    await run.pass(1000)
    const some = await run.receipts(day, 1100)
    expect(some.length).toBeGreaterThan(10)
    expect(some.length).toBeLessThan(50)
    expect(some.at(-1)?.key).toEqual(keyOf(199))
    await run.store.stop()
  })

  it('are stored by day, and the sums of days long past leave', async () => {
    const datastore = new MemoryDatastore()
    const run = await new Run(datastore).start()
    for (let days = 0; days < 40; days++) {
      run.fetch(1, days)
      run.nowMs += 86_399_000
      await run.pass(1000)
    }
    // The present day, in which nothing was closed yet, is the 32nd.
    expect(await keysIn(datastore, '/shardswap/accounts')).toHaveLength(31)
    expect(run.accounts.periods).toHaveLength(32)
    await run.store.stop()
    const after = await new Run(datastore).start()
    for (const period of run.accounts.periods.slice(0, 31)) {
      expect(after.accounts.report(0, period)).toEqual(run.accounts.report(run.nowMs, period))
    }
    await after.store.stop()
  })
})

describe('without a stop', () => {
  it('[P8] the sums are those of the receipts that were stored', async () => {
    const datastore = new MemoryDatastore()
    const before = await new Run(datastore).start()
    before.fetch(100)
    await before.pass(61_000)
    // A minute later the sums stand there; what is stored after them is summed again.
    before.fetch(95, 100)
    await before.pass(2000)
    const after = await new Run(datastore).start()
    const receipts = await after.receipts()
    expect(receipts.length).toBeGreaterThan(150)
    expect(receipts.length).toBeLessThan(195)
    expect(sumReceipts(receipts)).toMatchObject({ wants: receipts.length, rows: after.report?.rows })
    expect(after.report).toMatchObject({ receipts: receipts.length, wants: receipts.length })
    await after.store.stop()
    const again = await new Run(datastore).start()
    expect(again.report).toEqual(after.report)
    await again.store.stop()
    await before.store.stop()
  })

  it('sums that are damaged at any byte are taken from the receipts, and said to be', async () => {
    const datastore = new MemoryDatastore()
    const before = await new Run(datastore).start()
    before.fetch(30)
    await before.store.stop()
    const key = new Key(`/shardswap/accounts/${day}`)
    const good = await datastore.get(key)
    for (let at = 0; at < good.byteLength; at++) {
      const damaged = good.slice()
      damaged[at] = (damaged[at] as number) ^ 0x41
      await datastore.put(key, damaged)
      const after = await new Run(datastore).start()
      expect(after.report).toEqual(before.report)
      expect(after.log.errors).toHaveLength(1)
    }
  })

  it('a segment that is damaged costs its receipts and nothing else', async () => {
    const datastore = new MemoryDatastore()
    const before = await new Run(datastore).start()
    before.fetch(60)
    await before.store.stop()
    const [key] = (await keysIn(datastore, '/shardswap/receipts')).sort((a, b) => (a.toString() < b.toString() ? -1 : 1))
    await datastore.put(key as Key, Uint8Array.of(1, 2, 3))
    await datastore.put(new Key('/shardswap/receipts/some/thing'), Uint8Array.of(1))
    const after = await new Run(datastore).start()
    expect(after.report).toEqual(before.report)
    const receipts = await after.receipts()
    expect(receipts.length).toBeLessThan(60)
    expect(receipts.at(-1)?.key).toEqual(keyOf(59))
    expect(after.log.errors).toHaveLength(1)
    // Once it is known, it is neither counted nor told again.
    expect(after.store.kept(day)).toBe(receipts.length)
    expect(await after.receipts()).toEqual(receipts)
    expect(after.log.errors).toHaveLength(1)
    await after.store.stop()
  })

  it('a segment that is damaged or cut off at any byte is never taken for a good one; the sums go on', async () => {
    const { datastore, key, good } = await oneSegment()
    for (let at = 0; at < good.byteLength; at++) {
      for (const damaged of [flipped(good, at), good.slice(0, at)]) {
        await datastore.put(key, damaged)
        const after = await new Run(datastore).start()
        expect(await after.receipts(), `byte ${at}`).toEqual([])
        expect(after.log.errors).toHaveLength(1)
        after.fetch(1, 7)
        expect(after.report).toMatchObject({ wants: 4, totals: { attempted: 8, rewardable: 4 } })
      }
    }
  })

  it('a segment that is not summed yet, damaged at any byte, counts for nothing', async () => {
    const { datastore, before, key, good } = await oneSegment()
    await datastore.delete(new Key(`/shardswap/accounts/${day}`))
    expect((await new Run(datastore).start()).report).toEqual(before.report)
    for (let at = 0; at < good.byteLength; at++) {
      await datastore.put(key, flipped(good, at))
      const after = await new Run(datastore).start()
      expect(after.report, `byte ${at}`).toMatchObject({ wants: 0, rows: [] })
      expect(after.log.errors).toHaveLength(1)
    }
  })

  it('a good segment under another’s name is damage too', async () => {
    const { datastore, key, good } = await oneSegment()
    await datastore.delete(key)
    for (const name of [key.toString().replace(day, '2026-11-29'), key.toString().replace('-3-', '-4-')]) {
      await datastore.put(new Key(name), good)
    }
    const after = await new Run(datastore).start()
    expect([...(await after.receipts()), ...(await after.receipts('2026-11-29'))]).toEqual([])
    expect(after.log.errors).toHaveLength(2)
  })
})

describe('a datastore that fails', () => {
  it('to write costs receipts, not counters', async () => {
    const datastore = new MemoryDatastore()
    const run = await new Run(datastore).start()
    const batch = vi.spyOn(datastore, 'batch').mockImplementation(() => {
      return { put: () => undefined, delete: () => undefined, commit: async () => await Promise.reject(new Error('the disk is full')) }
    })
    run.fetch(60)
    await run.pass(1000)
    expect(run.log.errors).toHaveLength(1)
    expect(run.report).toMatchObject({ wants: 60 })
    batch.mockRestore()
    run.fetch(60, 60)
    await run.store.stop()
    const after = await new Run(datastore).start()
    expect(after.report).toEqual(run.report)
    expect(await after.receipts()).toHaveLength(after.store.kept(day))
    await after.store.stop()
  })

  it('at once, as one that is closed does, costs no more than what memory cannot hold', async () => {
    const datastore = new MemoryDatastore()
    const run = await new Run(datastore).start()
    const batch = vi.spyOn(datastore, 'batch').mockImplementation(() => {
      throw new Error('the database is closed')
    })
    run.fetch(60)
    await run.pass(2000)
    expect(run.log.errors).toHaveLength(2)
    batch.mockRestore()
    await run.pass(1000)
    await run.store.stop()
    const after = await new Run(datastore).start()
    expect(after.report).toEqual(run.report)
    expect(await after.receipts()).toHaveLength(60)
    await after.store.stop()
  })

  it('to read leaves what is there alone', async () => {
    const datastore = new MemoryDatastore()
    const queryKeys = vi.spyOn(datastore, 'queryKeys').mockImplementation(() => {
      throw new Error('the disk is gone')
    })
    const run = await new Run(datastore).start()
    expect(run.log.errors).toHaveLength(1)
    run.fetch(100)
    await run.pass(2000)
    await run.store.stop()
    queryKeys.mockRestore()
    expect(await keysIn(datastore, '/')).toEqual([])
  })
})

it('without a datastore receipts are in memory, and no timer runs', async () => {
  const run = await new Run(undefined).start()
  run.fetch(20)
  expect(vi.getTimerCount()).toBe(0)
  expect(await run.receipts()).toHaveLength(20)
  await run.store.stop()
})

it('[P12] what a peer has left is read from its datastore, and nothing is changed there', async () => {
  const datastore = new MemoryDatastore()
  const run = await new Run(datastore).start()
  run.fetch(40)
  await run.store.stop()
  const keys = await keysIn(datastore, '/')
  const book = await rememberedAccounts(datastore, run.log.log)
  const report = book.report(day)
  expect(report).toMatchObject({ period: day, wants: 40, receipts: 40, receiptsKept: 40, totals: { attempted: 80, rewardable: 40 } })
  expect(report?.periods).toContain(day)
  const receipts = []
  for await (const receipt of book.receipts({ period: day, peer: second })) receipts.push(receipt)
  expect(sumReceipts(receipts)).toEqual({ wants: 40, rows: report?.rows })
  expect(receipts[0]).toMatchObject({ credited: 1, turns: [{ outcome: 'timeout' }, { outcome: 'success' }] })
  expect(book.report('1999-12-31')).toBeUndefined()
  expect(await keysIn(datastore, '/')).toEqual(keys)
})

it('[P12] a peer that runs tells its accounts and hands out receipts until it is asked to stop', async () => {
  const run = await new Run(new MemoryDatastore()).start()
  run.fetch(40)
  await run.pass(1000)
  const book = accountBook(run.accounts, run.store, () => run.nowMs)
  expect(book.report()).toMatchObject({ period: day, receiptsKept: 40 })
  const end = new AbortController()
  const receipts = book.receipts({ signal: end.signal })
  expect((await receipts.next()).value).toMatchObject({ multihash: expect.stringMatching(/^Qm/) as unknown })
  end.abort(new Error('enough'))
  await expect(receipts.next()).rejects.toThrow('enough')
  await run.store.stop()
})
