import { describe, expect, it } from 'vitest'
import { peerNamed, Scene } from './scene.ts'

/** Two that are vetted, one that never failed and one that just did; and one that is new. */
function vettedAndNew(): Scene {
  const scene = new Scene()
  scene.connect('best', 'fair', 'new')
  scene.turns('best', 'success', 100)
  scene.turns('fair', 'success', 99)
  scene.turns('fair', 'timeout')
  scene.pass()
  scene.score('best')
  return scene
}

describe('who is fit to be a backup', () => {
  it('[P5] is less likely to fail than the primary, by the same forecast', () => {
    const { core } = vettedAndNew()
    const sure = { presence: 1, quietMs: 0 }
    const [best, fair] = [core.failChance(peerNamed('best'), sure), core.failChance(peerNamed('fair'), sure)]
    expect(fair).toBeGreaterThan(best)
    expect(core.isFitForBackup(peerNamed('best'), fair)).toBe(true)
    expect(core.isFitForBackup(peerNamed('fair'), fair)).toBe(false)
    expect(core.isFitForBackup(peerNamed('fair'), fair + 0.01)).toBe(true)
    expect(core.isFitForBackup(peerNamed('fair'), best)).toBe(false)
  })

  it('[P5] is vetted where anybody is, and connected', () => {
    const scene = vettedAndNew()
    expect(scene.core.isFitForBackup(peerNamed('new'), 1)).toBe(false)
    expect(scene.core.isFitForBackup(peerNamed('never seen'), 1)).toBe(false)
    scene.disconnect('best')
    expect(scene.core.isFitForBackup(peerNamed('best'), 1)).toBe(false)
  })

  it('[P5] is not far behind the median of those vetted, however bad the primary is', () => {
    const scene = vettedAndNew()
    scene.turns('fair', 'timeout', 2)
    scene.pass()
    scene.score('best')
    expect(scene.isVetted('fair')).toBe(true)
    expect(scene.core.isFitForBackup(peerNamed('fair'), 1)).toBe(false)
  })
})
