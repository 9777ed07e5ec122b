import type { AccountReceipt } from '@shardswap/peer'
import { expect, test } from 'vitest'
import { connectDaemon, describeError, reportOf, reportShape } from '../src/index.ts'
import { collect, newDaemon, someBytes, urlOf } from './setup.ts'

test('[P8][P9][P12] accounts and receipts are the same through the RPC as here, and the receipts sum to the account', async () => {
  const [provider, client] = [await newDaemon(), await newDaemon()]
  const root = (await collect(provider.node.add([{ path: 'a', content: someBytes(3_000_000) }]))).at(-1)?.cid.toString() ?? ''
  await client.node.swarmConnect(provider.addresses[0] ?? '')
  await collect(client.node.cat(root))
  const remote = await connectDaemon(client.api)
  const [there, here] = [await remote.report(), await client.node.report()]
  expect(there).toEqual(here)
  expect(there.wants).toBeGreaterThan(10)
  expect(there).toMatchObject({ receipts: there.wants, receiptsKept: there.wants, totals: { rewardable: there.wants } })
  expect(there.rows.map(({ peer }) => peer)).toEqual([(await provider.node.id()).id])
  expect(there.periods).toEqual([there.period])

  const receipts: AccountReceipt[] = await collect(remote.receipts())
  expect(receipts).toEqual(await collect(client.node.receipts({ period: there.period })))
  const { sumReceipts } = await import('@shardswap/peer')
  expect(sumReceipts(receipts)).toEqual({ wants: there.wants, rows: there.rows })
  // Kubo's way to write the multihash of the root, which is a CIDv0 here.
  expect(receipts.map(({ multihash }) => multihash)).toContain(root)
  expect(await collect(remote.receipts({ peer: '12D3KooWCizaGVPEo9SQQrpEV7DdhV2W8336W2M3dtvahAwm8jaU' }))).toEqual([])
  expect(await collect(remote.receipts({ peer: there.rows[0]?.peer }))).toHaveLength(receipts.length)
})

test('a period that nobody knows is an error, the same in both places', async () => {
  const daemon = await newDaemon()
  const remote = await connectDaemon(daemon.api)
  for (const node of [daemon.node, remote]) {
    const failures = [node.report({ period: '1999-12-31' }), collect(node.receipts({ period: '1999-12-31' }))]
    for (const failure of failures) {
      const error = await failure.catch((thrown: unknown) => thrown)
      expect(describeError(error)).toMatchObject({ code: 'ERR_NOT_FOUND', message: expect.stringContaining('"1999-12-31"') as string })
    }
    expect(await node.report()).toMatchObject({ wants: 0, rows: [] })
  }
  const response = await fetch(`${urlOf(daemon)}/shardswap/report`, { method: 'POST' })
  expect(await response.json()).toMatchObject({ Wants: 0, Peers: [], Totals: { Attempted: 0, Rewardable: 0 } })
})

test('a report comes back from its JSON as it was', async () => {
  const daemon = await newDaemon()
  const report = await daemon.node.report()
  const rows = [{ peer: report.period as never, attempted: 6, successful: 5, rewardable: 4, primaryTurns: 3, backupTurns: 2, rescued: 1 }]
  expect(reportOf(JSON.parse(JSON.stringify(reportShape({ ...report, rows }))) as never)).toEqual({ ...report, rows })
})
