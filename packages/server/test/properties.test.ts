import { peerKey } from '@shardswap/interface'
import type { CID } from '@shardswap/interface'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { block, cancel, want } from './asks.ts'
import type { TestBlock } from './asks.ts'
import { message, Scene } from './scene.ts'

// Deterministic seeds: a failure is the same on every machine.
const runs = { seed: 20_240_801, numRuns: 300 }
const pool = await Promise.all(Array.from({ length: 24 }, (_, index) => block(index, index % 3 === 0 ? 500 : 3000)))
const at = (index: number): TestBlock => pool[index % pool.length] as TestBlock

const entryOf = fc.record({
  index: fc.nat(pool.length - 1),
  wantType: fc.constantFrom('block' as const, 'have' as const),
  sendDontHave: fc.boolean(),
  priority: fc.integer({ min: -3, max: 3 })
})

it('each want gets exactly one answer', () => {
  const input = fc.tuple(
    fc.uniqueArray(entryOf, { selector: (entry) => entry.index }),
    fc.array(fc.boolean(), { minLength: 24, maxLength: 24 })
  )
  fc.assert(
    fc.property(input, ([entries, here]) => {
      const scene = new Scene({ envelopeBytesTarget: 5000 })
      scene.store.put(...pool.filter((_, index) => here[index]))
      const peer = peerKey('client')
      scene.ask(peer, ...entries.map(({ index, ...over }) => want(at(index).cid, over)))
      const expected = entries.flatMap(({ index, wantType, sendDontHave }) => {
        const text = at(index).cid.toString()
        if (here[index]) return [wantType === 'block' || at(index).bytes.length <= 1024 ? `block ${text}` : `have ${text}`]
        return sendDontHave ? [`dont-have ${text}`] : []
      })
      expect(scene.answers(peer).sort()).toEqual(expected.sort())
    }),
    runs
  )
})

const peers = [0, 1, 2, 3].map((index) => peerKey(`peer ${index}`))
const peerOf = fc.constantFrom(...peers)
const indexOf = fc.nat(pool.length - 1)

type Event = (scene: Scene) => void

const asks: fc.Arbitrary<Event> = fc
  .record({ peer: peerOf, entries: fc.uniqueArray(entryOf, { selector: ({ index }) => index, maxLength: 12 }), full: fc.boolean() })
  .map(({ peer, entries, full }) => {
    const wants = entries.map(({ index, ...over }) => want(at(index).cid, over))
    return (scene) => scene.tell(peer, message(wants, { full }))
  })

const comesAndGoes: fc.Arbitrary<Event> = fc
  .record({ peer: peerOf, what: fc.constantFrom('connect', 'disconnect', 'hold', 'release') })
  .map(({ peer, what }) => (scene) => {
    if (what === 'connect') scene.engine.connected(peer)
    else if (what === 'disconnect') scene.disconnect(peer)
    else if (what === 'hold') scene.hold(peer)
    else scene.release(peer)
  })

const events = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: asks },
    { weight: 3, arbitrary: fc.record({ peer: peerOf, index: indexOf }).map(({ peer, index }) => cancels(peer, index)) },
    {
      weight: 3,
      arbitrary: indexOf.map(
        (index): Event =>
          (scene) =>
            scene.arrive(at(index))
      )
    },
    { weight: 4, arbitrary: comesAndGoes },
    {
      weight: 1,
      arbitrary: fc.nat(200).map(
        (ms): Event =>
          (scene) =>
            scene.advance(ms)
      )
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(...peers).map(
        (peer): Event =>
          (scene) =>
            scene.late(2000, peer)
      )
    },
    // Lookups, reads and sends end in any order.
    {
      weight: 12,
      arbitrary: fc.nat(9).map(
        (pick): Event =>
          (scene) =>
            void scene.turn(pick)
      )
    }
  ),
  { maxLength: 80 }
)

function cancels(peer: (typeof peers)[number], index: number): Event {
  return (scene) => scene.tell(peer, message([cancel(at(index).cid)]))
}

