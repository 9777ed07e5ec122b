import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import type { Peer } from '../../../src/index.ts'
import { until } from '../../support.ts'
import { payload } from '../../wire/bytes.ts'
import { type TestBlock, block, blocks, byCid } from '../../wire/cast.ts'
import { type Conduct, dontHave, have, outcomes, serve, testsOf, TestScene, untilTested } from './scene.ts'

let scene = new TestScene()

afterEach(async () => {
  await scene.stop()
  scene = new TestScene()
})

/** Serves what there is. */
function honest(all: readonly TestBlock[]): Conduct {
  const known = byCid(all)
  return (entry, cid) => {
    const found = known.get(cid)
    return found === undefined ? [dontHave(entry)] : serve(entry, found)
  }
}

/** Serves one peer, and does something else to everybody else. */
function honestTo(id: string, all: readonly TestBlock[], toOthers: Conduct): Conduct {
  const serveOne = honest(all)
  return (entry, cid, from) => (from === id ? serveOne(entry, cid, from) : toOthers(entry, cid, from))
}

async function fetchAll(peer: Peer, all: readonly TestBlock[]): Promise<void> {
  await Promise.all(all.map(async ({ cid }) => await peer.get(cid)))
}

function scoreAt(peer: Peer, id: string): number {
  return peer.scores().find((score) => score.peer === id)?.score ?? Number.NaN
}

it('[I5][I7] an honest server is asked for what it delivered, and every test of it is verified', async () => {
  const tester = await scene.tester()
  const all = blocks(4)
  const server = await scene.server(all, tester)
  await fetchAll(tester, all)
  await untilTested(tester, 8)
  expect(testsOf(tester)).toMatchObject({ state: 'on', servers: 1, outcomes: { verified: outcomes(tester) } })
  const known = tester.scores().find(({ peer }) => peer === server.peerId.toString())
  // What the node asked for itself; the tests are in nobody's account.
  expect(known?.counts).toMatchObject({ attempted: 4, successful: 4 })
})

it('[I5] a free rider that says HAVE to all, serves whom it knows, and denies strangers what it said: every test fails', async () => {
  const tester = await scene.tester()
  const all = blocks(4)
  const rider = await scene.cheat(
    tester,
    honestTo(tester.peerId.toString(), all, (entry) => [entry.have === true ? have(entry) : dontHave(entry)])
  )
  await fetchAll(tester, all)
  const before = scoreAt(tester, rider.id)
  await untilTested(tester, 4)
  expect(testsOf(tester).outcomes).toEqual({ denied: 4 })
  // One record says whom we serve and whom we ask.
  expect(scoreAt(tester, rider.id)).toBeLessThan(before)
})

it('[I5] what was claimed by a HAVE alone is tested as well', async () => {
  const tester = await scene.tester()
  const wanted = block(1)
  await scene.cheat(tester, (entry, _, from) => [from === tester.peerId.toString() ? have(entry) : dontHave(entry)])
  await expect(tester.get(wanted.cid, { timeoutMs: 500 })).rejects.toThrow('no block')
  await untilTested(tester, 1)
  expect(testsOf(tester).outcomes).toEqual({ denied: 1 })
})

it('[I5] a server that is silent to strangers fails every test, and holds up no test of another', async () => {
  const tester = await scene.tester()
  const all = blocks(4)
  await scene.cheat(
    tester,
    honestTo(tester.peerId.toString(), all, (entry) => (entry.have === true ? [have(entry)] : []))
  )
  await fetchAll(tester, all)
  await untilTested(tester, 1, 'silent')
  const others = blocks(4, 2000, 100)
  await scene.server(others, tester)
  await fetchAll(tester, others)
  await untilTested(tester, 6, 'verified')
  expect(outcomes(tester)).toBe(outcomes(tester, 'verified') + outcomes(tester, 'silent'))
})

it('[I2][I5] a server that sends strangers wrong bytes fails every test', async () => {
  const tester = await scene.tester()
  const all = blocks(4)
  const wrong = block(99)
  await scene.cheat(
    tester,
    honestTo(tester.peerId.toString(), all, (entry) => [entry.have === true ? have(entry) : payload([wrong])])
  )
  await fetchAll(tester, all)
  await untilTested(tester, 3)
  expect(testsOf(tester).outcomes).toEqual({ wrong: outcomes(tester) })
})

