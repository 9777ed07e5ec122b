import { afterEach, expect, it } from 'vitest'
import { until } from '../../support.ts'
import { blocks } from '../../wire/cast.ts'
import { outcomes, ownerAt, testsOf, TestScene, untilTested } from './scene.ts'

let scene = new TestScene()

afterEach(async () => {
  await scene.stop()
  scene = new TestScene()
})

const all = blocks(4)

it('[I4][I5] a node that only serves proves others by what it gave them', async () => {
  const provider = await scene.tester()
  for (const { cid, data } of all) await provider.put(cid, data)
  const server = await scene.server([], provider)
  for (const { cid } of all) await server.get(cid)
  await untilTested(provider, 4, 'verified')
  expect(testsOf(provider).outcomes).toEqual({ verified: outcomes(provider) })
  await until('the server is known', () => ownerAt(provider, server) !== undefined)
  expect(ownerAt(provider, server)).toMatchObject({ servers: 1, decision: { reason: 'score' } })
  expect(provider.stat().fetch.blocks).toBe(0)
})

it('[I5] who lets go of what it was given loses nothing, and gains nothing', async () => {
  const provider = await scene.waiting()
  for (const { cid, data } of all) await provider.put(cid, data)
  const server = await scene.server([], provider)
  for (const { cid } of all) await server.get(cid)
  for (const { cid } of all) await server.blockstore.delete(cid)
  await provider.register()
  await untilTested(provider, 4)
  expect(testsOf(provider).outcomes).toEqual({ unclaimed: 4 })
  await until('the server is known', () => ownerAt(provider, server) !== undefined)
  expect(ownerAt(provider, server)).toMatchObject({ servers: 0, tests: { sent: 0, received: 0 } })
})
