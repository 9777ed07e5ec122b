/** Field reports about callers that give up while content is read over the network. */
import { cat } from '@shardswap/content'
import { createPeer, type Peer, type PeerInit } from '@shardswap/peer'
import { memoryRepo } from '@shardswap/repo'
import { CID } from 'multiformats/cid'
import { expect, onTestFinished, test } from 'vitest'
import { LocalNode } from '../src/local/local-node.ts'
import { collect, someBytes } from './setup.ts'

const nowhere = CID.parse('bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy')

async function newPeer(init?: PeerInit): Promise<Peer> {
  const peer = await createPeer(init)
  onTestFinished(async () => await peer.stop())
  return peer
}

/** What became of a promise after some turns of the event loop: enough for what needs no network and no timer. */
async function soon(promise: Promise<unknown>): Promise<unknown> {
  let outcome: unknown = 'nothing yet'
  promise.then(
    (value) => (outcome = value),
    (error: unknown) => (outcome = error)
  )
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  return outcome
}

test('[F19] cat with a signal that has fired already asks nobody', async () => {
  const ours = await newPeer()
  const signal = AbortSignal.abort()
  expect(await soon(cat(ours, nowhere.toString(), { signal }).next())).toMatchObject({ name: 'AbortError' })
  expect(ours.wantlist()).toEqual([])
  expect(ours.stat().fetch.wantsSent).toBe(0)
})

test('[F19] cat that is given up while routing searches ends at once', async () => {
  const searching = Promise.withResolvers<void>()
  const never = new Promise<never>(() => {})
  const ours = await newPeer({
    routing: {
      async *findProviders() {
        searching.resolve()
        yield await never
      }
    }
  })
  const abort = new AbortController()
  const next = cat(ours, nowhere.toString(), { signal: abort.signal }).next()
  await searching.promise
  abort.abort()
  expect(await soon(next)).toMatchObject({ name: 'AbortError' })
  expect(ours.wantlist()).toEqual([])
})

test('[F19] cat of 1,000 blocks that is given up half-way ends at once, and leaves no want behind', async () => {
  const repo = await memoryRepo()
  const node = new LocalNode({ repo, online: true, listen: ['/ip4/127.0.0.1/tcp/0'] })
  onTestFinished(async () => await node.close())
  const [entry] = await collect(node.add([{ path: 'f', content: someBytes(1_024_000) }], { chunker: 'size-1024' }))
  const provider = await node.peer()
  const ours = await newPeer()
  await ours.connect(provider.addresses()[0] ?? '')
  const abort = new AbortController()
  const parts = cat(ours, entry?.cid.toString() ?? '', { signal: abort.signal })
  for (let read = 0; read < 512_000;) {
    const part = await parts.next()
    expect(part.done).toBe(false)
    read += part.value?.byteLength ?? 0
  }
  abort.abort()
  expect(await soon(parts.next())).toMatchObject({ name: 'AbortError' })
  expect(ours.wantlist()).toEqual([])
  await expect.poll(() => provider.ledger(ours.peerId)?.wants.length, { timeout: 20_000 }).toBe(0)
})
