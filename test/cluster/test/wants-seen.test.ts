/** What a remote sees of our wants: a hand-made peer counts them, in a process of its own. */
import { expect, onTestFinished, test } from 'vitest'
import { cidsOf, Cluster, type PeerProcess, type WantsSeen, type WitnessProcess } from '../src/index.ts'

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

test(
  '[B1][B15][C2] forty sessions together stay under one limit at a peer that says HAVE and sends nothing',
  { timeout: 90_000 },
  async () => {
    const peers = cluster()
    const [downloader, witness] = await Promise.all([peers.peer(), peers.witness()])
    await witness.script({ toBlock: 'nothing' })
    const sessions = Array.from({ length: 40 }, (_, index) => ({ seed: index, count: 30, blockBytes: 1024 }))
    for (const [index, blocks] of sessions.entries()) await witness.offerBlocks(`session ${index}`, blocks)
    await connected(downloader, [witness])
    const ends = sessions.map(
      async (blocks) => await downloader.getMany(cidsOf(blocks).map(String), { job: 'all' }).catch((error: unknown) => error)
    )
    // Long enough for wants to have timed out, been cancelled and sent again.
    const seen = await untilSeen(witness, downloader, ({ cancels }) => cancels >= 6)
    expect(seen.standingBlocksMax).toBeLessThanOrEqual(peerWants)
    expect(seen.standingBlocksMax).toBeGreaterThanOrEqual(startWants)
    const ofSessions = await Promise.all(sessions.map(async (_, index) => await witness.seen(downloader.peer, `session ${index}`)))
    expect(Math.max(...ofSessions.map(({ standingBlocksMax }) => standingBlocksMax))).toBeLessThanOrEqual(startWants)
    expect(await msUntilNoneStands(downloader, 'all', [witness])).toBeLessThan(cancelMs)
    expect((await Promise.all(ends)).map((error) => (error as Error).name)).toEqual(sessions.map(() => 'AbortError'))
    expect((await witness.seen(downloader.peer)).repeats).toBe(0)
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
