import { defaultLogger } from '@libp2p/logger'
import type { CID } from '@shardswap/interface'
import { MemoryDatastore } from 'datastore-core'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { AnnouncePlan } from '../../src/routing/announce-plan.ts'
import { Announced } from '../../src/routing/announced.ts'
import { Announcer } from '../../src/routing/announcer.ts'
import {
  announceEveryMs,
  announceRetryMs,
  announceRoundEveryMs,
  announcesAtOnceMax,
  announcesWaitingMax,
  clockLookEveryMs
} from '../../src/routing/limits.ts'
import { rawBlocks } from '../support.ts'

const log = defaultLogger().forComponent('test')
const hourMs = 3_600_000
const cids = rawBlocks(30, 32, 'announcer').map(({ cid }) => cid)

/** An announcer over a list that may change, and what it told whom when. */
class Scene {
  readonly datastore = new MemoryDatastore()
  readonly told: { readonly cid: string; readonly atMs: number }[] = []
  readonly untold: string[] = []
  kept: readonly CID[] = cids
  atOnce = 0
  atOnceMost = 0
  tell: (cid: CID) => Promise<void> = async () => await Promise.resolve()

  start(): Announcer {
    const limits = { everyMs: announceEveryMs, roundEveryMs: announceRoundEveryMs, retryMs: announceRetryMs }
    const announcer = new Announcer({
      plan: new AnnouncePlan(limits, Date.now()),
      announced: new Announced(this.datastore),
      keys: async function* (this: Scene) {
        yield* this.kept
      }.bind(this),
      tell: async (cid) => {
        this.atOnceMost = Math.max(this.atOnceMost, ++this.atOnce)
        try {
          await this.tell(cid)
          this.told.push({ cid: cid.toString(), atMs: Date.now() })
        } finally {
          this.atOnce--
        }
      },
      untell: async (cid) => {
        this.untold.push(cid.toV1().toString())
      },
      nowMs: Date.now,
      log
    })
    announcer.start()
    return announcer
  }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }))
afterEach(() => void vi.useRealTimers())

describe('announcing in the background', () => {
  test('all is announced at the start, a few at a time, and again every 22 h; what came later at its own time', async () => {
    const scene = new Scene()
    scene.tell = async () => await new Promise((resolve) => setTimeout(resolve, 1000))
    const [late, ...early] = cids
    if (late === undefined) throw new Error('there are thirty')
    scene.kept = early
    const announcer = scene.start()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(scene.told).toHaveLength(29)
    expect(scene.atOnceMost).toBe(announcesAtOnceMax)
    await vi.advanceTimersByTimeAsync(5 * hourMs)
    scene.kept = cids
    announcer.announce(late)
    await vi.advanceTimersByTimeAsync(16.9 * hourMs)
    expect(scene.told).toHaveLength(30)
    // They were announced within some seconds: the first round meets those that are due, the next one the others.
    await vi.advanceTimersByTimeAsync(1.2 * hourMs)
    expect(scene.told).toHaveLength(59)
    await vi.advanceTimersByTimeAsync(5 * hourMs)
    expect(scene.told.filter(({ cid }) => cid === late.toString())).toHaveLength(2)
    expect(scene.told).toHaveLength(60)
    await announcer.stop()
  })

  test('after a restart only what is due is announced', async () => {
    const scene = new Scene()
    const first = scene.start()
    await vi.advanceTimersByTimeAsync(10_000)
    await first.stop()
    await vi.advanceTimersByTimeAsync(10 * hourMs)
    const second = scene.start()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(scene.told).toHaveLength(30)
    await vi.advanceTimersByTimeAsync(12 * hourMs)
    expect(scene.told).toHaveLength(60)
    await second.stop()
  })

  test('where nobody can be told it is tried again, and what works meanwhile is not repeated', async () => {
    const scene = new Scene()
    scene.tell = async (cid) => {
      if (!cid.equals(cids[0])) throw new Error('nobody is there')
    }
    const announcer = scene.start()
    await vi.advanceTimersByTimeAsync(announceRetryMs - 1000)
    expect(announcer.failed).toBe(29)
    scene.tell = async () => await Promise.resolve()
    await vi.advanceTimersByTimeAsync(2000)
    expect(scene.told).toHaveLength(30)
    expect(new Set(scene.told.map(({ cid }) => cid)).size).toBe(30)
    await announcer.stop()
  })

  test('what was announced a short while ago is not again, whoever asks for it; what could not be is tried again soon', async () => {
    const scene = new Scene()
    scene.kept = cids.slice(1)
    const announcer = scene.start()
    await vi.advanceTimersByTimeAsync(10_000)
    announcer.announce(cids[1] as CID)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(scene.told).toHaveLength(29)
    scene.tell = async () => await Promise.reject(new Error('nobody is there'))
    scene.kept = cids
    announcer.announce(cids[0] as CID)
    await vi.advanceTimersByTimeAsync(10_000)
    expect([announcer.failed, scene.told.length]).toEqual([1, 29])
    scene.tell = async () => await Promise.resolve()
    await vi.advanceTimersByTimeAsync(announceRetryMs)
    expect(scene.told.at(-1)?.cid).toBe(cids[0]?.toString())
    expect(scene.told).toHaveLength(30)
    await announcer.stop()
  })

  test('while routers fail nothing is forgotten, and a clock that is set forward is noticed', async () => {
    const scene = new Scene()
    const announcer = scene.start()
    await vi.advanceTimersByTimeAsync(10_000)
    scene.tell = async () => await Promise.reject(new Error('nobody is there'))
    await vi.advanceTimersByTimeAsync(23 * hourMs)
    expect(announcer.failed).toBeGreaterThan(30)
    expect([scene.untold, scene.told.length]).toEqual([[], 30])
    scene.tell = async () => await Promise.resolve()
    await vi.advanceTimersByTimeAsync(hourMs)
    expect(scene.told).toHaveLength(60)
    vi.setSystemTime(Date.now() + 22 * hourMs)
    await vi.advanceTimersByTimeAsync(clockLookEveryMs)
    expect(scene.told).toHaveLength(90)
    await announcer.stop()
  })

  test('what is gone is forgotten once it would have been due, and those who would repeat it are told', async () => {
    const scene = new Scene()
    const announcer = scene.start()
    await vi.advanceTimersByTimeAsync(10_000)
    scene.kept = cids.slice(1)
    await vi.advanceTimersByTimeAsync(45 * hourMs)
    expect(scene.untold).toEqual([cids[0]?.toString()])
    expect(await new Announced(scene.datastore).lastMs(cids[0] as CID)).toBeUndefined()
    expect(scene.told.filter(({ cid }) => cid === cids[0]?.toString())).toHaveLength(1)
    await announcer.stop()
  })

  test('more that is new than may wait is left to the next round, and a router that hangs does not hold a stop', async () => {
    const scene = new Scene()
    scene.kept = []
    scene.tell = async () => await new Promise(() => undefined)
    const announcer = scene.start()
    await vi.advanceTimersByTimeAsync(10)
    const many = rawBlocks(announcesWaitingMax + 50, 16, 'many').map(({ cid }) => cid)
    for (const cid of many) announcer.announce(cid)
    for (const cid of many) announcer.announce(cid)
    expect(announcer.waiting).toBe(announcesWaitingMax)
    expect(announcer.nextRoundAtMs - Date.now()).toBeLessThanOrEqual(announceRetryMs)
    await announcer.stop()
    expect(announcer.waiting).toBe(0)
    announcer.announce(cids[0] as CID)
    expect(announcer.waiting).toBe(0)
  })
})
