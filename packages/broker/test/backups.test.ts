import { peerKey } from '@shardswap/interface'
import type { ReliabilityCore } from '@shardswap/reliability'
import { describe, expect, it } from 'vitest'
import type { Broker, Command } from '../src/index.ts'
import { A, asks, at, B, cancels, judge, lines, queue, scene, want } from './scene.ts'

const bytes = 1000

/** Want-blocks of these commands: where it is not sure that a peer has it, want-haves are bought beside. */
function blocks(commands: readonly Command[]): string[] {
  return asks(commands).filter((line) => line.startsWith('block'))
}

interface Scene {
  readonly broker: Broker
  readonly told: string[]
  readonly deliver: (i: number, peer: typeof A, nowMs: number) => string
}

/** A and B are known to have the DAG, each through a block of its own; time is 100. */
function known(says: Partial<ReliabilityCore> = {}, peers = [A, B], backups = true): Scene {
  const layer = judge(says)
  // No deadline comes in the way of what is late.
  const broker = scene({ peers: [], reliability: layer, backups, limits: { timeoutMinMs: 5000 } })
  peers.forEach((peer, i) => {
    broker.connectPeer(peer, true, 0)
    want(broker, 900 + i, 901 + i)
    broker.decide(0)
    broker.receivePresence(peer, at(900 + i).key, 'have', 10)
    broker.decide(10)
    broker.receiveBlock(peer, at(900 + i).key, bytes, 20)
    broker.decide(20)
  })
  layer.told.length = 0
  const deliver = (i: number, peer: typeof A, nowMs: number): string => broker.receiveBlock(peer, at(i).key, bytes, nowMs).kind
  return { broker, told: layer.told, deliver }
}

/** One want, in flight at a primary and its backup. */
function backedUp(says: Partial<ReliabilityCore> = {}): Scene & { readonly first: typeof A; readonly second: typeof A } {
  const made = known({ failChance: () => 0.9, takeBackup: (reason) => reason === 'proactive', ...says })
  want(made.broker, 1, 2, 100)
  const sent = blocks(made.broker.decide(100))
  const [first, second] = sent.map((line) => peerKey(line.split(' ')[2] as string)) as [typeof A, typeof A]
  expect(sent).toEqual([`block 1 ${first}`, `block 1 ${second}`])
  expect(made.told).toEqual([`asked primary 1 ${first}`, `asked backup 1 ${second}`])
  made.told.length = 0
  return { ...made, first, second }
}

