import { describe, expect, it } from 'vitest'
import { Drive, nothing, numbers } from './drive.ts'

describe('a policy that is a choice and nothing else', () => {
  it('asks all for the first want by want-have, and whoever has it for the rest', () => {
    const drive = new Drive('round-robin').connect('ABC').open().want('x y z')
    expect(drive.lines).toEqual(['0 A: have x', '0 B: have x', '0 C: have x'])
    drive.until(20).says('A: have x').says('B: dont-have x')
    expect(drive.lines).toEqual(['20 A: block x, block y, block z'])
    drive.says('C: have x').until(30).want('u v w')
    expect(drive.lines).toEqual(['30 C: block u, block w', '30 A: block v'])
    drive.until(40).says('A: block x y z v').says('C: block u w')
    // B keeps a want that it said DONT_HAVE to, so it is told that it is over; C answered its want-have.
    expect(drive.lines).toEqual(['40 B: cancel x'])
    expect(drive.close().gauges).toEqual({ peers: 3, ...nothing })
    expect(drive.core.wakeAtMs()).toBeUndefined()
  })

  it('asks peers that know no want-haves by want-block', () => {
    const drive = new Drive('round-robin').connect('AB', false).open().want('x y')
    expect(drive.lines).toEqual(['0 A: block x', '0 B: block x'])
    drive.until(20)
    expect(drive.hears('A: block x')).toEqual([expect.objectContaining({ kind: 'wanted', sessions: [1] })])
    expect(drive.hears('B: block x')).toEqual([{ kind: 'duplicate', isAgain: false }])
    expect(drive.hears('B: block x')).toEqual([{ kind: 'duplicate', isAgain: true }])
    expect(drive.hears('B: block q')).toEqual([{ kind: 'unasked', shutOut: false }])
    expect(drive.decide().lines).toEqual(['20 B: cancel x', '20 A: block y'])
    expect(drive.core.total).toMatchObject({
      blocks: 1,
      bytes: 1000,
      duplicateBlocks: 2,
      duplicateBytes: 2000,
      unaskedBlocks: 1,
      wantBlocksSent: 3
    })
  })

  it('goes to the next after a DONT_HAVE, then asks everybody, then routing, and again five seconds later', () => {
    const drive = new Drive('round-robin').connect('ABC').open().want('x')
    drive.until(10).says('A: have x').says('B: have x').says('C: dont-have x').says('A: block x')
    // B said HAVE, so nothing of x stands there any more.
    expect(drive.lines.slice(3)).toEqual(['10 A: block x', '10 C: cancel x'])
    drive.want('y').until(20).says('B: dont-have y').until(30).says('A: dont-have y')
    expect(drive.lines).toEqual(['10 B: block y', '20 A: block y', '30 C: have y'])
    drive.until(40).says('C: dont-have y')
    expect(drive.lines).toEqual(['40 find y'])
    // All is forgotten that was said, and the providers are asked one by one.
    expect(drive.until(5041).lines).toEqual(['5040 B: block y', '5040 A: cancel y', '5040 C: cancel y'])
  })

  it('waits five seconds for a block by its own deadlines, cancels there and goes to the next', () => {
    const drive = new Drive('round-robin').connect('AB').open().want('x').until(20).says('A: have x').says('B: have x')
    expect(drive.lines).toEqual(['0 A: have x', '0 B: have x', '20 A: block x'])
    drive.until(5020)
    expect(drive.lines).toEqual(['5020 A times out on x', '5020 A: cancel x', '5020 B: block x'])
    expect(drive.hears('A: block x')).toEqual([expect.objectContaining({ kind: 'wanted' })])
    expect(drive.decide().lines).toEqual(['5020 B: cancel x'])
  })

  it('waits by ours: latency and four times its variation, and while 16 KiB/s arrive', () => {
    const drive = new Drive('round-robin', { deadlines: 'ours' })
      .connect('AB')
      .open()
      .want('x')
      .until(20)
      .says('A: have x')
      .says('B: have x')
    // One answer took 20 ms: 20 + 4 × 10; and 256 KiB at 512 KiB/s.
    expect(drive.until(580).lines.slice(3)).toEqual(['580 A times out on x', '580 A: cancel x', '580 B: block x'])
    drive.until(1000).bytes('B', 100_000).until(1100).bytes('B', 100_000)
    // It is looked at every 50 ms from 1,140 on, until nothing has come for a second.
    expect(drive.until(2139).lines).toEqual([])
    // Then both have had their time, so it looks for others and takes another round.
    expect(drive.until(2141).lines).toEqual(['2140 B times out on x', '2140 find x', '2140 B: cancel x', '2141 A: block x'])
  })

  it('gives a want up after a minute without progress', () => {
    const drive = new Drive('uniform').connect('A').open().want('x').until(20).says('A: dont-have x')
    expect(drive.until(59_999).lines.filter((line) => line.includes('give up'))).toEqual([])
    expect(drive.until(60_000).lines.filter((line) => line.includes('give up'))).toEqual(['60000 give up x'])
    drive.drop('x').close()
    expect(drive.gauges).toEqual({ peers: 1, ...nothing })
  })

  it('asks only the fixed peers of a session, at once, and looks for no others', () => {
    const drive = new Drive('uniform').connect('ABC').open(1, 'B').want('x')
    expect(drive.lines).toEqual(['0 B: block x'])
    expect(drive.until(20).says('B: dont-have x').lines).toEqual([])
  })

  it('matches wants of before a disconnect anew, and asks one that comes later', () => {
    const drive = new Drive('uniform').connect('A').open().want('x').until(20).says('A: have x')
    expect(drive.disconnect('A').lines).toEqual(['0 A: have x', '20 A: block x', '20 find x'])
    expect(drive.gauges).toMatchObject({ inFlight: 0, haves: 0, wants: 1 })
    expect(drive.until(30).connect('B').lines).toEqual(['30 B: have x'])
  })

  it('holds no more than 32 want-blocks at a peer', () => {
    const blocks = Array.from({ length: 40 }, (_, index) => `b${index}`)
    const drive = new Drive('uniform').connect('A').open().want(blocks.join(' ')).until(20).says('A: have b0')
    expect(drive.gauges).toMatchObject({ inFlight: 32, wants: 40 })
    drive.until(30).says(`A: block ${blocks.slice(0, 3).join(' ')}`)
    expect(drive.lines.at(-1)).toBe('30 A: block b32, block b33, block b34')
  })

  it('lets two sessions share one ask of a want, and cancels when the second has left', () => {
    const drive = new Drive('uniform').connect('A').open(1).open(2).want('x', 1).want('x', 2).until(20).says('A: have x')
    expect(drive.lines).toEqual(['0 A: have x', '20 A: block x'])
    expect(drive.drop('x', 1).lines).toEqual([])
    expect(drive.drop('x', 2).lines).toEqual(['20 A: cancel x'])
  })
})

