import { MemoryDatastore } from 'datastore-core'
import { afterEach, expect, it, vi } from 'vitest'
import { until } from '../support.ts'
import { Cast, connect, dayMs, seenBy } from './cast.ts'

const cast = new Cast()
afterEach(async () => {
  vi.useRealTimers()
  await cast.stop()
})

/** From now on the machine's clock tells another time; the clock that never jumps goes on as before, as after a sleep. */
function setClock(wallMs: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: wallMs })
}

it('[I16] a machine that has slept renews what has become old meanwhile, however often it sleeps', async () => {
  const { peer } = await cast.ours()
  await peer.register()
  const beganMs = Date.now()
  for (const days of [4, 12, 40]) {
    setClock(beganMs + days * dayMs)
    await until('it holds for long enough by the clock', () => (peer.admission().own.bindings[0]?.expiresMs ?? 0) > Date.now() + 6 * dayMs)
  }
  expect(peer.admission().own.bindings).toMatchObject([{ isRenewed: true }])
})

it('[I3] who has slept through the end of a binding believes it no longer', async () => {
  const [server, client] = [await cast.ours(), await cast.ours()]
  await client.peer.register()
  await connect(client.peer, server.peer)
  await until('the client is known', () => seenBy(server.peer, client)?.owner === client.id)
  await client.peer.stop()
  expect(server.peer.admission().registry.servers).toBe(1)
  setClock(Date.now() + 8 * dayMs)
  await until('the binding is over', () => server.peer.admission().registry.servers === 0)
})

it('[I16] what was made while the clock was years ahead is made anew once it is right, or nobody would take it', async () => {
  const realMs = Date.now()
  const datastore = new MemoryDatastore()
  setClock(realMs + 3650 * dayMs)
  const ahead = await cast.ours({ datastore })
  await ahead.peer.register()
  await ahead.peer.stop()
  vi.useRealTimers()
  const [server, client] = [await cast.ours(), await cast.ours({ datastore, privateKey: ahead.key })]
  await connect(client.peer, server.peer)
  await until('it is known', () => seenBy(server.peer, client)?.owner === client.id)
  expect(client.peer.admission().own.bindings[0]?.expiresMs).toBeLessThan(realMs + 30 * dayMs)
})

it('[I3] what was taken back elsewhere under the same identity is not made again, not even when that has expired', async () => {
  const one = await cast.ours()
  await one.peer.register()
  const other = await cast.ours({ privateKey: one.key })
  await other.peer.register()
  const between = await cast.ours()
  await connect(one.peer, between.peer)
  await until('it is known', () => between.peer.admission().registry.servers === 1)
  await one.peer.unregister()
  await until('it is known that it was revoked', () => between.peer.admission().registry.servers === 0)
  await one.peer.stop()
  await until('it is gone', () => between.peer.connections().length === 0)
  await connect(between.peer, other.peer)
  await until('the other node knows it', () => other.peer.admission().own.bindings.length === 0)
  const records = (): unknown => other.peer.admission().registry.outcomes.taken
  const before = records()
  setClock(Date.now() + 40 * dayMs)
  await until('all is forgotten', () => other.peer.admission().registry.records === 0)
  expect(records()).toBe(before)
})
