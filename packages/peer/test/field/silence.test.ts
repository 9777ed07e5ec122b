import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Stream } from '@libp2p/interface'
import { afterEach, describe, expect, it } from 'vitest'
import type { Peer } from '../../src/index.ts'
import { connect, rawBlocks, until } from '../support.ts'
import { address, blocks, type TestBlock } from '../wire/cast.ts'
import { PeerChild } from '../wire/peer-child.ts'
import { hex, type Parsed, payload, varint } from '../wire/bytes.ts'
import { openStream, type Version, write } from '../wire/raw.ts'
import { cidsOf, Scene } from './scene.ts'

const scene = new Scene()
const children: PeerChild[] = []
afterEach(async () => {
  await scene.stop()
  await Promise.all(children.splice(0).map(async (child) => await child.stop()))
})

async function child(): Promise<PeerChild> {
  const started = await PeerChild.start()
  children.push(started)
  return started
}

/** Fetches all, in a session of its own; `onBlock` sees how many have come. Returns how long it took. */
async function fetchAll(ours: Peer, all: readonly TestBlock[], onBlock: (read: number) => void = () => {}): Promise<number> {
  const startMs = performance.now()
  let read = 0
  for await (const { bytes } of ours.getMany(cidsOf(all), { signal: AbortSignal.timeout(25_000) })) {
    expect(Buffer.compare(bytes, (all[read] as TestBlock).data)).toBe(0)
    read += 1
    onBlock(read)
  }
  expect(read).toBe(all.length)
  return performance.now() - startMs
}

/** Bytes alive in this process once garbage was collected, those of buffers included. */
async function liveBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  for (let round = 0; round < 2; round++) {
    collectGarbage()
    await sleep(10)
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** 200 streams at both ends, and 100 blocks of 16 KiB. */
const memoryGrowthBytesMax = 32 * 1024 * 1024

describe('peers that are silent for a while, or for ever', () => {
  it('[F08] a silent peer, connected first, of whatever version, delays a file of 200 blocks little', async () => {
    const provider = await scene.ours()
    const relay = await scene.relay(provider, 100)
    const files = [0, 1, 2].map((run) => blocks(200, 16 * 1024, run * 1000))
    for (const { cid, data } of files.flat()) await provider.put(cid, data)
    const took = async (file: readonly TestBlock[] | undefined, version?: Version): Promise<number> => {
      const ours = await scene.ours()
      const silent = version === undefined ? undefined : await scene.raw([version])
      await silent?.dial(address(ours))
      await until('the silent peer is known', () => ours.stat().connectedPeers === (silent === undefined ? 0 : 1))
      await ours.connect(relay.address)
      const ms = await fetchAll(ours, file ?? [])
      expect(ours.stat().peers.find(({ peer }) => peer === silent?.id)?.blocks ?? 0).toBe(0)
      return ms
    }
    const aloneMs = await took(files[0])
    // The report's own bound. All three runs wait for the same relay, on the same machine, one after the other.
    expect(await took(files[1], '1.2.0')).toBeLessThan(3 * aloneMs)
    expect(await took(files[2], '1.1.0')).toBeLessThan(3 * aloneMs)
  })

  it('[F10] a peer on a short link that hangs for 400 ms is lost for no want, and used on', async () => {
    const provider = await child()
    const all = blocks(3000, 1024)
    await provider.tell({ type: 'put', seed: 0, size: 1024, count: 3000 }, 'done')
    const ours = await scene.ours()
    await ours.connect(provider.address)
    await fetchAll(ours, all.slice(0, 2000))
    let hung: Promise<unknown> | undefined
    await fetchAll(ours, all.slice(2000, 2500), (read) => {
      if (read === 1) hung = provider.tell({ type: 'hang', ms: 400 }, 'done')
    })
    await hung
    await fetchAll(ours, all.slice(2500))
    expect(ours.stat()).toMatchObject({ connectedPeers: 1, fetch: { blocks: 3000, unaskedBlocks: 0 } })
  })

  it('[F10] an answer that comes after its time is taken, and its sender is asked on', async () => {
    const ours = await scene.ours({ limits: { timeoutStartMs: 300 } })
    const raw = await scene.raw()
    const stream = await openStream(await raw.dial(address(ours)))
    const [late, next] = blocks(2) as [TestBlock, TestBlock]
    const got = ours.get(late.cid, { timeoutMs: 20_000 })
    const isCancelled = ({ entries }: Parsed): boolean => entries.some((entry) => entry.cancel && hex(entry.cid) === late.hex)
    await raw.until((inbox) => inbox.some(isCancelled))
    expect(ours.stat().fetch.timeouts).toBeGreaterThan(0)
    await write(stream, payload([late]))
    expect(await got).toEqual(late.data)
    const after = ours.get(next.cid, { timeoutMs: 20_000 })
    await raw.until(() => raw.wanted().includes(next.hex))
    await write(stream, payload([next]))
    expect(await after).toEqual(next.data)
    expect(ours.stat().fetch).toMatchObject({ blocks: 2, duplicateBlocks: 0, unaskedBlocks: 0 })
  })

  it.each([
    ['drip a message', true],
    ['say nothing', false]
  ] as const)('[F16] 200 streams that %s are reset after a while, and an honest peer sees nothing of it', async (_, drips) => {
    const ours = await scene.ours({ limits: { messageTimeoutMs: 1000 } })
    const raw = await scene.raw()
    const connection = await raw.dial(address(ours))
    const streams: Stream[] = []
    const beforeBytes = await liveBytes()
    for (let count = 0; count < 200; count++) streams.push(await openStream(connection))
    const all = rawBlocks(100, 16 * 1024, 'honest')
    const honest = await scene.ours()
    for (const { cid, bytes } of all) await honest.put(cid, bytes)
    await connect(ours, honest)
    const dripping = new AbortController()
    const drip = async (): Promise<void> => {
      // A length of almost 4 MiB and never so many bytes. The report's byte comes every 10 s, against a limit of 30 s.
      let bytes = varint(4 * 1024 * 1024 - 1)
      while (!dripping.signal.aborted) {
        for (const stream of streams) if (drips && stream.status === 'open') stream.send(bytes)
        bytes = Uint8Array.of(0)
        await sleep(100)
      }
    }
    const dripped = drip()
    // What is claimed takes no memory: 200 streams of a few KiB each, where their messages would be 800 MiB.
    const openBytes = await liveBytes()
    expect(openBytes - beforeBytes).toBeLessThan(memoryGrowthBytesMax)
    for await (const { bytes } of ours.getMany(cidsOf(all), { signal: AbortSignal.timeout(25_000) })) expect(bytes).toHaveLength(16 * 1024)
    await until('all are reset', () => streams.every((stream) => stream.status !== 'open'), 25_000)
    dripping.abort()
    await dripped
    expect((await liveBytes()) - beforeBytes).toBeLessThan(memoryGrowthBytesMax)
    expect(raw.connections).toHaveLength(1)
    expect(ours.stat().connectedPeers).toBe(2)
  })
})
