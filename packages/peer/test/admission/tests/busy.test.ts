import type { Connection } from '@libp2p/interface'
import { afterEach, expect, it } from 'vitest'
import { encodeRegistryFrame } from '../../../src/admission/registry-frame.ts'
import { registryProtocol } from '../../../src/admission/registry-protocol.ts'
import { readFrame, sendFrame } from '../../../src/reliability/frame.ts'
import type { Entry, Parsed } from '../../wire/bytes.ts'
import { blocks, byCid } from '../../wire/cast.ts'
import { openStream, type RawPeer, write } from '../../wire/raw.ts'
import { dontHave, outcomes, serve, testsOf, TestScene, untilTested } from './scene.ts'

let scene = new TestScene()

afterEach(async () => {
  await scene.stop()
  scene = new TestScene()
})

const all = blocks(4)

/** Says to strangers that it is busy for so long, then denies the want; as often as `isBusy` says so. */
function refuseStrangers(raw: RawPeer, friend: string, busyMs: number, isBusy: (want: Entry) => boolean): void {
  const conduct = raw.onMessage
  const refuse = async (wants: readonly Entry[], connection: Connection): Promise<void> => {
    const signal = AbortSignal.timeout(10_000)
    const told = await connection.newStream(registryProtocol)
    await Promise.all([readFrame(told, 512, signal), sendFrame(told, encodeRegistryFrame({ busyMs }), signal)])
    const stream = await openStream(connection)
    for (const want of wants) await write(stream, dontHave(want))
  }
  raw.onMessage = (message: Parsed, connection) => {
    const isFriend = connection.remotePeer.toString() === friend
    const refused = isFriend ? [] : message.entries.filter((entry) => entry.cancel !== true && isBusy(entry))
    conduct({ ...message, entries: message.entries.filter((entry) => !refused.includes(entry)) }, connection)
    // A connection that has gone has nobody to refuse.
    if (refused.length > 0) refuse(refused, connection).catch(() => {})
  }
}

it('[I5] a server that says that it is busy is asked again, as by any client, and what comes then is verified', async () => {
  const tester = await scene.tester({ visitTimeoutMs: 30_000, wantsPerVisitMax: 1 })
  const { raw } = await scene.cheat(tester, (entry, cid) => serve(entry, byCid(all).get(cid) ?? all[0]!))
  const refusedOnce = new Set<string>()
  let refusals = 0
  // Longer than a frame and the denial behind it take on a busy machine, or the denial is none for load.
  refuseStrangers(raw, tester.peerId.toString(), 500, ({ cid }) => {
    const key = String(cid)
    if (refusedOnce.has(key)) return false
    refusals++
    refusedOnce.add(key)
    return true
  })
  for (const { cid } of all) await tester.get(cid)
  await untilTested(tester, 4)
  expect(refusals).toBeGreaterThan(1)
  expect(testsOf(tester).outcomes).toEqual({ verified: outcomes(tester) })
})

it('[I5] a server that is busy for a whole visit fails the test, and no less is asked of it for that', async () => {
  const tester = await scene.tester()
  const { raw, id } = await scene.cheat(tester, (entry, cid) => serve(entry, byCid(all).get(cid) ?? all[0]!))
  refuseStrangers(raw, tester.peerId.toString(), 20_000, () => true)
  for (const { cid } of all) await tester.get(cid)
  const score = (): number => tester.scores().find(({ peer }) => peer === id)?.score ?? Number.NaN
  const before = score()
  await untilTested(tester, 3)
  expect(testsOf(tester).outcomes).toEqual({ refused: outcomes(tester) })
  expect(score()).toBeCloseTo(before, 0)
})
