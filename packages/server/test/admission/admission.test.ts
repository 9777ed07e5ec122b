import { AssertionError, InvalidParametersError } from '@shardswap/interface'
import { describe, expect, it } from 'vitest'
import { Admission, type SavedAdmission } from '../../src/admission/admission.ts'
import { defaultAdmissionLimits, defaultRegistryLimits, verifyAdmissionLimits } from '../../src/admission/limits.ts'
import { hourMs, keyOf, ownerOf, peerOf, Scene, serverOf } from './scene.ts'

const small = { openRequestsMax: 10, freeScoreRequests: 3 }
const fullTests = { received: 100 }

describe('who is admitted', () => {
  it('[I9][I10] Cap_max requests are open at most, and a request that ends makes room', () => {
    const scene = new Scene(small)
    scene.enter('good', { received: 1e6 })
    scene.fill('good', 10)
    expect(scene.ask('good')).toBe('wait: full')
    expect(scene.core.open).toBe(10)
    scene.end('good', 1)
    expect(scene.ask('good')).toBe('admit: score')
    expect(scene.core.counts()).toEqual(
      new Map([
        ['score', 11],
        ['full', 1]
      ])
    )
  })

  it('[I3][I10] who nobody stands behind has the free score, all such clients the same', () => {
    const scene = new Scene(small)
    for (const name of ['a', 'b', 'c', 'd']) expect(scene.ask(name)).toBe('admit: free')
    expect(scene.ask('e')).toBe('wait: low-free-score')
    expect(scene.ask('a')).toBe('wait: low-free-score')
    scene.enter('good', fullTests)
    expect(scene.ask('good')).toBe('admit: score')
    expect(scene.core.view(0).free).toMatchObject({ score: 3, open: 4, turnedAway: 2 })
  })

  it('[I11] as load grows, the clients of bad servers wait first', () => {
    const scene = new Scene({ openRequestsMax: 100, freeScoreRequests: 1 })
    for (const [name, received, lost] of [
      ['good', 95, 0],
      ['half', 45, 50],
      ['bad', 7, 88]
    ] as const)
      scene.enter(name, { received, lost })
    expect(['good', 'half', 'bad'].map((name) => scene.score(name))).toEqual([97.5, 47.5, 9.5])
    const turnedAwayAt = (name: string): number => {
      while (scene.core.judge(peerOf(name), 0).action === 'admit') scene.fill('good', 1)
      return scene.core.open
    }
    expect([turnedAwayAt('bad'), turnedAwayAt('half'), turnedAwayAt('good')]).toEqual([10, 48, 98])
  })

  it('[I12] score 0 waits even when nothing is open, is tested on, and comes back with one verified answer', () => {
    const scene = new Scene(small)
    scene.enter('silent', { received: 0, lost: 23 })
    expect(scene.ask('silent')).toBe('admit: score')
    scene.end('silent', 1)
    scene.test('silent', { lost: 1 })
    expect(scene.score('silent')).toBe(0)
    expect(scene.ask('silent')).toBe('wait: blacklisted')
    expect(scene.core.room(peerOf('silent'), 0)).toBe(0)
    scene.test('silent', { received: 1 })
    expect(scene.ask('silent')).toBe('admit: score')
  })

  it('[I2][I6][I7] an answer that is not verified is none, and a free rider is found out though it never refuses', () => {
    const scene = new Scene({ openRequestsMax: 100, freeScoreRequests: 1 })
    scene.enter('honest', { received: 96 })
    scene.enter('liar', { received: 1, lost: 95 })
    expect(scene.score('honest')).toBeGreaterThan(97)
    expect(scene.score('liar')).toBeLessThan(4)
  })

  it('[I1][I4] what an owner gives, its clients get: availability of the last day weighs as much as that of the month', () => {
    const scene = new Scene({ openRequestsMax: 100, freeScoreRequests: 1 })
    scene.enter('waning', { received: 95 })
    scene.nowMs = 25 * hourMs
    scene.test('waning', { received: 1, lost: 94 })
    // A_short (1 + 2.5) / 100, A_long (96 + 2.5) / 195.
    expect(scene.score('waning')).toBeCloseTo(((0.035 + 98.5 / 195) * 100) / 2, 9)
  })

  it('[I3] an owner that nobody has verified in 24 hours has the free score at most', () => {
    const scene = new Scene(small)
    scene.enter('new')
    scene.enter('good', fullTests)
    expect(scene.score('new')).toBe(3)
    expect(scene.score('good')).toBeGreaterThan(9)
    scene.nowMs = 25 * hourMs
    expect(scene.score('good')).toBe(3)
  })
})