it('[I6] a test looks as what any client sends, and comes from another identity', async () => {
  const tester = await scene.tester({ wantsPerVisitMax: 1 })
  const all = blocks(1)
  const { raw } = await scene.cheat(tester, honest(all))
  const seen: { readonly from: string; readonly text: string }[] = []
  const conduct = raw.onMessage
  raw.onMessage = (message, connection) => {
    const { entries, full } = message
    const lines = entries.map(({ priority, cancel, have: isHave, sendDontHave }) => ({ priority, cancel, isHave, sendDontHave }))
    seen.push({ from: connection.remotePeer.toString(), text: JSON.stringify({ lines, full }) })
    conduct(message, connection)
  }
  const of = (id: string | undefined): string[] => seen.filter(({ from }) => from === id).map(({ text }) => text)
  const client = await scene.cast.ours({ listen: [] })
  await client.connect(raw.address)
  await fetchAll(client, all)
  await fetchAll(tester, all)
  await untilTested(tester, 1)
  const { identity } = testsOf(tester)
  expect(identity).not.toBe(tester.peerId.toString())
  const [asked] = of(client.peerId.toString())
  expect(asked).toContain('"sendDontHave":true')
  expect(of(identity)[0]).toBe(asked)
})

it('[I5] tests come under an identity that changes', async () => {
  const tester = await scene.tester({ identityLifetimeMs: 300 })
  const all = blocks(4)
  const asked = new Set<string>()
  const { raw } = await scene.cheat(tester, honest(all))
  const conduct = raw.onMessage
  raw.onMessage = (message, connection) => {
    asked.add(connection.remotePeer.toString())
    conduct(message, connection)
  }
  await fetchAll(tester, all)
  await until('tests came under three identities', () => asked.size >= 4, 60_000)
  expect(testsOf(tester).identities).toBeGreaterThanOrEqual(3)
})

it('[I5] a server that cannot be reached fails its tests, as long as we reach others', async () => {
  const tester = await scene.tester()
  const all = blocks(4)
  const { raw } = await scene.cheat(tester, honest(all))
  const friend = await scene.server([], tester)
  await fetchAll(tester, all)
  await raw.stop()
  await untilTested(tester, 3, 'unreachable')
  await friend.stop()
  await untilTested(tester, 3, 'void')
  const { unreachable } = testsOf(tester).outcomes
  await untilTested(tester, 6, 'void')
  expect(outcomes(tester, 'unreachable')).toBe(unreachable)
})

it('[I5] nothing is tested where nobody is registered: neither by a stranger, nor of one, nor where it is turned off', async () => {
  const all = blocks(4)
  const tester = await scene.tester()
  const stranger = await scene.cast.ours({ admission: { testLimits: { visitFirstMs: 1 } } })
  const idle = await scene.cast.ours({ admission: { tests: false } })
  await idle.register()
  const server = await scene.server(all, tester)
  for (const peer of [stranger, idle]) await peer.connect(server.addresses()[0] ?? '')
  const unknown = await scene.cast.raw()
  await tester.connect(unknown.address)
  for (const peer of [stranger, idle]) await fetchAll(peer, all)
  await fetchAll(tester, all)
  await untilTested(tester, 6)
  expect(testsOf(tester).servers).toBe(1)
  expect(testsOf(stranger)).toMatchObject({ state: 'unregistered', identities: 0, outcomes: {} })
  expect(testsOf(idle)).toMatchObject({ state: 'off', servers: 0, identities: 0, outcomes: {} })
})

it('[I5] a stop ends visits at once, and they count for nothing', async () => {
  const tester = await scene.tester({ visitTimeoutMs: 600_000 })
  const all = blocks(4)
  await scene.cheat(
    tester,
    honestTo(tester.peerId.toString(), all, () => [])
  )
  await fetchAll(tester, all)
  await until('a visit goes on', () => tester.gauges().tests > 0)
  // Until it is likely to wait for an answer.
  await sleep(200)
  await tester.stop()
  expect(Object.values(tester.gauges()).every((held) => held === 0)).toBe(true)
  expect(outcomes(tester)).toBe(outcomes(tester, 'void'))
})

it('[I5] a node that was not registered when it heard of a server tests it once it is', async () => {
  const all = blocks(4)
  const late = await scene.waiting()
  const server = await scene.server(all, late)
  await fetchAll(late, all)
  expect(testsOf(late)).toMatchObject({ state: 'unregistered', servers: 1 })
  await late.register()
  await untilTested(late, 3, 'verified')
  expect(server.peerId.toString()).not.toBe(testsOf(late).identity)
})
