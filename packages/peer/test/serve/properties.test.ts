import { peerKey } from '@shardswap/interface'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { block, blocks, cancel, message, Scene, want } from './scene.ts'
import type { TestBlock } from './scene.ts'

// Deterministic seeds: a failure is the same on every machine.
const runs = { seed: 20_240_801, numRuns: 150 }
const pool = await Promise.all(Array.from({ length: 24 }, (_, index) => block(index, index % 3 === 0 ? 500 : 3000)))
const at = (index: number): TestBlock => pool[index % pool.length] as TestBlock

const entryOf = fc.record({
  index: fc.nat(pool.length - 1),
  wantType: fc.constantFrom('block' as const, 'have' as const),
  sendDontHave: fc.boolean(),
  priority: fc.integer({ min: -3, max: 3 })
})

type Step =
  | {
      type: 'want'
      peer: number
      entries: { index: number; wantType: 'block' | 'have'; sendDontHave: boolean; priority: number }[]
      full: boolean
    }
  | { type: 'cancel'; peer: number; index: number }
  | { type: 'put'; index: number }
  | { type: 'connect' | 'disconnect' | 'hold' | 'release'; peer: number }
  | { type: 'fail'; on: boolean }
  | { type: 'turn' }

const peerOf = fc.nat(3)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('want' as const),
      peer: peerOf,
      entries: fc.uniqueArray(entryOf, { selector: (entry) => entry.index, maxLength: 12 }),
      full: fc.boolean()
    })
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('cancel' as const), peer: peerOf, index: fc.nat(pool.length - 1) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('put' as const), index: fc.nat(pool.length - 1) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constantFrom('connect' as const, 'disconnect' as const, 'hold' as const, 'release' as const),
      peer: peerOf
    })
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('fail' as const), on: fc.boolean() }) },
  { weight: 4, arbitrary: fc.constant({ type: 'turn' as const }) }
)

/** Runs one step against a scene; `written` sums what the links took from each peer's ledger on. */
async function act(scene: Scene, step: Step, fails: { on: boolean }): Promise<void> {
  const peer = peerKey(`peer ${'peer' in step ? step.peer : 0}`)
  switch (step.type) {
    case 'want':
      scene.tell(
        peer,
        message(
          step.entries.map(({ index, ...over }) => want(at(index).cid, over)),
          { full: step.full }
        )
      )
      break
    case 'cancel':
      scene.tell(peer, message([cancel(at(step.index).cid)]))
      break
    case 'put':
      await scene.store.put(at(step.index))
      scene.server.blockArrived(at(step.index).cid, at(step.index).bytes.length)
      break
    case 'connect':
      scene.server.peerConnected(peer)
      break
    case 'disconnect':
      scene.server.peerDisconnected(peer)
      break
    case 'hold':
      scene.links.hold(peer)
      break
    case 'release':
      scene.links.release(peer)
      break
    case 'fail':
      fails.on = step.on
      break
    case 'turn':
      await new Promise((resolve) => setImmediate(resolve))
      break
  }
}

it('whatever happens: wants stay in their limit, credit is what was written, and in the end all is zero', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const scene = new Scene({ wantsPerPeerMax: 6, envelopeBytesTarget: 5000, sendTriesMax: 1, lookupBatchMax: 3 })
      const fails = { on: false }
      let written = 0
      scene.links.outcome = ({ message }) => {
        if (fails.on) return false
        for (const { bytes } of message.blocks ?? []) written += bytes.length
        return true
      }
      for (const one of steps) {
        await act(scene, one, fails)
        for (let peer = 0; peer < 4; peer++) {
          expect(scene.server.ledger(peerKey(`peer ${peer}`))?.wants.length ?? 0).toBeLessThanOrEqual(6)
        }
      }
      for (let peer = 0; peer < 4; peer++) scene.links.release(peerKey(`peer ${peer}`))
      await scene.settle()
      expect(scene.server.stat().bytesSent).toBe(written)
      // Nothing that could be sent is left behind where sends work.
      const gauges = scene.server.gauges()
      expect(gauges.responseBytes).toBe(0)
      expect(gauges.lookups).toBe(0)
      for (let peer = 0; peer < 4; peer++) scene.server.peerDisconnected(peerKey(`peer ${peer}`))
      expect(Object.values(scene.server.gauges())).toEqual([0, 0, 0, 0, 0, 0, 0])
      await scene.server.stop()
    }),
    runs
  )
})

it('later messages are served whatever order lookups end in', async () => {
  const all = await blocks(40, 2000, 500)
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), async (scheduler) => {
      const scene = new Scene({ lookupBatchMax: 3, envelopeBytesTarget: 8000 })
      await scene.store.put(...all)
      const size = scene.store.size.bind(scene.store)
      scene.store.size = async (cid) => {
        await scheduler.schedule(Promise.resolve())
        return size(cid)
      }
      const peer = peerKey('client')
      for (let from = 0; from < 40; from += 8) {
        scene.tell(peer, message(all.slice(from, from + 8).map(({ cid }) => want(cid))))
      }
      await scheduler.waitIdle()
      await scene.settle()
      expect(scene.server.ledger(peer)).toMatchObject({ wants: [], blocksSent: 40 })
    }),
    { ...runs, numRuns: 30 }
  )
})