describe('what happens to the others', () => {
  it('[I14] in the mode registered they are refused, with the same reasons', () => {
    const scene = new Scene(small, 'registered')
    scene.enter('good', fullTests)
    scene.enter('silent', { received: 0, lost: 24 })
    expect(scene.ask('stranger')).toBe('admit: free')
    scene.fill('good', 8)
    expect(scene.ask('stranger')).toBe('refuse: low-free-score')
    scene.fill('good', 1)
    expect(scene.ask('silent')).toBe('refuse: blacklisted')
    expect(scene.ask('good')).toBe('refuse: full')
  })

  it('[I14] with a free score of 0 only registered clients are served', () => {
    const scene = new Scene({ freeScoreRequests: 0 }, 'registered')
    scene.enter('good', fullTests)
    expect(scene.ask('stranger')).toBe('refuse: low-free-score')
    expect(scene.ask('good')).toBe('admit: score')
  })

  it('[I12] with a free score of 0 an owner that nobody has verified waits for that, and is not blacklisted', () => {
    const scene = new Scene({ freeScoreRequests: 0 })
    scene.enter('new')
    expect(scene.ask('new')).toBe('wait: low-free-score')
    scene.test('new', { lost: 24 })
    expect(scene.ask('new')).toBe('wait: blacklisted')
    scene.test('new', { received: 1 })
    expect(scene.ask('new')).toBe('admit: score')
  })

  it('[I14] in the mode off nobody is served', () => {
    const scene = new Scene({}, 'off')
    scene.enter('good', fullTests)
    expect([scene.ask('good'), scene.ask('stranger')]).toEqual(['refuse: off', 'refuse: off'])
    expect(scene.core.room(peerOf('good'), 0)).toBe(0)
  })

  it('[I14] what ends without being served is no request served', () => {
    const scene = new Scene()
    scene.enter('good', fullTests)
    scene.fill('good', 3)
    scene.end('good', 2, false)
    scene.end('good', 1)
    expect(scene.core.view(0)).toMatchObject({ served: 1, open: 0 })
    expect(() => scene.end('good', 1)).toThrow(AssertionError)
    expect(() => scene.end('stranger', 1)).toThrow(AssertionError)
  })
})

// Two owners, one of which takes all: its weight goes from 1 to 2.
function begun(): Scene {
  const scene = new Scene({ openRequestsMax: 100, freeScoreRequests: 1 })
  scene.enter('greedy', { received: 95 })
  scene.enter('other', { received: 95 })
  return scene
}

describe('when scores are taken anew', () => {
  it('[I14] not between', () => {
    const scene = begun()
    expect(scene.score('greedy')).toBe(97.5)
    scene.serve('greedy', 900)
    expect(scene.score('greedy')).toBe(97.5)
  })

  it('[I13][I14] after each check', () => {
    const scene = begun()
    scene.serve('greedy', 900)
    scene.test('other', { received: 1 })
    // (900 + 1) / (900 + 2) of the requests, half of the servers.
    expect(scene.score('greedy')).toBeCloseTo(97.5 / (901 / 451), 9)
    expect(scene.score('other')).toBeCloseTo(((96 + 2.5) / 101) * 1000, 9)
  })

  it('[I13][I14] after 1,000 requests, and after a minute', () => {
    const scene = begun()
    scene.serve('greedy', 999)
    expect(scene.score('greedy')).toBe(97.5)
    scene.serve('greedy', 1)
    const anew = scene.score('greedy')
    expect(anew).toBeLessThan(50)
    scene.serve('greedy', 999)
    expect(scene.score('greedy')).toBe(anew)
    const later = begun()
    later.serve('greedy', 900)
    later.nowMs = 59_999
    expect(later.score('greedy')).toBe(97.5)
    later.nowMs = 60_000
    expect(later.score('greedy')).toBeLessThan(50)
  })

  it('[I3][I13] after each change of the servers', () => {
    const scene = begun()
    const before = scene.score('greedy')
    scene.core.follow([{ type: 'server', server: serverOf('dead'), owner: ownerOf('greedy') }], 0)
    expect(scene.score('greedy')).toBe((before + 50) / 2)
  })

  it('[I13] what was taken is forgiven as it fades', () => {
    const scene = begun()
    scene.serve('greedy', 1000)
    scene.serve('other', 10)
    const scores = [0, 12, 22].map((hours) => {
      scene.nowMs = hours * hourMs
      scene.serve('other', 20)
      scene.nowMs += 60_000
      return scene.score('greedy')
    })
    expect([...scores].sort((one, other) => one - other)).toEqual(scores)
    expect(scores[2]).toBeGreaterThan(scores[0] ?? 0)
  })
})

