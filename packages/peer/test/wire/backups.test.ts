import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { hex } from './bytes.ts'
import { address, blocks, byCid, Cast } from './cast.ts'
import type { TestBlock } from './cast.ts'
import { type Answer, honest, openStream, type RawPeer, write } from './raw.ts'

const cast = new Cast()
afterEach(async () => cast.stop())

/** Lets two peers answer: at once, and once they `pause`, each block by the first who was asked for it only, after a while. */
class Pair {
  readonly #first = new Map<string, RawPeer>()
  readonly #answer: Answer
  paused = false

  constructor(all: readonly TestBlock[]) {
    this.#answer = honest(byCid(all))
  }

  async join(raw: RawPeer, to: string): Promise<void> {
    const stream = await openStream(await raw.dial(to))
    raw.onMessage = ({ entries }) => {
      for (const entry of entries) {
        const cid = hex(entry.cid)
        if (entry.cancel || (!entry.have && this.#isSecond(cid, raw))) continue
        const frames = this.#answer(entry, cid)
        const later = entry.have || !this.paused ? Promise.resolve() : sleep(500)
        for (const frame of frames) void later.then(async () => await write(stream, frame)).catch(() => undefined)
      }
    }
  }

  /** Who was asked first for it. */
  firstFor(cid: string): RawPeer | undefined {
    return this.#first.get(cid)
  }

  #isSecond(cid: string, raw: RawPeer): boolean {
    const first = this.#first.get(cid) ?? raw
    this.#first.set(cid, first)
    return this.paused && first !== raw
  }
}

it('[F50][C5] a backup whose primary comes in time gets a CANCEL, and none of its blocks twice', async () => {
  // The deadline is far off: what is late is late by the peer's own measure.
  const peer = await cast.ours({ limits: { timeoutMinMs: 6000 } })
  const raws = [await cast.raw(), await cast.raw()] as const
  const all = blocks(420, 2000, 30_000)
  const pair = new Pair(all)
  for (const raw of raws) await pair.join(raw, address(peer))
  const session = peer.createSession()
  for (const { cid } of all.slice(0, 400)) await session.get(cid)
  pair.paused = true
  const backedUp: [TestBlock, RawPeer][] = []
  for (const block of all.slice(400)) {
    await session.get(block.cid)
    const first = pair.firstFor(block.hex)
    const second = raws.find((raw) => raw !== first)
    if (second === undefined || !second.inbox.some((m) => m.entries.some((e) => !e.have && !e.cancel && hex(e.cid) === block.hex))) continue
    backedUp.push([block, second])
    await second.until((inbox) => inbox.some((m) => m.entries.some((e) => e.cancel && hex(e.cid) === block.hex)))
    if (backedUp.length === 2) break
  }
  expect(backedUp.length).toBeGreaterThan(0)
  expect(peer.stat().fetch.backupsSent).toBeGreaterThanOrEqual(backedUp.length)
  // Whom both had answered at once before, by a busy machine's leave.
  expect(peer.stat().fetch.duplicateBlocks).toBeLessThanOrEqual(peer.stat().fetch.backupsSent - backedUp.length)
  session.close()
}, 60_000)
