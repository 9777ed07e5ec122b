import { describe, expect, it } from 'vitest'
import type { Broker } from '../src/index.ts'
import { A, asks, at, B, scene, want } from './scene.ts'

/** Lets a minute go by in which A is silent. Returns how often B was asked for anything. */
function asksOfB(broker: Broker): number {
  let asked = 0
  for (let nowMs = 50; nowMs < 60_000; nowMs += 50) asked += asks(broker.tick(nowMs)).filter((line) => line.endsWith(' B')).length
  return asked
}

// Who answers within the same millisecond rests for none, so that the want always has somebody to go to.
describe('a want whose one provider was quick and is silent now', () => {
  it('[F01] is offered to others although the newest want is over', () => {
    const broker = scene({ peers: [A, B] })
    want(broker, 0, 1)
    broker.decide(0)
    broker.receiveBlock(A, at(0).key, 300_000, 0)
    want(broker, 1, 3)
    broker.decide(0)
    broker.putBlock(at(2).key, 0)
    expect(asksOfB(broker)).toBeGreaterThan(0)
  })

  it('[F01] is offered to one that was asked before and had no time to answer', () => {
    const broker = scene({ peers: [B] })
    want(broker, 0, 1)
    expect(asks(broker.decide(0))).toEqual(['block 0 B'])
    broker.putBlock(at(0).key, 0)
    broker.connectPeer(A, true, 0)
    broker.providerFound(0, A, 0)
    want(broker, 1, 3)
    broker.decide(0)
    broker.receiveBlock(A, at(2).key, 300_000, 0)
    want(broker, 3, 4)
    broker.decide(0)
    expect(asksOfB(broker)).toBeGreaterThan(0)
  })
})
