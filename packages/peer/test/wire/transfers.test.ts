import { afterEach, describe, expect, it } from 'vitest'
import { hex, payload, sha256 } from './bytes.ts'
import { address, blocks, byCid, Cast } from './cast.ts'
import type { TestBlock } from './cast.ts'
import { answerWants, honest, openStream, write } from './raw.ts'

const KiB = 1024
const MiB = 1024 * KiB

const cast = new Cast()
afterEach(async () => cast.stop())

describe('[F50] many seeders', () => {
  const size = 256 * KiB
  const file = blocks(256, size, 10_000)

  for (const seeders of [1, 2, 4, 8]) {
    it(`64 MiB from ${seeders} of them cost at most 5 % in duplicates`, async () => {
      const peer = await cast.ours()
      for (let index = 0; index < seeders; index++) {
        const seeder = await cast.ours()
        for (const { cid, data } of file) await seeder.put(cid, data)
        await peer.connect(address(seeder))
      }
      let next = 0
      for await (const { bytes } of peer.getMany(file.map(({ cid }) => cid))) {
        expect(bytes.length).toBe((file[next++] as TestBlock).data.length)
      }
      expect(next).toBe(file.length)
      const { fetch } = peer.stat()
      expect(fetch.duplicateBytes).toBeLessThanOrEqual(0.05 * file.length * size)
    }, 120_000)
  }
})

describe('[F52] wants in flight', () => {
  it('are many at once: a provider that answers only once eight stand is no obstacle', async () => {
    const peer = await cast.ours()
    const raw = await cast.raw()
    const all = blocks(100, 20 * KiB, 20_000)
    const known = byCid(all)
    const connection = await raw.dial(address(peer))
    const stream = await openStream(connection)
    // As one with a long round trip: it answers the first eight wants together, and each later one at once.
    const standing: TestBlock[] = []
    let most = 0
    let answering = false
    raw.onMessage = ({ entries }) => {
      for (const entry of entries) {
        const block = known.get(hex(entry.cid))
        if (block !== undefined && !entry.cancel && !standing.includes(block)) standing.push(block)
      }
      most = Math.max(most, standing.length)
      if (standing.length >= 8) answering = true
      if (answering) void write(stream, payload(standing.splice(0)))
    }
    let next = 0
    for await (const { bytes } of peer.getMany(all.map(({ cid }) => cid))) {
      expect(hex(sha256(bytes))).toBe((all[next++] as TestBlock).hex.slice(8))
    }
    expect(next).toBe(100)
    expect(most).toBeGreaterThanOrEqual(8)
  })

  it('are bounded in bytes while the reader is slow', async () => {
    const limits = { getManyBytesMax: 2 * MiB, getManyBlocksMax: 64 }
    const peer = await cast.ours({ limits })
    const raw = await cast.raw()
    const all = blocks(200, 256 * KiB, 30_000)
    await answerWants(raw, address(peer), honest(byCid(all)))
    const reader = peer.getMany(all.map(({ cid }) => cid))
    let next = 0
    for await (const { cid } of reader) {
      expect(cid.equals((all[next++] as TestBlock).cid)).toBe(true)
      // The reader takes its time: whatever may be asked for ahead is asked for now.
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
      const ahead = new Set(raw.wanted()).size - next
      expect(ahead * 256 * KiB).toBeLessThanOrEqual(limits.getManyBytesMax + 256 * KiB)
      if (next === 50) break
    }
    expect(next).toBe(50)
  })
  // A wide file and a sharded directory over a link with 50 ms are in packages/content.
})
