/** What a remote sees of our wants: a hand-made peer counts them, in a process of its own. */
import { expect, onTestFinished, test } from 'vitest'
import { type BlocksSpec, cidsOf, Cluster, type PeerProcess, type WantsSeen, type WitnessProcess } from '../src/index.ts'

/** Want-blocks that one session may have at a peer that delivered nothing to it yet (N of B11). */
const startWants = 8
/** Want-blocks over all sessions at a peer whose rate is not known (B15). */
const peerWants = 128
/** The same at any peer, whatever its bandwidth and delay. */
const peerWantsMax = 1024
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

test(
  '[B1][B11][B12][B13] a remote never sees more wants than 8, then 16, then twice as many each time half of them came',
  { timeout: 90_000 },
  async () => {
    const peers = cluster()
    const [downloader, witness] = await Promise.all([peers.peer(), peers.witness()])
    const blocks = { seed: 1, count: 400, blockBytes: 1024 }
    await witness.offerBlocks('all', blocks)
    await witness.script({ blockEveryMs: 4 })
    await connected(downloader, [witness])
    await downloader.getMany(cidsOf(blocks).map(String))
    const seen = await witness.seen(downloader.peer)
    expect(seen).toMatchObject({ wantBlocks: 400, blocksSent: 400, repeats: 0, standingBlocks: 0 })
    const tooMany = seen.standingMaxBySent.flatMap((standing, sent) =>
      standing > Math.min(sessionLimit(sent), peerWantsMax) ? [{ sent, standing, limit: sessionLimit(sent) }] : []
    )
    expect(tooMany).toEqual([])
    // Limits that nobody comes near would be none.
    expect(seen.standingMaxBySent[0]).toBe(startWants)
  }
)

/** As many sessions as there are sets, under the job `all`: each has fetched the first block of its own and waits to be told to go on. */
async function sizedSessions(downloader: PeerProcess, sets: readonly BlocksSpec[]): Promise<Promise<unknown>[]> {
  const ends: Promise<unknown>[] = []
  for (const [index, blocks] of sets.entries()) {
    ends.push(downloader.getMany(cidsOf(blocks).map(String), { job: 'all', first: 1 }).catch((error: unknown) => error))
    // One after the other: with nothing else in flight no rate shows, and the peer's limit stays what it is at first.
    expect(await downloader.reached('all', (index + 1) * blocks.blockBytes)).toBe(true)
  }
  return ends
}

test(
  '[B1][B15][C2] forty sessions that know their blocks are small reach one limit of 128 together at a peer that then falls silent',
  { timeout: 90_000 },
  async () => {
    const peers = cluster()
    const [downloader, witness] = await Promise.all([peers.peer(), peers.witness()])
    const sets = Array.from({ length: 40 }, (_, index) => ({ seed: index, count: 30, blockBytes: 1024 }))
    for (const [index, blocks] of sets.entries()) await witness.offerBlocks(`session ${index}`, blocks)
    await connected(downloader, [witness])
    const ends = await sizedSessions(downloader, sets)
    await witness.script({ toHave: 'nothing', toBlock: 'nothing' })
    await downloader.goOn('all')
    // Long enough for wants to have timed out, been cancelled and sent again. The forty might have 640.
    const seen = await untilSeen(witness, downloader, ({ cancels }) => cancels >= 6)
    expect(seen.standingBlocksMax).toBe(peerWants)
    const ofSessions = await Promise.all(sets.map(async (_, index) => await witness.seen(downloader.peer, `session ${index}`)))
    expect(Math.max(...ofSessions.map(({ standingBlocksMax }) => standingBlocksMax))).toBeLessThanOrEqual(sessionLimit(1))
    expect(await msUntilNoneStands(downloader, 'all', [witness])).toBeLessThan(cancelMs)
    expect((await Promise.all(ends)).map((error) => (error as Error).name)).toEqual(sets.map(() => 'AbortError'))
    expect(await witness.seen(downloader.peer)).toMatchObject({ repeats: 0, standingBlocksMax: peerWants })
  }
)

test(
  '[B1][B15][C2] want-blocks and want-haves of a hundred and eighty sessions fill the 1,024 that servers keep, and no more',
  { timeout: 90_000 },
  async () => {
    const peers = cluster()
    // Nothing is to be late here: whatever stands, stands until the abort.
    const patient = { timeoutStartMs: 600_000, timeoutMinMs: 600_000, timeoutMaxMs: 600_000, probeStartMs: 600_000, probeMaxMs: 600_000 }
    const [downloader, witness, other] = await Promise.all([peers.peer({ limits: patient }), peers.witness(), peers.witness()])
    const haves = { seed: 1000, count: 100, blockBytes: 1024 }
    const sets = Array.from({ length: 80 }, (_, index) => ({ seed: index, count: 30, blockBytes: 1024 }))
    for (const blocks of [haves, ...sets]) await witness.offerBlocks('all', blocks)
    await witness.script({ blockEveryMs: 4 })
    await connected(downloader, [witness])
    // Blocks that come for a while show a rate; beside it, what the window holds of small blocks is more than 1,024.
    const shown = { seed: 2000, count: 50, blockBytes: 1024 }
    await witness.offerBlocks('all', shown)
    await downloader.getMany(cidsOf(shown).map(String))
    const ends = await sizedSessions(downloader, sets)
    for (const each of [witness, other]) await each.script({ toHave: 'nothing', toBlock: 'nothing' })
    // Where there are two, a new session asks them whether they have its first block.
    await connected(downloader, [other])
    for (const cid of cidsOf(haves)) {
      ends.push(downloader.getMany([cid.toString()], { job: 'all' }).catch((error: unknown) => error))
    }
    await untilSeen(witness, downloader, ({ standingHaves }) => standingHaves === haves.count)
    await downloader.goOn('all')
    const seen = await untilSeen(witness, downloader, ({ standingBlocks }) => standingBlocks >= peerWantsMax - haves.count)
    expect(seen).toMatchObject({ standingHaves: haves.count, standingBlocks: peerWantsMax - haves.count })
    expect(await msUntilNoneStands(downloader, 'all', [witness])).toBeLessThan(cancelMs)
    expect((await Promise.all(ends)).every((error) => (error as Error).name === 'AbortError')).toBe(true)
    expect(await witness.seen(downloader.peer)).toMatchObject({ repeats: 0, standingMax: peerWantsMax })
  }
)

test('[B19] two sessions that want the same send it once, and CANCEL it when the second has gone too', { timeout: 90_000 }, async () => {
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

test(
  '[B11][F17] four peers that deliver slowly: no limit passed, nothing asked twice, nothing left after an abort',
  { timeout: 90_000 },
  async () => {
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
    let cancels = 0
    for (const witness of witnesses) {
      const seen = await witness.seen(downloader.peer)
      expect(seen.repeats).toBe(0)
      cancels += seen.cancels
      expect(seen.blocksSent).toBeGreaterThan(0)
      const tooMany = seen.standingMaxBySent.filter((standing, sent) => standing > Math.min(sessionLimit(sent), peerWantsMax))
      expect(tooMany).toEqual([])
    }
    expect(cancels).toBeGreaterThan(0)
  }
)