it('[I9][I14] whatever happens: wants, memory and open requests stay in their limits, blocks in order, credit right, and in the end all is zero', () => {
  const ahead = fc.constantFrom(1, 2, 16)
  const memory = fc.constantFrom(12_000, 40_000)
  const targets = fc.constantFrom(
    { envelopeBytesMin: 5000, envelopeBytesTarget: 5000 },
    { envelopeBytesMin: 1000, envelopeBytesTarget: 8000, sendsPerDoubling: 1, slowSendsPerShrink: 1 }
  )
  const admission = fc.constantFrom(
    { openRequestsMax: 1000 },
    { openRequestsMax: 4, freeScoreRequests: 2 },
    { openRequestsMax: 8, freeScoreRequests: 3, mode: 'registered' as const },
    { openRequestsMax: 8, freeScoreRequests: 0, mode: 'registered' as const },
    { mode: 'off' as const }
  )
  const input = fc.tuple(fc.array(fc.boolean(), { minLength: 1 }), ahead, memory, targets, admission)
  fc.assert(
    fc.property(events, input, (events, [outcomes, ahead, memory, targets, admission]) => {
      const limits = { blockBytesServedMax: 3000, responseBytesMax: memory, envelopesAheadMax: ahead, ...targets }
      const scene = new Scene(
        {
          ...limits,
          wantsPerPeerMax: 6,
          sendTriesMax: 2,
          lookupBatchMax: 3,
          lookupsPerPeerMax: 14,
          lookupsMax: 20,
          readAheadBytesPerPeerMax: 9000
        },
        admission
      )
      let sends = 0
      let writtenBytes = 0
      scene.outcome = ({ message }) => {
        if (!outcomes[sends++ % outcomes.length]) return false
        for (const { bytes } of message.blocks) writtenBytes += bytes.length
        return true
      }
      for (const event of events) {
        event(scene)
        for (const peer of peers) expect(scene.ledger(peer)?.wants.length ?? 0).toBeLessThanOrEqual(6)
        const { responseBytes, lookups } = scene.engine.gauges()
        expect(lookups).toBeLessThanOrEqual(20)
        expect(responseBytes).toBeLessThanOrEqual(limits.responseBytesMax)
        expect(scene.heldBytes).toBeLessThanOrEqual(responseBytes)
        expect(scene.admission.open).toBeLessThanOrEqual(admission.openRequestsMax ?? Infinity)
        expect(scene.admission.overdue).toBeLessThanOrEqual(scene.admission.open)
      }
      for (const peer of peers) scene.release(peer)
      scene.settle()
      expect(scene.engine.stat().bytesSent).toBe(writtenBytes)
      expect(scene.engine.gauges()).toMatchObject({ responseBytes: 0, lookups: 0 })
      for (const peer of peers) scene.disconnect(peer)
      expect(Object.values(scene.engine.gauges())).toEqual([0, 0, 0, 0, 0, 0, 0])
      expect(scene.admission.gauges()).toMatchObject({ open: 0, clients: 0 })
      expect(scene.admission.overdue).toBe(0)
    }),
    runs
  )
})

it('a peer may leave at any moment: nothing of it stays, and others are served', () => {
  const input = fc.tuple(fc.nat(40), fc.array(fc.nat(9), { minLength: 1 }), fc.boolean())
  fc.assert(
    fc.property(input, ([turns, picks, isHeld]) => {
      const scene = new Scene({ envelopeBytesMin: 3000, envelopeBytesTarget: 6000, lookupBatchMax: 3 })
      const [leaver, stayer] = peers as [(typeof peers)[number], (typeof peers)[number]]
      scene.store.put(...pool.slice(0, 20))
      if (isHeld) scene.hold(leaver)
      for (const peer of [leaver, stayer]) scene.tell(peer, message(pool.map(({ cid }) => want(cid, { sendDontHave: true }))))
      for (let turn = 0; turn < turns; turn++) scene.turn(picks[turn % picks.length])
      scene.begin()
      scene.disconnect(leaver)
      expect(scene.ledger(leaver)).toBeUndefined()
      scene.settle()
      expect(scene.engine.gauges()).toMatchObject({ ledgers: 1, wants: 4, presences: 0, lookups: 0, queuedBytes: 0, responseBytes: 0 })
      expect(scene.answers(stayer).length).toBe(24)
      expect(scene.heldBytes).toBe(0)
    }),
    runs
  )
})

it('a want that stands is for a block that is missing, once everything could be sent', () => {
  const input = fc.array(
    fc.oneof(
      entryOf.map((entry) => ({ entry })),
      fc.nat(pool.length - 1).map((put) => ({ put }))
    ),
    { maxLength: 40 }
  )
  fc.assert(
    fc.property(input, (events) => {
      // So few may be open that most have to wait.
      const scene = new Scene({ envelopeBytesTarget: 5000, lookupBatchMax: 2 }, { openRequestsMax: 3, freeScoreRequests: 1 })
      const peer = peerKey('client')
      const here = new Set<string>()
      const asked = new Map<string, CID>()
      for (const event of events) {
        if ('put' in event) {
          here.add(at(event.put).cid.toString())
          scene.arrive(at(event.put))
        } else {
          const { index, ...over } = event.entry
          asked.set(at(index).cid.toString(), at(index).cid)
          scene.tell(peer, message([want(at(index).cid, over)]))
        }
      }
      scene.settle()
      const standing = scene.ledger(peer)?.wants.map((cid) => cid.toString()) ?? []
      expect(standing.sort()).toEqual([...asked.keys()].filter((text) => !here.has(text)).sort())
    }),
    runs
  )
})