describe('clients and owners', () => {
  it('[I3] peers that share a client key, and all keys of an owner, share its weight', () => {
    const scene = new Scene({ openRequestsMax: 100, freeScoreRequests: 1 })
    scene.enter('good', { received: 95 })
    scene.core.identified(peerOf('phone'), keyOf('good'), ownerOf('good'), 0)
    scene.core.identified(peerOf('app'), keyOf('app'), ownerOf('good'), 0)
    for (const name of ['good', 'phone', 'app']) scene.serve(name, 2)
    scene.fill('app', 4)
    expect(scene.core.view(0).owners).toMatchObject([{ owner: ownerOf('good'), peers: 3, served: 6, open: 4, registered: 1, servers: 1 }])
  })

  it('[I3][I16] a key that is revoked is nobody’s at once, on every connection; one that moves belongs to its new owner', () => {
    const scene = new Scene(small)
    scene.enter('good', fullTests)
    scene.core.identified(peerOf('phone'), keyOf('good'), ownerOf('good'), 0)
    scene.fill('phone', 2)
    scene.core.follow([{ type: 'bound', client: keyOf('good'), server: serverOf('b'), owner: ownerOf('b') }], 0)
    expect(scene.core.view(0).owners).toMatchObject([
      { peers: 0, open: 0 },
      { owner: ownerOf('b'), peers: 2, open: 2 }
    ])
    scene.core.follow([{ type: 'unbound', client: keyOf('good') }], 0)
    expect(scene.core.view(0)).toMatchObject({ open: 2, free: { open: 2 }, owners: [{ peers: 0 }, { peers: 0, open: 0 }] })
    expect(scene.ask('good')).toBe('admit: free')
  })

  it('[I3] who leaves is forgotten with its last request; what its owner was served is not', () => {
    const scene = new Scene()
    scene.enter('good', fullTests)
    scene.serve('good', 5)
    scene.fill('good', 1)
    scene.fill('stranger', 1)
    scene.core.left(peerOf('good'))
    scene.core.left(peerOf('nobody'))
    expect(scene.core.gauges()).toMatchObject({ open: 2, clients: 2, bound: 0, keys: 0 })
    scene.end('good', 1)
    scene.end('stranger', 1)
    expect(scene.core.gauges()).toEqual({ open: 0, clients: 0, bound: 0, keys: 0, owners: 1, servers: 1 })
    expect(scene.core.view(0).owners).toMatchObject([{ served: 5, peers: 0 }])
  })

  it('[I16] bound clients are bounded: one more has the free score', () => {
    const scene = new Scene({ boundClientsMax: 2 })
    scene.enter('a', fullTests)
    expect(scene.core.identified(peerOf('b'), keyOf('b'), ownerOf('b'), 0)).toBe(true)
    expect(scene.core.identified(peerOf('c'), keyOf('c'), ownerOf('c'), 0)).toBe(false)
    expect(scene.ask('c')).toBe('admit: free')
    // Who is known may show another binding.
    expect(scene.core.identified(peerOf('b'), keyOf('b2'), ownerOf('a'), 0)).toBe(true)
    scene.core.left(peerOf('b'))
    expect(scene.core.identified(peerOf('c'), keyOf('c'), ownerOf('c'), 0)).toBe(true)
  })

  it('[I13][I16] owners are bounded, and a flood of them clears nobody’s weight', () => {
    const scene = new Scene({ ownersMax: 8 })
    scene.enter('hog', fullTests)
    scene.serve('hog', 500)
    scene.core.left(peerOf('hog'))
    for (let at = 0; at < 1000; at++) {
      expect(scene.core.identified(peerOf(at), keyOf(at), ownerOf(at), 0)).toBe(true)
      scene.core.left(peerOf(at))
    }
    expect(scene.core.gauges()).toMatchObject({ owners: 8, clients: 0 })
    expect(scene.core.view(0).owners.find(({ owner }) => owner === ownerOf('hog'))?.served).toBe(500)
    for (let at = 0; at < 7; at++) scene.core.identified(peerOf(at), keyOf(at), ownerOf(at), 0)
    scene.core.identified(peerOf('hog'), keyOf('hog'), ownerOf('hog'), 0)
    // All are here now, so nobody makes room: who moves to another owner has the free score.
    expect(scene.core.identified(peerOf('hog'), keyOf('late'), ownerOf('late'), 0)).toBe(false)
    expect(scene.ask('hog')).toBe('admit: free')
  })
})

