/** What a remote sees of our wants: a hand-made peer counts them, in a process of its own. */
import { expect, onTestFinished, test } from 'vitest'
import { cidsOf, Cluster, type PeerProcess, type WantsSeen, type WitnessProcess } from '../src/index.ts'

/** Want-blocks that one session may have at a peer that delivered nothing to it yet (N of B11). */
const startWants = 8
/** Want-blocks over all sessions at a peer whose link needs no more (B15). */
const peerWants = 128
/** Within so many milliseconds after an abort no want may stand anywhere. */
const cancelMs = 1000

function cluster(): Cluster {
  const made = new Cluster()
  onTestFinished(async () => await made.stop())
  return made
}

/** B11–B13: N, 2N after the first block, then doubled each time the blocks received reach half of it. */
function sessionLimit(blocks: number): number {
  if (blocks === 0) return startWants
  let limit = 2 * startWants
  while (blocks >= limit / 2) limit *= 2
  return limit
}

async function untilSeen(witness: WitnessProcess, by: PeerProcess, isEnough: (seen: WantsSeen) => boolean): Promise<WantsSeen> {
  for (;;) {
    const seen = await witness.seen(by.peer)
    if (isEnough(seen)) return seen
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Aborts, and gives the milliseconds until no want stands at any of the witnesses. */
async function msUntilNoneStands(downloader: PeerProcess, job: string, witnesses: readonly WitnessProcess[]): Promise<number> {
  const startMs = performance.now()
  await downloader.abort(job)
  for (const witness of witnesses) {
    await untilSeen(witness, downloader, ({ standingBlocks, standingHaves }) => standingBlocks + standingHaves === 0)
  }
  return performance.now() - startMs
}

async function connected(downloader: PeerProcess, witnesses: readonly WitnessProcess[]): Promise<void> {
  for (const witness of witnesses) await downloader.connect(witness.address)
}

test('[B19] two sessions that want the same send it once, and CANCEL it when the second has gone too', async () => {
  const peers = cluster()
  const [downloader, witness] = await Promise.all([peers.peer(), peers.witness()])
  await witness.script({ toBlock: 'nothing' })
  const blocks = { seed: 1, count: startWants, blockBytes: 1024 }
  await witness.offerBlocks('all', blocks)
  await connected(downloader, [witness])
  const cids = cidsOf(blocks).map(String)
  const first = downloader.getMany(cids, { job: 'first' }).catch((error: unknown) => error)
  const second = downloader.getMany(cids, { job: 'second' }).catch((error: unknown) => error)
  await untilSeen(witness, downloader, ({ wantBlocks }) => wantBlocks >= startWants)
  await downloader.abort('first')
  expect(await first).toMatchObject({ name: 'AbortError' })
  // The second one's fetch goes on: what is asked for now is answered.
  await witness.script({ blocksMax: 1 })
  const seen = await untilSeen(witness, downloader, ({ blocksSent }) => blocksSent === 1)
  expect(seen.repeats).toBe(0)
  expect(await msUntilNoneStands(downloader, 'second', [witness])).toBeLessThan(cancelMs)
  expect(await second).toMatchObject({ name: 'AbortError' })
  expect((await witness.seen(downloader.peer)).repeats).toBe(0)
})

test('[B11][F17] four peers that deliver slowly: no limit passed, nothing asked twice, nothing left after an abort', async () => {
  const peers = cluster()
  const [downloader, witnesses] = await Promise.all([
    peers.peer(),
    Promise.all(Array.from({ length: 4 }, async () => await peers.witness()))
  ])
  const file = { seed: 1, bytes: 64 * 1024 * 1024 }
  let root = ''
  for (const [index, witness] of witnesses.entries()) {
    root = (await witness.offerFile('file', file)).root
    await witness.script({ blockEveryMs: 20 * (index + 1) })
  }
  await connected(downloader, witnesses)
  const reading = downloader.cat(root, { job: 'file' }).catch((error: unknown) => error)
  expect(await downloader.reached('file', file.bytes / 4)).toBe(true)
  expect(await msUntilNoneStands(downloader, 'file', witnesses)).toBeLessThan(cancelMs)
  expect(await reading).toMatchObject({ name: 'AbortError' })
  for (const witness of witnesses) {
    const seen = await witness.seen(downloader.peer)
    expect(seen.repeats).toBe(0)
    expect(seen.cancels).toBeGreaterThan(0)
    expect(seen.blocksSent).toBeGreaterThan(0)
    const tooMany = seen.standingMaxBySent.filter((standing, sent) => standing > Math.min(sessionLimit(sent), peerWants))
    expect(tooMany).toEqual([])
  }
})
