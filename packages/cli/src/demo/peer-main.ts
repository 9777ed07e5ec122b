/** One peer of the demo, in a process of its own: started by `fork` with the folder for its repo. */
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { add, cat } from '@shardswap/content'
import { blockSinkOf, messageOf } from '@shardswap/interface'
import { createPeer, type Peer } from '@shardswap/peer'
import { openRepo } from '@shardswap/repo'
import { demoBytes } from './content.ts'
import type { DemoContent, DemoFetched, DemoOrder, DemoReport, DemoShare } from './messages.ts'

/** How often the fetching peer tells how far it is. */
const reportMs = 50

const folder = process.argv[2]
if (folder === undefined || process.send === undefined) throw new Error('this file is started by "shardswap demo"')

// Ctrl-C reaches all processes of a terminal; the demo itself ends its peers.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
// However the demo ended, nothing of it may stay, not the other peers' folders either.
process.on('disconnect', () => {
  void rm(dirname(folder), { recursive: true, force: true, maxRetries: 5 }).finally(() => process.exit(1))
})

function report(message: DemoReport): void {
  // The demo may have ended a moment ago: then `disconnect` is next.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
}

function sharesOf(peer: Peer): DemoShare[] {
  return peer.stat().peers.map(({ peer: id, blocks, bytes, timeouts, score }) => ({ peer: id, blocks, bytes, timeouts, score }))
}

const repo = await openRepo(folder, { create: true })
const peer = await createPeer({
  privateKey: repo.privateKey,
  blockstore: repo.blocks,
  datastore: repo.datastore,
  listen: ['/ip4/127.0.0.1/tcp/0']
})
let goOn: (() => void) | undefined

async function addContent(content: DemoContent): Promise<void> {
  const source = [{ path: '', content: demoBytes(content) }]
  for await (const entry of add(source, blockSinkOf(repo.blocks), { cidVersion: 1, rawLeaves: true })) {
    report({ type: 'added', root: entry.cid.toString() })
  }
}

async function fetchContent({ root, addresses, pauseAfterBytes }: DemoOrder & { type: 'fetch' }): Promise<DemoFetched> {
  for (const address of addresses) await peer.connect(address)
  const session = peer.createSession()
  const hash = createHash('sha256')
  let bytes = 0
  let pauseAt = pauseAfterBytes ?? Infinity
  const ticks = setInterval(() => report({ type: 'progress', bytes, shares: sharesOf(peer) }), reportMs)
  const startedMs = performance.now()
  try {
    for await (const data of cat(session, root)) {
      hash.update(data)
      bytes += data.byteLength
      if (bytes < pauseAt) continue
      pauseAt = Infinity
      await new Promise<void>((resolve) => {
        goOn = resolve
        report({ type: 'paused', shares: sharesOf(peer) })
      })
    }
  } finally {
    clearInterval(ticks)
    session.close()
  }
  const seconds = (performance.now() - startedMs) / 1000
  const { duplicateBlocks, duplicateBytes } = peer.stat().fetch
  return { type: 'fetched', bytes, seconds, sha256: hash.digest('hex'), duplicateBlocks, duplicateBytes, shares: sharesOf(peer) }
}

async function obey(order: DemoOrder): Promise<void> {
  if (order.type === 'go') goOn?.()
  else if (order.type === 'add') await addContent(order.content)
  else report(await fetchContent(order))
}

process.on('message', (order: DemoOrder) => {
  obey(order).catch((error: unknown) => report({ type: 'failed', message: messageOf(error) }))
})
report({ type: 'ready', peer: peer.peerId.toString(), address: peer.addresses()[0] ?? '' })
