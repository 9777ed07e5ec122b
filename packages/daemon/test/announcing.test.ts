/** What of a node is announced, by its config; the announcing itself is the peer's. */
import type { CID } from '@shardswap/interface'
import type { Peer } from '@shardswap/peer'
import { memoryRepo, type Repo } from '@shardswap/repo'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openLocalNode } from '../src/index.ts'
import { Announcing } from '../src/local/announcing.ts'
import { offlineSource } from '../src/local/source.ts'
import { collect, someBytes } from './setup.ts'

/** A node with a file that is pinned, and what it announces where its config says so. */
async function scene(routing: Partial<Repo['config']['routing']>) {
  const memory = await memoryRepo()
  const repo: Repo = { ...memory, config: { ...memory.config, routing: { ...memory.config.routing, ...routing } } }
  const node = await openLocalNode({ repo, online: false })
  onTestFinished(async () => await node.close())
  const added = await collect(node.add([{ path: 'f', content: someBytes(5000) }], { chunker: 'size-1000', cidVersion: 1 }))
  const root = (added.at(-1) as { cid: CID }).cid
  const announcing = new Announcing({ repo, pins: node.pins, local: offlineSource(repo) })
  const told: string[] = []
  announcing.begin({ routing: { announce: (cid: CID) => told.push(cid.toString()) } } as unknown as Peer)
  return { announcing, root, told, blocks: (await Array.fromAsync(repo.blocks.getAll())).length }
}

test('of a pin its root is announced, or all below it, and again as often as the config says', async () => {
  const { announcing, root, told } = await scene({ provide: 'roots', provideEveryMs: 123_456 })
  expect(announcing.provide()?.everyMs).toBe(123_456)
  announcing.pinned([{ cid: root, isRecursive: true, name: '' }])
  announcing.stored(root)
  expect(told).toEqual([root.toString()])

  const whole = await scene({ provide: 'pinned' })
  whole.announcing.pinned([{ cid: whole.root, isRecursive: true, name: '' }])
  await vi.waitFor(() => expect(whole.told).toHaveLength(whole.blocks))
  whole.told.length = 0
  whole.announcing.pinned([{ cid: whole.root, isRecursive: false, name: '' }])
  expect(whole.told).toEqual([whole.root.toString()])

  const off = await scene({ provide: 'off' })
  off.announcing.pinned([{ cid: off.root, isRecursive: true, name: '' }])
  off.announcing.stored(off.root)
  expect([off.announcing.provide(), off.told]).toEqual([undefined, []])
})