/** A drive whose session knows that all of these peers have x, and got it. */
function knowing(policy: string, peers: string, options: ConstructorParameters<typeof Drive>[1] = {}): Drive {
  const drive = new Drive(policy, options).connect(peers).open().want('x').until(10)
  for (const peer of peers) drive.hears(`${peer}: have x`)
  drive.decide()
  const asked = drive.lines.at(-1)?.split(' ')[1]?.[0] ?? ''
  drive.until(20).says(`${asked}: block x`)
  expect(drive.lines.filter((line) => !line.includes('cancel'))).toEqual([])
  return drive
}

describe('uniform', () => {
  it('takes every candidate alike', () => {
    const drive = knowing('uniform', 'ABCD', { random: numbers(0, 0.99, 0.5, 0.25) })
    expect(drive.want('a b c').lines).toEqual(['20 D: block a', '20 C: block b', '20 B: block c'])
  })
})

describe('round-robin', () => {
  it('goes on from the one asked last, and round', () => {
    const drive = knowing('round-robin', 'ABC')
    expect(drive.want('a b c d').lines).toEqual(['20 B: block a, block d', '20 C: block b', '20 A: block c'])
  })
})

describe('p2c', () => {
  it('takes of two the one with the smaller product of wants in flight and latency', () => {
    // x: of all, the first; then always the first and, of the others, the last.
    const drive = knowing('p2c', 'ABC', { random: numbers(0, 0.99) })
    // All answered in 10 ms, but A's block took as long again: 10. All alike, so the first of the two stays, until it has more.
    expect(drive.want('a b c').lines).toEqual(['20 A: block a, block c', '20 C: block b'])
    drive.until(120).says('A: block a c')
    // A's latency is 10 + (100 − 10) / 8 and more; C has one in flight and 10.
    expect(drive.want('d').lines).toEqual(['120 C: block d'])
  })
})

