import { describe, expect, it } from 'vitest'
import { peerNamed, Scene } from './scene.ts'

function remembered(scene: Scene): string[] {
  return scene.core
    .scores(scene.nowMs)
    .map(({ peer }) => peer.slice('peer'.length))
    .sort()
}

describe('whom there is room for', () => {
  it('[C4] are those with the most that is known of them; of the same, those who left last', () => {
    const scene = new Scene({ limits: { recordsMax: 6 } })
    scene.connect('shut', 'much-1', 'much-2', 'little-1', 'little-2', 'none')
    scene.core.failedHard(peerNamed('shut'), scene.nowMs)
    for (const name of ['much-1', 'much-2']) scene.turns(name, 'success', 20)
    for (const name of ['little-1', 'little-2']) scene.turns(name, 'success', 3)
    scene.disconnect('shut', 'none', 'much-1', 'little-1', 'much-2', 'little-2')
    const order: string[] = []
    let before = remembered(scene)
    for (let next = 0; next < 5; next++) {
      // One that stays connected takes a place for good.
      scene.connect(`new-${next}`)
      const now = remembered(scene)
      order.push(...before.filter((name) => !now.includes(name)))
      before = now
    }
    expect(order).toEqual(['none', 'little-1', 'little-2', 'much-1', 'much-2'])
    expect(before).toEqual(['new-0', 'new-1', 'new-2', 'new-3', 'new-4', 'shut'])
  })

  it('are all who are connected', () => {
    const scene = new Scene({ limits: { recordsMax: 3 } })
    scene.connect(1, 2, 3, 4, 5)
    for (const name of [1, 2, 3, 4, 5]) scene.turns(name, 'success', 20)
    expect(remembered(scene)).toEqual(['1', '2', '3', '4', '5'])
    expect(scene.core.remember(scene.nowMs).peers.map(({ peer }) => peer)).toEqual(['peer3', 'peer4', 'peer5'])
    scene.disconnect(1, 2, 3)
    expect(remembered(scene)).toEqual(['3', '4', '5'])
  })

  it('are not only those who were shut out, however many there were', () => {
    const scene = new Scene({ limits: { recordsMax: 10 } })
    scene.connect('a', 'b', 'c', 'd', 'e')
    for (const name of ['a', 'b', 'c', 'd', 'e']) scene.turns(name, 'success', 20)
    scene.disconnect('a', 'b', 'c', 'd', 'e')
    for (let name = 0; name < 100; name++) {
      scene.connect(name)
      scene.core.failedHard(peerNamed(name), scene.nowMs)
      scene.disconnect(name)
    }
    expect(remembered(scene)).toEqual(['95', '96', '97', '98', '99', 'a', 'b', 'c', 'd', 'e'])
  })

  it('are filed anew when something is seen of them after they left', () => {
    const scene = new Scene({ limits: { recordsMax: 2 } })
    scene.connect('a', 'b')
    scene.disconnect('a', 'b')
    scene.turns('a', 'reset', 1)
    scene.connect('c')
    expect(remembered(scene)).toEqual(['a', 'c'])
  })

  it('keep a place in the order over a restart', () => {
    const scene = new Scene()
    scene.connect('little', 'much', 'shut')
    scene.core.failedHard(peerNamed('shut'), scene.nowMs)
    scene.turns('much', 'success', 20)
    scene.turns('little', 'success', 1)
    scene.disconnect('shut', 'much', 'little')
    const after = new Scene({ remembered: scene.core.remember(scene.nowMs), limits: { recordsMax: 2 } })
    expect(remembered(after)).toEqual(['much', 'shut'])
    expect(after.core.recalled).toEqual({ peers: 2, rejected: 0, problem: undefined })
  })
})
