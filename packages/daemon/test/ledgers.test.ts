import { CID } from '@shardswap/interface'
import { expect, test } from 'vitest'
import { connectDaemon, describeError, ledgersOf, ledgersShape } from '../src/index.ts'
import { collect, newDaemon, someBytes } from './setup.ts'

test('ledgers are the same through the RPC as here', async () => {
  const [provider, client] = [await newDaemon(), await newDaemon()]
  const root = (await collect(provider.node.add([{ path: 'a', content: someBytes(500_000) }]))).at(-1)?.cid.toString() ?? ''
  await client.node.swarmConnect(provider.addresses[0] ?? '')
  await collect(client.node.cat(root))
  const remote = await connectDaemon(provider.api)
  const peer = (await client.node.id()).id
  const there = await remote.ledgers()
  expect(there).toMatchObject({ mode: 'open', known: 1, clients: [{ peer, wants: 0 }] })
  expect(there.clients[0]?.blocksSent).toBeGreaterThan(1)
  expect((await remote.ledgers({ peer })).clients[0]?.wanted).toEqual([])
  for (const node of [remote, provider.node]) {
    const failed = async (name: string): Promise<string> =>
      describeError(await node.ledgers({ peer: name }).catch((error: unknown) => error)).code
    expect(await failed('frob')).toBe('ERR_INVALID_PARAMETERS')
    expect(await failed((await provider.node.id()).id)).toBe('ERR_NOT_FOUND')
  }
})

test('every field of a ledger survives the way through JSON', () => {
  const sent = { blocksSent: 2, bytesSent: 3, blocksReceived: 4, bytesReceived: 5 }
  const counts = { wants: 1, openRequests: 6, queuedBytes: 7, isSlow: true, isWaiting: false, turnedAway: 8, ...sent }
  const wanted = [CID.parse('bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy')]
  for (const mode of ['registered', undefined] as const) {
    const ledgers = {
      mode,
      clients: [
        { peer: 'one', ...counts },
        { peer: 'two', wanted, ...counts, isWaiting: true, lastServedMsAgo: 9 }
      ],
      known: 9
    }
    expect(ledgersOf(JSON.parse(JSON.stringify(ledgersShape(ledgers))) as ReturnType<typeof ledgersShape>)).toEqual(ledgers)
  }
})
