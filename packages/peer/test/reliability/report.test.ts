import { peerKey } from '@shardswap/interface'
import { sumReceipts } from '@shardswap/reliability'
import { MemoryDatastore } from 'datastore-core'
import { expect, it, onTestFinished } from 'vitest'
import { rememberedAccounts } from '../../src/index.ts'
import { collect, connect, Peers, rawBlock, rawBlocks } from '../support.ts'

it('[P8][P9][P12] every want of a day has its receipt: blocks of peers that stay and go, and what nobody has', async () => {
  const peers = new Peers()
  onTestFinished(async () => await peers.stop())
  const blocks = rawBlocks(600, 4096)
  const providers = [await peers.provider(blocks), await peers.provider(blocks), await peers.provider(blocks)]
  const datastore = new MemoryDatastore()
  const client = await peers.create({ datastore })
  for (const provider of providers) await connect(client, provider)
  const session = client.createSession()
  let got = 0
  for await (const { bytes } of session.getMany(blocks.map(({ cid }) => cid))) {
    expect(bytes.byteLength).toBe(4096)
    if (++got === 200) await providers[0]?.stop()
  }
  expect(got).toBe(600)
  const absent = AbortSignal.timeout(300)
  await expect(session.get(rawBlock('of nobody').cid, { signal: absent })).rejects.toMatchObject({ name: 'TimeoutError' })
  session.close()
  await client.stop()

  const report = client.report()
  expect(report?.wants).toBeGreaterThanOrEqual(600)
  // On a machine that stands still a block may come late, which earns nobody anything.
  expect(report?.totals.rewardable).toBeGreaterThan(300)
  expect(report?.totals.rewardable).toBeLessThanOrEqual(600)
  expect(report?.receiptsKept).toBe(report?.receipts)
  const receipts = await collect(client.receipts())
  expect(sumReceipts(receipts)).toEqual({ wants: report?.wants, rows: report?.rows })
  const ids = providers.map(({ peerId }) => peerKey(peerId))
  for (const { peer, rewardable, successful, attempted } of report?.rows ?? []) {
    expect(ids).toContain(peer)
    expect(rewardable).toBeLessThanOrEqual(successful)
    expect(successful).toBeLessThanOrEqual(attempted)
  }
  // A want that was served names its block once.
  const served = receipts.filter(({ credited }) => credited !== null)
  expect(new Set(served.map(({ multihash }) => multihash)).size).toBe(served.length)

  const left = await rememberedAccounts(datastore)
  const { periods: _now, ...before } = report ?? { periods: [] }
  expect(left.report(report?.period)).toMatchObject(before)
  expect(await collect(left.receipts({ period: report?.period }))).toEqual(receipts)
})