describe('backups', () => {
  it('[C5] [P5] asks a second peer at once where failure is likely and the budget lets', () => {
    const { broker, first, second } = backedUp()
    expect(new Set([first, second])).toEqual(new Set([A, B]))
    expect([queue(broker, first).inFlight, queue(broker, first).backups]).toEqual([1, 0])
    expect([queue(broker, second).inFlight, queue(broker, second).backups]).toEqual([0, 1])
    expect(broker.total.backupsSent).toBe(1)
  })

  it('[C5] asks nobody else without a token, nor where backups are off', () => {
    for (const { broker } of [known({ failChance: () => 0.9 }), known({ failChance: () => 0.9, takeBackup: () => true }, [A, B], false)]) {
      want(broker, 1, 2, 100)
      expect(blocks(broker.decide(100))).toHaveLength(1)
    }
  })

  it('[C5] backs nothing up at once because a peer may lack the block: want-haves find out', () => {
    const risks: number[] = []
    const { broker } = known({
      // As the layer has it: the peer fails one time in ten, and else where it does not have the block.
      failChance: (_peer, { presence }) => 1 - 0.9 * presence,
      takeBackup: (_reason, failChance) => risks.push(failChance) < 0
    })
    for (const peer of [A, B]) broker.receivePresence(peer, at(900).key, 'dont-have', 90)
    want(broker, 1, 9, 100)
    broker.decide(100)
    expect(risks.length).toBeGreaterThan(0)
    for (const risk of risks) expect(risk).toBeCloseTo(0.1)
  })

  it('[P5] asks one at once only who is likelier to deliver than the primary', () => {
    const asked: [string, number][] = []
    const { broker } = known({
      failChance: () => 0.3,
      takeBackup: (reason) => reason === 'proactive',
      isFitForBackup: (peer, failChance) => asked.push([peer, failChance]) < 0
    })
    want(broker, 1, 2, 100)
    expect(blocks(broker.decide(100))).toHaveLength(1)
    expect(asked.length).toBeGreaterThan(0)
    for (const [, failChance] of asked) expect(failChance).toBe(0.3)
  })

  it('[P5] takes what is late for as likely to fail as not, however good its peer is', () => {
    const asked: number[] = []
    const { broker } = known({
      failChance: () => 0.01,
      lateAfterMs: () => 25,
      takeBackup: (reason) => reason !== 'proactive',
      isFitForBackup: (_peer, failChance) => asked.push(failChance) < 0
    })
    want(broker, 1, 20, 100)
    broker.decide(100)
    broker.tick(126)
    expect(asked.length).toBeGreaterThan(0)
    for (const failChance of asked) expect(failChance).toBe(0.5)
  })

  it('[C5] gives the token back where nobody is fit to be asked', () => {
    let tokens = 3
    const { broker } = known({
      takeBackup: (reason) => reason === 'proactive' && tokens-- > 0,
      returnBackup: () => void tokens++,
      isFitForBackup: () => false
    })
    want(broker, 1, 2, 100)
    expect(blocks(broker.decide(100))).toHaveLength(1)
    expect(tokens).toBe(3)
  })

  it('[P6] cancels the backup, and not the primary, when the primary comes first', () => {
    const { broker, told, deliver, first, second } = backedUp()
    expect(deliver(1, first, 150)).toBe('wanted')
    expect(cancels(broker.decide(150))).toEqual([`cancel 1 ${second}`])
    expect(told).toEqual([`success primary 1 ${first}`, `withdrawn backup 1 ${second}`, 'ended 1'])
  })

  it('[P6] lets the primary have its time when the backup comes first, and its credit when it uses it', () => {
    const { broker, told, deliver, first, second } = backedUp()
    expect(deliver(1, second, 150)).toBe('wanted')
    expect(cancels(broker.decide(150))).toEqual([])
    expect(told).toEqual([`success backup 1 ${second}`, 'ended 1'])
    expect([broker.gauges().wants, broker.gauges().inFlight]).toEqual([0, 1])
    expect(deliver(1, first, 180)).toBe('duplicate')
    expect(lines(broker.decide(180))).toEqual([])
    expect(told.slice(2)).toEqual([`success primary 1 ${first}`, 'ended 1'])
    expect([broker.total.duplicateBlocks, broker.gauges().inFlight]).toEqual([1, 0])
    // A third copy is one that nobody asked for again.
    expect(deliver(1, first, 190)).toBe('duplicate')
  })

  it('[P6] cancels a primary that did not use its time, and counts that against it', () => {
    const { broker, told, deliver, first, second } = backedUp()
    deliver(1, second, 150)
    expect(cancels(broker.tick(100_000))).toEqual([`cancel 1 ${first}`])
    expect(told.slice(2)).toEqual([`timeout primary 1 ${first}`, 'ended 1'])
    expect(broker.gauges().records).toBe(broker.session(0)?.knownPeers)
  })

  it('[P6] ends that time with the connection and with DONT_HAVE', () => {
    const ends: readonly [string, (made: Scene & { first: typeof A }) => void][] = [
      ['reset', ({ broker, first }) => broker.disconnectPeer(first, 200)],
      ['denied', ({ broker, first }) => broker.receivePresence(first, at(1).key, 'dont-have', 200)]
    ]
    for (const [outcome, end] of ends) {
      const made = backedUp()
      made.deliver(1, made.second, 150)
      made.broker.decide(150)
      end(made)
      made.broker.decide(200)
      expect(made.told.slice(2)).toEqual([`${outcome} primary 1 ${made.first}`, 'ended 1'])
      expect([made.broker.gauges().inFlight, made.broker.gauges().wants]).toEqual([0, 0])
    }
  })

  it('[P6] leaves the primary its time when the session ends, and with it nothing but that', () => {
    const ends: readonly [string, (made: Scene & { first: typeof A }) => void][] = [
      ['success', ({ deliver, first }) => expect(deliver(1, first, 210)).toBe('duplicate')],
      ['timeout', ({ broker }) => broker.tick(100_000)],
      // That it leaves after all is over is nothing against it.
      ['withdrawn', ({ broker, first }) => broker.disconnectPeer(first, 210)]
    ]
    for (const [outcome, end] of ends) {
      const made = backedUp()
      const { broker, first, second, told, deliver } = made
      deliver(1, second, 150)
      broker.closeSession(0, 200)
      expect(cancels(broker.decide(200))).toEqual([])
      expect([broker.gauges().sessions, broker.gauges().wants, broker.gauges().inFlight]).toEqual([0, 0, 1])
      end(made)
      broker.tick(200_000)
      expect(told.slice(2)).toEqual([`${outcome} primary 1 ${first}`, 'ended 1'])
      const { sessions, wants, inFlight, inFlightBytes, records } = broker.gauges()
      expect({ sessions, wants, inFlight, inFlightBytes, records }).toEqual({
        sessions: 0,
        wants: 0,
        inFlight: 0,
        inFlightBytes: 0,
        records: 0
      })
      expect(broker.wakeAtMs()).toBeUndefined()
    }
  })

  it('[B19] attaches a new want to a primary that has time left', () => {
    const { broker, deliver, first, second } = backedUp()
    deliver(1, second, 150)
    broker.openSession(5, {}, 160)
    want(broker, 1, 2, 160, 5)
    expect(asks(broker.decide(160))).toEqual([])
    expect([broker.session(0)?.inFlight, broker.session(5)?.inFlight]).toEqual([0, 1])
    expect(deliver(1, first, 170)).toBe('wanted')
    expect(broker.session(5)).toMatchObject({ wants: 0, inFlight: 0 })
  })

  it('[P7] leaves what sessions know of a peer, and the space of its turns, as they were', () => {
    const { broker, deliver, second } = backedUp()
    expect(broker.session(0)?.inFlight).toBe(1)
    const before = queue(broker, second)
    deliver(1, second, 150)
    const after = queue(broker, second)
    expect([before.inFlight, before.inFlightBytes, after.inFlight, after.inFlightBytes]).toEqual([0, 0, 0, 0])
  })

  it('asks anew when both have had their time', () => {
    const { broker, told, first, second } = backedUp()
    const commands = broker.tick(100_000)
    expect(told.filter((line) => line.startsWith('timeout')).sort()).toEqual(
      [`timeout primary 1 ${first}`, `timeout backup 1 ${second}`].sort()
    )
    expect(cancels(commands).sort()).toEqual([`cancel 1 ${first}`, `cancel 1 ${second}`].sort())
    expect(broker.gauges()).toMatchObject({ wants: 1, inFlight: 0, backups: 0 })
    broker.tick(101_000)
    expect(broker.gauges().inFlight).toBe(1)
  })

  it('[C5] asks a second peer when the first is late, once', () => {
    const { broker, told } = known({ lateAfterMs: () => 25, takeBackup: (reason) => reason === 'late' })
    want(broker, 1, 20, 100)
    expect(asks(broker.decide(100)).length).toBeGreaterThan(8)
    told.length = 0
    expect(asks(broker.tick(124))).toEqual([])
    broker.tick(126)
    const backups = told.filter((line) => line.startsWith('asked backup'))
    expect(new Set(backups).size).toBe(backups.length)
    expect(backups.length).toBe(broker.total.backupsSent)
    expect(backups.length).toBeGreaterThan(0)
    broker.tick(140)
    expect(broker.total.backupsSent).toBe(backups.length)
  })

  it('[C5] takes nothing for late that waits behind bytes that still arrive, unless it was passed over', () => {
    const { broker, deliver } = known({ lateAfterMs: () => 25, takeBackup: (reason) => reason === 'late' }, [A, B])
    want(broker, 1, 20, 100)
    const sent = blocks(broker.decide(100)).filter((line) => line.endsWith('A'))
    const [first = -1, second = -1] = sent.map((line) => Number(line.split(' ')[1]))
    // Both deliver all the time, so nothing is late, however long ago it was asked.
    for (let nowMs = 110; nowMs <= 200; nowMs += 10) {
      for (const peer of [A, B]) broker.receiveBytes(peer, 100, nowMs)
      broker.tick(nowMs)
    }
    expect(broker.total.backupsSent).toBe(0)
    deliver(second, A, 205)
    for (const peer of [A, B]) broker.receiveBytes(peer, 100, 220)
    broker.tick(226)
    expect(broker.total.backupsSent).toBe(1)
    expect(broker.standingAt(B).some(({ key }) => key === at(first).key)).toBe(true)
  })

  it('[C5] bears with a pause of 200 ms where much is on its way', () => {
    const { broker } = known({ lateAfterMs: () => 25, takeBackup: (reason) => reason !== 'proactive' }, [A, B])
    want(broker, 1, 9, 100)
    broker.decide(100)
    const most = Math.max(...broker.queues().map(({ inFlightBytes }) => inFlightBytes))
    expect(most).toBeLessThan(256 * 1024)
    broker.tick(126)
    expect(broker.total.backupsSent).toBeGreaterThan(0)
    const large = known({ lateAfterMs: () => 25, takeBackup: (reason) => reason !== 'proactive' }, [A, B]).broker
    large.openSession(7, {}, 90)
    for (const peer of [A, B]) large.providerFound(7, peer, 90)
    // Nothing is known of the sizes of this session's blocks: each is taken for 256 KiB.
    want(large, 1, 3, 100, 7)
    large.decide(100)
    large.tick(126)
    large.tick(299)
    expect(large.total.backupsSent).toBe(0)
    large.tick(301)
    expect(large.total.backupsSent).toBeGreaterThan(0)
  })

  it('[C5] holds silence against nobody where our own process was busy', () => {
    const { broker } = known({ lateAfterMs: () => 25, takeBackup: (reason) => reason === 'late' }, [A, B])
    want(broker, 1, 20, 100)
    broker.decide(100)
    broker.tick(124)
    expect(broker.wakeAtMs()).toBe(125)
    // Woken much too late: what came meanwhile is read first.
    broker.tick(400)
    expect(broker.total.backupsSent).toBe(0)
    broker.wakeAtMs()
    broker.tick(426)
    expect(broker.total.backupsSent).toBeGreaterThan(0)
  })

  it('[C5] [P5] backs nothing up at once for a silence in which our own process was busy', () => {
    const risks: number[] = []
    const { broker } = known({
      failChance: (_peer, { presence, quietMs }) => (quietMs > 0 ? 0.9 : 1 - 0.9 * presence),
      lateAfterMs: () => 25,
      takeBackup: (reason, failChance) => reason === 'proactive' && risks.push(failChance) < 0
    })
    want(broker, 1, 9, 100)
    // Neither has all of the blocks.
    for (const line of blocks(broker.decide(100)).slice(0, 4)) {
      const [, i, peer] = line.split(' ') as [string, string, string]
      broker.receivePresence(peerKey(peer), at(Number(i)).key, 'dont-have', 110)
    }
    broker.decide(110)
    broker.wakeAtMs()
    broker.tick(400)
    risks.length = 0
    want(broker, 11, 19, 400)
    broker.decide(400)
    expect(risks.length).toBeGreaterThan(0)
    for (const risk of risks) expect(risk).toBeCloseTo(0.1)
  })

  it('[C5] is in more of a hurry when the fetch is at its end', () => {
    const { broker } = known({
      lateAfterMs: (_peer, _bytes, reason) => (reason === 'late' ? 40 : 15),
      takeBackup: (reason) => reason === 'endgame'
    })
    want(broker, 1, 2, 100)
    broker.decide(100)
    expect(broker.total.backupsSent).toBe(0)
    broker.tick(116)
    expect(broker.total.backupsSent).toBe(1)
  })
})