describe('hedge-p95', () => {
  it('asks a second peer after the 95th percentile of latencies, and cancels whoever is later', () => {
    const blocks = Array.from({ length: 20 }, (_, index) => `b${index}`)
    const drive = knowing('hedge-p95', 'AB')
    drive.want(blocks.join(' '))
    expect(drive.lines.map((line) => line.slice(0, 13))).toEqual(['20 A: block b'])
    // One sample of 10 ms, then 20: eighteen of 30 ms and two of 130: 95 in 100 are at most 130.
    drive.until(50).says(`A: block ${blocks.slice(0, 18).join(' ')}`)
    drive
      .until(150)
      .says(`A: block ${blocks.slice(18).join(' ')}`)
      .want('y')
    expect(drive.lines).toEqual(['150 A: block y'])
    expect(drive.until(280).lines).toEqual([])
    expect(drive.until(281).lines).toEqual(['281 B: block y'])
    expect(drive.until(290).says('B: block y').lines).toEqual(['290 A: cancel y'])
    expect(drive.close().gauges).toEqual({ peers: 2, ...nothing })
  })

  it('hedges nothing before it knows latencies', () => {
    const drive = knowing('hedge-p95', 'AB')
    expect(drive.want('y').until(5000).lines).toEqual(['20 A: block y'])
  })
})

describe('oracle', () => {
  it('asks the peer from which a block is here first, behind what it was asked before', () => {
    // A: 10 ms and 1 byte a µs; B: 40 ms and twice as fast; C would be faster and has nothing.
    const ways: Record<string, [number, number]> = { A: [10, 1e-3], B: [40, 5e-4], C: [1, 1e-6] }
    const drive = new Drive('oracle', {
      world: {
        delivers: (peer) => peer !== 'C',
        deliveryMs: (peer, bytes) => (ways[peer]?.[0] ?? 0) + bytes * (ways[peer]?.[1] ?? 0)
      }
    })
    drive.connect('ABC').open().want('x')
    // Of 256 KiB: 272 ms from A, 171 from B; nobody is asked in vain.
    expect(drive.lines).toEqual(['0 B: block x'])
    // Behind x, B needs 302.
    expect(drive.want('y').lines).toEqual(['0 A: block y'])
    expect(drive.until(171).says('B: block x').lines).toEqual([])
    // Blocks have 1,000 bytes, it knows now: 40.5 from B; A is busy until 272.
    expect(drive.want('z').lines).toEqual(['171 B: block z'])
  })

  it('leaves a peer as soon as it would no longer deliver', () => {
    const dead = new Set<string>()
    const drive = new Drive('oracle', { world: { delivers: (peer) => !dead.has(peer), deliveryMs: (peer) => (peer === 'A' ? 10 : 20) } })
    drive.connect('AB').open().want('x').until(250)
    dead.add('A')
    expect(drive.until(1000).lines).toEqual(['0 A: block x', '300 A times out on x', '300 A: cancel x', '300 B: block x'])
  })

  it('leaves a peer that is silent for five seconds, whatever it should do', () => {
    const drive = new Drive('oracle').connect('A').open().want('x').until(5001)
    expect(drive.lines).toEqual(['0 A: block x', '5000 A times out on x', '5000 find x', '5000 A: cancel x', '5001 A: block x'])
  })

  it('asks nobody and looks in routing where nobody would deliver', () => {
    const drive = new Drive('oracle', { world: { delivers: () => false, deliveryMs: () => Number.POSITIVE_INFINITY } })
    expect(drive.connect('AB').open().want('x').lines).toEqual(['0 find x'])
  })
})

describe('lassie', () => {
  it('fetches all from one provider, and gives all to the next when that one stalls for 20 seconds', () => {
    const drive = knowing('lassie', 'AB')
    expect(drive.want('a b').lines).toEqual(['20 A: block a, block b'])
    expect(drive.until(10_020).bytes('A', 1).until(40_019).lines).toEqual([])
    expect(drive.until(40_020).lines).toEqual(['40020 A times out on a', '40020 A: cancel a, cancel b', '40020 B: block a, block b'])
  })

  it.each([
    [0.24, 'A'],
    [0.25, 'B']
  ])('draws by the sum of its terms, of which it remembers those of earlier sessions: %d', (drawn, peer) => {
    const drive = knowing('lassie', 'AB', { random: numbers(0, 0, drawn) })
    // A sent x after 10 ms and stalled then; B sent y at once.
    drive.want('y').until(20_020).says('B: block y').close().open(2).want('z', 2).until(20_030)
    drive.hears('A: have z')
    drive.hears('B: have z')
    drive.decide()
    // First bytes after 10 ms and 0 ms are 8 ms over all. The mean is e^-1 where nothing is known.
    const unknown = Math.exp(-1)
    const [a, b] = [unknown + Math.exp(-10 / 8) + unknown / 2, unknown + 1 + unknown / 2 + 1]
    expect(a / (a + b)).toBeCloseTo(0.2473, 4)
    expect(drive.lines.at(-1)).toBe(`20030 ${peer}: block z`)
  })
})
