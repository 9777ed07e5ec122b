import { setTimeout as sleep } from 'node:timers/promises'
import { type ChildControl, startChild } from '@shardswap-test/cluster/child'
import { startRelay } from '@shardswap-test/cluster'
import { startKubo } from '@shardswap-test/interop/kubo'
import type { Actor } from './actors/api.ts'
import type { Crowd } from './actors/crowd-api.ts'
import { type Contender, type Sample, settleMs, withChildren } from './contenders.ts'
import { percentile } from './figures.ts'
import { addToKubo, kuboInit } from './kubo-contender.ts'
import { type FileWork, leafCids } from './work.ts'

/** Clients that want all at once. */
const greedyClients = 8
const greedyWants = 1024
/** Clients that come with one want each, one after the other. */
const newcomers = 20
/** What leaves the provider, to all clients together: so that neither their reading nor the machine is what is short. */
const uplinkBytesPerS = 10e6
/** Who has waited so long is not served; the rest are not tried. */
const patienceMs = 60_000
/** Between one newcomer and the next. */
const pauseMs = 50

/** Blocks that a bench of fairness needs: what the greedy want, and one for each newcomer. */
export const fairnessBlocks = greedyWants + newcomers

/** A provider that has the leaves of a file, in a process of its own. */
type Provider = (work: FileWork, keep: Parameters<Parameters<typeof withChildren>[0]>[0]) => Promise<string>

function actorProvider(script: string): Provider {
  return async (work, keep) => {
    const actor = await keep(startChild<Actor>(new URL(`./actors/${script}-process.ts`, import.meta.url), 'provider', []))
    await actor.provide(work)
    return (await actor.addresses())[0] ?? ''
  }
}

const kuboProvider: Provider = async (work, keep) => {
  const node = await keep(startKubo(kuboInit))
  await addToKubo(node, work)
  return (await node.addresses())[0] ?? ''
}

/** Resolves once each greedy client has had a block: the provider is at work for all of them. */
async function atWork(greedy: Crowd): Promise<void> {
  const giveUpMs = performance.now() + patienceMs
  while (Math.min(...(await greedy.blocks())) === 0) {
    if (performance.now() > giveUpMs) throw new Error(`one of the greedy clients had no block in ${patienceMs} ms`)
    await sleep(pauseMs)
  }
}

/** Of newcomers, one after the other, while all of the greedy ones want more: how long each waits for its one block. */
async function waits(newcomer: Crowd, cids: readonly string[], greedy: Crowd): Promise<number[]> {
  const waitsMs: number[] = []
  for (const [index, cid] of cids.entries()) {
    const waitMs = await newcomer.want(index, cid, patienceMs)
    if (Math.max(...(await greedy.blocks())) === greedyWants) break
    waitsMs.push(waitMs ?? patienceMs)
    if (waitMs === undefined) break
    await sleep(pauseMs)
  }
  if (waitsMs.length === 0) throw new Error('the first of the greedy clients had all before the first newcomer had one block')
  return waitsMs
}

/**
 * A turn is the time in which every client, the newcomer among them, has one block sent, at the rate at which blocks really
 * leave; `turns` is how many of those a newcomer waits, in the middle.
 */
function sampleOf(waitsMs: readonly number[], got: readonly number[], seconds: number): Sample {
  const blocks = got.reduce((sum, each) => sum + each, 0)
  const turnMs = ((greedyClients + 1) * seconds * 1000) / blocks
  return {
    turns: percentile(waitsMs, 0.5) / turnMs,
    turnsP95: percentile(waitsMs, 0.95) / turnMs,
    waitMs: percentile(waitsMs, 0.5),
    turnMs,
    blocksPerS: blocks / seconds,
    newcomers: waitsMs.length,
    leastShare: (Math.min(...got) * got.length) / blocks
  }
}

function fairnessContender(provide: Provider): Contender {
  return async ({ work }) =>
    await withChildren(async (keep) => {
      if (work.kind !== 'file') throw new Error('fairness is measured with the leaves of a file')
      const start = async (title: string): Promise<Crowd & ChildControl> =>
        await keep(startChild<Crowd>(new URL('./actors/crowd-process.ts', import.meta.url), title, []))
      const target = await provide(work, keep)
      const relay = await keep(startRelay())
      await relay.share('uplink', uplinkBytesPerS)
      const { address } = await relay.open({ target, shared: { fromTarget: 'uplink' } })
      const [greedy, newcomer] = [await start('greedy'), await start('newcomer')]
      await greedy.connect(address, greedyClients)
      const cids = leafCids(work)
      const wanted = cids.slice(greedyWants)
      await newcomer.connect(address, wanted.length)
      await sleep(settleMs)
      await greedy.crave(cids.slice(0, greedyWants))
      await atWork(greedy)
      const before = await greedy.blocks()
      const startMs = performance.now()
      const waitsMs = await waits(newcomer, wanted, greedy)
      const seconds = (performance.now() - startMs) / 1000
      const got = (await greedy.blocks()).map((blocks, index) => blocks - (before[index] ?? 0))
      return sampleOf(waitsMs, got, seconds)
    })
}

export const fairnessOurs = fairnessContender(actorProvider('ours'))
export const fairnessHelia = fairnessContender(actorProvider('helia'))
export const fairnessKubo = fairnessContender(kuboProvider)
