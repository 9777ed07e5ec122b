import { expect, it } from 'vitest'
import { A, asks, at, queue, scene, want } from './scene.ts'

/** A is known to have the DAG and has delivered; ten more are wanted of it, asked at 1,000 ms. */
function asked(): ReturnType<typeof scene> {
  const c = scene({ peers: [A] })
  c.providerFound(0, A, 0)
  want(c, 0, 1)
  c.decide(0)
  c.receiveBlock(A, at(0).key, 2000, 20)
  want(c, 1, 11, 1000)
  expect(asks(c.decide(1000))).toHaveLength(10)
  return c
}

it('[B15] while our own reading is held back deadlines stand still, however long that takes', () => {
  const c = asked()
  c.holdReading(true, 1010)
  expect(c.wakeAtMs()).toBeUndefined()
  expect(c.tick(600_000)).toEqual([])
  expect(queue(c, A)).toMatchObject({ inFlight: 10, figures: { timeouts: 0 } })
  c.holdReading(false, 601_010)
  c.tick(601_011)
  expect(queue(c, A)).toMatchObject({ inFlight: 10, figures: { timeouts: 0 } })
  for (let i = 1; i < 11; i++) expect(c.receiveBlock(A, at(i).key, 2000, 601_020)).toMatchObject({ kind: 'wanted' })
  // Nor has the peer become slow by it: 20 ms, of which ten were before, ten after.
  expect(queue(c, A).latencyMs).toBeCloseTo(20)
})

it('[B15] what a peer does not send is held against it as soon as we read on', () => {
  const c = asked()
  c.holdReading(true, 1010)
  c.holdReading(false, 11_010)
  c.tick(30_000)
  expect(queue(c, A).figures.timeouts).toBeGreaterThan(0)
})

/** How long A, which is silent, has for a block that is asked for at 5,000 ms, from `fromMs` on. */
function patience(c: ReturnType<typeof scene>, fromMs: number): number {
  for (let ms = 0; ms < 60_000; ms += 10) {
    c.tick(fromMs + ms)
    if (queue(c, A).figures.timeouts > 0) return ms
  }
  return Number.POSITIVE_INFINITY
}

function silent(): ReturnType<typeof scene> {
  const c = scene({ peers: [A] })
  c.providerFound(0, A, 0)
  return c
}

it('[B15] what is asked meanwhile has its whole time afterwards', () => {
  const [held, other] = [silent(), silent()]
  held.holdReading(true, 0)
  for (const c of [held, other]) {
    want(c, 0, 1, 5000)
    c.decide(5000)
  }
  held.holdReading(false, 9000)
  const usual = patience(other, 5000)
  expect(usual).toBeLessThan(10_000)
  expect(patience(held, 9000)).toBe(usual)
})
