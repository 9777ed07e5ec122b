/**
 * A peer in a process of its own, told what to do by messages from the test.
 * Bad input is thrown at this one, so that its memory can be read and its death seen.
 */
import { CID } from '@shardswap/interface'
import { createPeer, type ServeLimits } from '../../src/index.ts'
import { rawCid, seeded } from './bytes.ts'
import type { Order, Report } from './peer-child.ts'

const serveLimits = JSON.parse(process.argv[2] ?? '{}') as Partial<ServeLimits>
const peer = await createPeer({ listen: ['/ip4/127.0.0.1/tcp/0'], serveLimits })

async function obey(order: Order): Promise<Report> {
  switch (order.type) {
    case 'put':
      for (let index = 0; index < order.count; index++) {
        const bytes = seeded(order.seed + index, order.size)
        await peer.put(CID.decode(rawCid(bytes)), bytes)
      }
      return { type: 'done' }
    case 'get':
      try {
        return { type: 'block', bytes: await peer.get(CID.decode(order.cid), { timeoutMs: order.timeoutMs }) }
      } catch (error) {
        return { type: 'error', name: (error as Error).name }
      }
    case 'has':
      return { type: 'has', has: await peer.has(CID.decode(order.cid)) }
    case 'connect':
      await peer.connect(order.address)
      return { type: 'done' }
    case 'stat': {
      globalThis.gc?.()
      const { fetch, serve, connectedPeers } = peer.stat()
      const { rss, heapUsed, external } = process.memoryUsage()
      const wants = order.peer === undefined ? 0 : (peer.ledger(order.peer)?.wants.length ?? 0)
      return { type: 'stat', rssBytes: rss, liveBytes: heapUsed + external, fetch, serve, connectedPeers, wants }
    }
    case 'register':
      await peer.register()
      return { type: 'done' }
    case 'hang':
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, order.ms))
      return { type: 'done' }
    case 'stop':
      await peer.stop()
      return { type: 'done' }
  }
}

process.on('message', ({ id, order }: { id: number; order: Order }) => {
  void obey(order).then(
    (report) => process.send?.({ id, report }),
    (error: unknown) => process.send?.({ id, report: { type: 'error', name: String(error) } })
  )
})
process.send?.({ id: 0, report: { type: 'address', address: peer.addresses()[0] } })
