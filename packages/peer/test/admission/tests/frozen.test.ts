import { afterEach, expect, it } from 'vitest'
import { until } from '../../support.ts'
import { blocks } from '../../wire/cast.ts'
import { PeerChild } from '../../wire/peer-child.ts'
import { outcomes, TestScene, untilTested } from './scene.ts'

let scene = new TestScene()
let server: PeerChild | undefined

afterEach(async () => {
  server?.signal('SIGCONT')
  await Promise.all([scene.stop(), server?.stop()])
  scene = new TestScene()
})

it('[I5] a server that stands still fails its tests, and they are over with the node', async () => {
  const tester = await scene.waiting({ visitTimeoutMs: 500 })
  // As long as it is there we are not the ones that are cut off.
  await scene.server([], tester)
  server = await PeerChild.start()
  await server.tell({ type: 'put', seed: 0, size: 2000, count: 4 }, 'done')
  await server.tell({ type: 'register' }, 'done')
  await tester.connect(server.address)
  await until('its binding is known', () => tester.admission().registry.servers >= 2)
  await tester.register()
  for (const { cid } of blocks(4)) await tester.get(cid)
  await untilTested(tester, 2, 'verified')
  server.signal('SIGSTOP')
  const before = outcomes(tester, 'verified')
  await until('tests fail', () => outcomes(tester) - outcomes(tester, 'verified') >= 3, 30_000)
  // A visit may have been half over.
  expect(outcomes(tester, 'verified')).toBeLessThanOrEqual(before + 3)
  await until('a visit goes on', () => tester.gauges().tests > 0)
  await tester.stop()
  expect(tester.gauges().tests).toBe(0)
})
