import { getEventListeners } from 'node:events'
import type { CID } from '@shardswap/interface'
import type { Peer } from '../../src/index.ts'
import { absentFrom, cidOf } from './made-blocks.ts'
import { idle, liveBytes, timers, timersLeft } from './measure.ts'
import type { Outcome } from './scale-process.ts'
import { fetcherAndProviders } from './session-works.ts'

const known = 10_000

async function outcomeOf(get: Promise<Uint8Array>): Promise<string> {
  try {
    return (await get).byteLength > 0 ? 'block' : 'nothing'
  } catch (error) {
    return (error as Error).name
  }
}

/** One of three ends: a block, a time-out, an abort. `oneShot` uses a session for each, as a caller may. */
async function getOne(fetcher: Peer, number: number, oneShot: boolean): Promise<string> {
  const session = oneShot ? fetcher.createSession() : undefined
  const source = session ?? fetcher
  const absent = (): CID => cidOf(absentFrom + number)
  try {
    if (number % 3 === 0) return await outcomeOf(source.get(cidOf(number % known)))
    if (number % 3 === 1) return await outcomeOf(source.get(absent(), { timeoutMs: 5 }))
    const abort = new AbortController()
    const outcome = outcomeOf(source.get(absent(), { signal: abort.signal }))
    setTimeout(() => abort.abort(), 3)
    return await outcome
  } finally {
    session?.close()
  }
}

/**
 * Single-block gets, 20 at a time: a third get their block, a third time out, a
 * third are aborted. Live bytes: before, and after each tenth.
 */
export async function thirds(init: { gets: number; oneShot: boolean }): Promise<Outcome> {
  const [fetcher, providers] = await fetcherAndProviders(2, known)
  const recordsMax = init.oneShot ? 0 : providers.length
  const live = [await liveBytes()]
  const timersBefore = timers()
  const counts: Record<string, number> = {}
  for (let from = 0; from < init.gets; from += 20) {
    const outcomes = await Promise.all(Array.from({ length: 20 }, async (_, index) => await getOne(fetcher, from + index, init.oneShot)))
    for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1
    if ((from + 20) % (init.gets / 10) === 0) {
      await idle([fetcher, ...providers], recordsMax)
      live.push(await liveBytes())
    }
  }
  const held = await idle([fetcher, ...providers], recordsMax)
  counts['timersLeft'] = await timersLeft(timersBefore)
  for (const peer of [fetcher, ...providers]) await peer.stop()
  return { liveBytes: live, held, counts }
}

/** One signal shared by all gets, streams and sessions: first at once, then in turn. */
export async function sharedSignal(init: { atOnce: number; inTurn: number }): Promise<Outcome> {
  const [fetcher, providers] = await fetcherAndProviders(1, known)
  const { signal } = new AbortController()
  const listeners = (): number => getEventListeners(signal, 'abort').length
  let listenersMost = 0
  let blocks = 0
  const wait = async (get: Promise<Uint8Array>): Promise<void> => {
    listenersMost = Math.max(listenersMost, listeners())
    if ((await get).byteLength > 0) blocks++
  }
  await Promise.all(Array.from({ length: init.atOnce }, async (_, index) => await wait(fetcher.get(cidOf(index), { signal }))))
  const listenersBetween = listeners()
  const live = [await liveBytes()]
  for (let number = 0; number < init.inTurn; number++) {
    if (number % 10 === 0) {
      const session = fetcher.createSession({ signal })
      for await (const { bytes } of session.getMany([cidOf(number % known)], { signal })) if (bytes.byteLength > 0) blocks++
      session.close()
    } else await wait(fetcher.get(cidOf(number % known), { signal }))
  }
  const held = await idle([fetcher, ...providers], providers.length)
  live.push(await liveBytes())
  const counts = { blocks, listenersMost, listenersBetween, listenersAfter: listeners() }
  for (const peer of [fetcher, ...providers]) await peer.stop()
  return { liveBytes: live, held, counts }
}