describe('a peer that says HAVE to what it is asked for, and sends it', () => {
  it('is a provider from then on', () => {
    const broker = scene({ peers: [A] })
    want(broker, 900, 901)
    broker.decide(0)
    broker.receivePresence(A, at(900).key, 'have', 10)
    broker.receiveBlock(A, at(900).key, bytes, 20)
    broker.connectPeer(B, true, 30)
    want(broker, 1, 2, 30)
    expect(asks(broker.decide(30))).toContain('block 1 A')
  })
})

describe('outcomes, as the reliability layer is told of them', () => {
  const outcomes: readonly [outcome: string, happen: (broker: Broker) => void][] = [
    ['success', (broker) => broker.receiveBlock(A, at(1).key, bytes, 150)],
    ['timeout', (broker) => broker.tick(100_000)],
    [
      'silence',
      (broker) => {
        broker.receivePresence(A, at(1).key, 'have', 110)
        broker.tick(100_000)
      }
    ],
    [
      'broken-have',
      (broker) => {
        broker.receivePresence(A, at(1).key, 'have', 110)
        broker.receivePresence(A, at(1).key, 'dont-have', 120)
      }
    ],
    ['denied', (broker) => broker.receivePresence(A, at(1).key, 'dont-have', 120)],
    ['reset', (broker) => broker.disconnectPeer(A, 120)],
    ['withdrawn', (broker) => broker.dropWant(0, at(1).key, 120)],
    ['withdrawn', (broker) => broker.putBlock(at(1).key, 120)],
    ['withdrawn', (broker) => broker.closeSession(0, 120)]
  ]

  it.each(outcomes)('[P8] tells %s once', (outcome, happen) => {
    const { broker, told } = known({}, [A])
    want(broker, 1, 2, 100)
    broker.decide(100)
    happen(broker)
    expect(told.filter((line) => !line.startsWith('ended'))).toEqual(['asked primary 1 A', `${outcome} primary 1 A`])
  })

  it('tells of blocks that nobody asked for, once too often, as a hard failure', () => {
    const { broker, told } = known({}, [A, B])
    for (let i = 0; i < 3; i++) broker.receiveBlock(A, at(500 + i).key, bytes, 100)
    expect(told).toEqual(['failed hard A'])
  })

  it('[C4] lets a peer that is shut out wait, from the moment it connects', () => {
    const layer = judge({ standing: () => ({ score: 0, weight: 1, isVetted: false, shutOutUntilMs: 5000 }) })
    const broker = scene({ reliability: layer })
    broker.connectPeer(A, true, 0)
    want(broker, 1, 2, 10)
    expect(asks(broker.decide(10))).toEqual([])
    expect(asks(broker.tick(5100))).toEqual(['block 1 A'])
  })
})
