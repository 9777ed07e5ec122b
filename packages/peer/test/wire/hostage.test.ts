import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '@libp2p/interface'
import type { CID } from '@shardswap/interface'
import { afterEach, expect, it } from 'vitest'
import type { Peer } from '../../src/index.ts'
import { concat, payload, presences, rawCid, seeded } from './bytes.ts'
import { address, blocks, byCid, Cast } from './cast.ts'
import type { TestBlock } from './cast.ts'
import { answerWants, honest, openStream, write } from './raw.ts'

const cast = new Cast()
afterEach(async () => cast.stop())

/** Presences of blocks that nobody asked about: well-formed, and of no use. */
const noise = presences(Array.from({ length: 500 }, (_, seed) => ({ cid: rawCid(seeded(seed, 8)), type: 1 as const })))

/** Sends the same bytes all the time, so that some always arrive, until the returned function is called. */
function makeNoise(connection: Connection, bytes: Uint8Array, everyMs: number): () => void {
  const end = new AbortController()
  const talk = async (): Promise<void> => {
    const stream = await openStream(connection)
    for (;;) {
      await write(stream, bytes)
      await sleep(everyMs, undefined, { signal: end.signal })
    }
  }
  // It ends with the abort, or with the stream.
  talk().catch(() => {})
  return () => end.abort()
}

async function fetchAll(ours: Peer, cids: CID[]): Promise<number> {
  const session = ours.createSession({ signal: AbortSignal.timeout(60_000) })
  try {
    const all = await Promise.all(cids.map(async (cid) => session.get(cid)))
    return all.length
  } finally {
    session.close()
  }
}

it('a peer that says HAVE, delivers nothing and keeps talking holds no want back', async () => {
  const ours = await cast.ours()
  const all = blocks(60)
  const known = byCid(all)
  const [liar, provider] = [await cast.raw(), await cast.raw()]
  const connection = await answerWants(liar, address(ours), (entry) => [presences([{ cid: entry.cid, type: 0 }])])
  await answerWants(provider, address(ours), honest(known), 20)
  const stop = makeNoise(connection, noise, 100)
  expect(
    await fetchAll(
      ours,
      all.map(({ cid }) => cid)
    )
  ).toBe(60)
  stop()
}, 90_000)

it('a peer that says HAVE and DONT_HAVE by turns, however fast it talks, holds no want back', async () => {
  const ours = await cast.ours()
  const all = blocks(60)
  const known = byCid(all)
  const [liar, provider] = [await cast.raw(), await cast.raw()]
  const connection = await answerWants(liar, address(ours), (entry) => {
    const have = presences([{ cid: entry.cid, type: 0 }])
    const not = presences([{ cid: entry.cid, type: 1 }])
    return entry.have ? [have] : [concat(not, have)]
  })
  await answerWants(provider, address(ours), honest(known), 20)
  const stop = makeNoise(connection, noise, 1)
  expect(
    await fetchAll(
      ours,
      all.map(({ cid }) => cid)
    )
  ).toBe(60)
  stop()
}, 90_000)

it('a peer that delivers one block over and over holds no want back', async () => {
  const ours = await cast.ours()
  const [first, ...all] = blocks(60) as [TestBlock, ...TestBlock[]]
  const known = byCid(all)
  const [liar, provider] = [await cast.raw(), await cast.raw()]
  const connection = await answerWants(liar, address(ours), (entry, cid) => [
    cid === first.hex && !entry.have ? payload([first]) : presences([{ cid: entry.cid, type: 0 }])
  ])
  await answerWants(provider, address(ours), honest(known), 20)
  expect(await fetchAll(ours, [first.cid])).toBe(1)
  const stop = makeNoise(connection, concat(...Array.from({ length: 10 }, () => payload([first]))), 100)
  expect(
    await fetchAll(
      ours,
      all.map(({ cid }) => cid)
    )
  ).toBe(59)
  stop()
  expect(ours.stat().fetch.duplicateBlocks).toBeGreaterThan(0)
}, 90_000)
