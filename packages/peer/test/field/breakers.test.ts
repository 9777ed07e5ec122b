import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import type { Peer } from '../../src/index.ts'
import { until } from '../support.ts'
import { address, blocks, byCid, type TestBlock } from '../wire/cast.ts'
import { answerWants, honest, openStream, type RawPeer, write } from '../wire/raw.ts'
import { hex, payload, presences } from '../wire/bytes.ts'
import { Ledger, misbehave, misdeeds } from './breakers.ts'
import { cidsOf, Outcome, Scene } from './scene.ts'

const scene = new Scene()
afterEach(async () => await scene.stop())

/** Fetches all in one session; then nothing may be left, here or as a want-block at a peer that did not deliver it. */
async function fetchAll(ours: Peer, all: readonly TestBlock[]): Promise<number> {
  const session = ours.createSession()
  const got = await Promise.all(cidsOf(all).map(async (cid) => await session.get(cid, { timeoutMs: 50_000 })))
  for (const [index, bytes] of got.entries()) expect(Buffer.compare(bytes, (all[index] as TestBlock).data)).toBe(0)
  session.close()
  await until('nothing is left', () => Object.values(ours.gauges()).every((gauge) => gauge === 0))
  return got.length
}

/** Want-blocks that the peer still has, as it was told. */
function leftAt(raw: RawPeer): number {
  return new Ledger(raw.inbox).wantBlocks
}

describe('a fetch beside a peer that', () => {
  it.each(Object.entries(misdeeds))(
    '%s ends, asks nothing twice, and leaves nothing behind',
    async (_, { act, delivers }) => {
      const ours = await scene.ours()
      const all = blocks(200, 8 * 1024)
      const known = byCid(all)
      const [bad, good] = [await scene.raw(), await scene.raw()]
      await misbehave(bad, ours, known, act)
      await answerWants(good, address(ours), honest(known), 10)
      await until('both are known', () => ours.stat().connectedPeers === 2)
      await fetchAll(ours, all)
      expect(new Ledger(bad.inbox).repeated).toEqual([])
      if (!delivers) await until('all is cancelled there', () => leftAt(bad) === 0)
    },
    60_000
  )

  it('comes and goes every few milliseconds ends', async () => {
    const ours = await scene.ours()
    const all = blocks(200, 8 * 1024)
    const known = byCid(all)
    const [bad, good] = [await scene.raw(), await scene.raw()]
    await answerWants(good, address(ours), honest(known), 10)
    const over = new AbortController()
    const comeAndGo = async (): Promise<void> => {
      while (!over.signal.aborted) {
        await misbehave(bad, ours, known, (entry) => [presences([{ cid: entry.cid, type: 0 }])]).catch(() => undefined)
        await sleep(50)
        for (const connection of bad.connections) connection.abort(new Error('gone again'))
      }
    }
    const loop = comeAndGo()
    expect(await fetchAll(ours, all)).toBe(200)
    over.abort()
    await loop
  })

  it('knows 1.1.0 alone and is silent, twice, ends by a third of 1.1.0', async () => {
    const ours = await scene.ours()
    const all = blocks(100, 8 * 1024)
    const known = byCid(all)
    const olds = [await scene.raw(['1.1.0']), await scene.raw(['1.1.0']), await scene.raw(['1.1.0'])] as const
    for (const old of olds) await old.dial(address(ours))
    await until('all are known', () => ours.stat().connectedPeers === 3)
    const stream = await openStream(olds[2].connections[0]!, '1.1.0')
    olds[2].onMessage = ({ entries }) => {
      const wanted = entries.filter(({ cancel }) => !cancel).flatMap(({ cid }) => known.get(hex(cid)) ?? [])
      if (wanted.length > 0) void write(stream, payload(wanted)).catch(() => undefined)
    }
    expect(await fetchAll(ours, all)).toBe(100)
    for (const silent of [olds[0], olds[1]]) await until('all is cancelled there', () => leftAt(silent) === 0)
  })
})

/** Numbers from 0 to 1, the same at each run. */
function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

it('with all of them at once, four sessions and aborts at any moment, whoever stays gets the blocks', async () => {
  const next = dice(1)
  const ours = await scene.ours()
  const all = blocks(400, 4 * 1024)
  const known = byCid(all)
  for (const { act } of Object.values(misdeeds)) await misbehave(await scene.raw(), ours, known, act, Math.floor(next() * 100))
  for (const delayMs of [5, 15]) await answerWants(await scene.raw(), address(ours), honest(known), delayMs)
  await until('all are known', () => ours.stat().connectedPeers === Object.keys(misdeeds).length + 2)
  const ends: { readonly aborts: boolean; readonly outcome: Outcome<Uint8Array> }[] = []
  const sessions = Array.from({ length: 4 }, () => ours.createSession())
  for (const session of sessions) {
    for (const { cid } of all.filter(() => next() < 0.5)) {
      const abort = new AbortController()
      const aborts = next() < 0.3
      if (aborts) setTimeout(() => abort.abort(), next() * 1000)
      ends.push({ aborts, outcome: new Outcome(session.get(cid, { signal: abort.signal, timeoutMs: 50_000 })) })
    }
  }
  await Promise.all(ends.map(async ({ outcome }) => await outcome.done))
  const failed = ends.filter(
    ({ aborts, outcome }) => outcome.state !== 'fulfilled' && !(aborts && (outcome.error as Error).name === 'AbortError')
  )
  expect(failed).toEqual([])
  for (const session of sessions) session.close()
  await until('nothing is left', () => Object.values(ours.gauges()).every((gauge) => gauge === 0))
}, 60_000)

it('a peer whose resets follow each other, and that delivers between them, keeps its connection', async () => {
  const ours = await scene.ours()
  const all = blocks(12, 1024)
  const raw = await scene.raw()
  const connection = await raw.dial(address(ours))
  const known = byCid(all)
  raw.onMessage = ({ entries }) => {
    const first = entries.find(({ cancel }) => cancel !== true)
    if (first === undefined) return
    const answer = async (): Promise<void> => {
      const stream = await openStream(connection)
      await write(stream, payload([known.get(hex(first.cid)) as TestBlock]))
      await stream.close()
      for (const inbound of raw.inbound.splice(0)) inbound.abort(new Error('reset by the test'))
    }
    answer().catch(() => undefined)
  }
  await until('it is known', () => ours.stat().connectedPeers === 1)
  await fetchAll(ours, all)
  expect(raw.connections).toEqual([connection])
})