it('[I16] every server that can be registered has room for its tests', () => {
  expect(defaultAdmissionLimits.serversMax).toBeGreaterThan(defaultRegistryLimits.bindingsMax)
})

it('limits that contradict themselves are rejected, overrides kept', () => {
  expect(verifyAdmissionLimits()).toEqual(defaultAdmissionLimits)
  expect(verifyAdmissionLimits({ freeScoreRequests: 0 }).freeScoreRequests).toBe(0)
  for (const wrong of [
    { openRequestsMax: 0 },
    { openRequestsMax: 2.5 },
    { openRequestsMax: 10 },
    { weightMin: 0 },
    { weightMin: 2 },
    { availabilityPrior: 1.1 },
    { priorTests: 0 },
    { refreshMs: Number.NaN },
    { servedWindowMs: -1 }
  ]) {
    expect(() => verifyAdmissionLimits(wrong)).toThrow(InvalidParametersError)
  }
})

describe('a restart', () => {
  it('[I5][I13] forgets neither what servers answered nor what owners were served, faded by the time that it took', () => {
    const scene = new Scene(small)
    scene.enter('hog', { received: 20 })
    scene.enter('other', { received: 20 })
    for (let request = 0; request < 40; request++) {
      expect(scene.ask('hog')).toBe('admit: score')
      scene.end('hog', 1)
    }
    const saved = JSON.parse(JSON.stringify(scene.core.saved(0))) as SavedAdmission
    expect(saved.owners).toEqual([[ownerOf('hog'), 40]])
    const core = new Admission({ mode: 'open', limits: verifyAdmissionLimits(small), wallMs: 0, nowMs: 5, saved, pausedMs: 0 })
    for (const name of ['hog', 'other']) {
      core.follow([{ type: 'server', server: serverOf(name), owner: ownerOf(name) }], 5)
      core.identified(peerOf(name), keyOf(name), ownerOf(name), 5)
    }
    expect(core.judge(peerOf('hog'), 5)).toEqual({ action: 'admit', reason: 'score' })
    const after = core.view(5)
    expect(after.served).toBeCloseTo(40, 3)
    // (40 + 1) / (40 + 2) of the requests, as smoothed, for one server of two.
    const hog = after.owners.find(({ owner }) => owner === ownerOf('hog'))
    expect(hog?.weight).toBeCloseTo(1.952, 3)
    expect(hog?.score).toBeCloseTo((0.9 * 10) / 1.952, 2)
    const dayLater = new Admission({
      mode: 'open',
      limits: verifyAdmissionLimits(small),
      wallMs: 0,
      nowMs: 5,
      saved,
      pausedMs: 24 * hourMs
    })
    expect(dayLater.view(5).served).toBeCloseTo(40 / Math.E, 3)
  })

  it('takes back no sum that cannot be', () => {
    const saved = {
      servers: [],
      owners: [
        [ownerOf('a'), Number.NaN],
        [ownerOf('b'), -1],
        [ownerOf('c'), 2]
      ] as const,
      served: Number.POSITIVE_INFINITY
    }
    const core = new Admission({ mode: 'open', limits: verifyAdmissionLimits(small), wallMs: 0, nowMs: 0, saved })
    expect(core.view(0)).toMatchObject({ served: 0, owners: [{ owner: ownerOf('c'), served: 2 }] })
  })
})
