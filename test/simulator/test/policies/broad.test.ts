import { describe, expect, it } from 'vitest'
import { Drive, nothing } from './drive.ts'

const numbered = (from: number, below: number): string => Array.from({ length: below - from }, (_, index) => `b${from + index}`).join(' ')

describe('split-factor', () => {
  it('broadcasts want-blocks, then splits wants over two groups of the peers that delivered', () => {
    const drive = new Drive('split-factor').connect('ABCD').open().want('x')
    expect(drive.lines).toEqual(['0 A: block x', '0 B: block x', '0 C: block x', '0 D: block x'])
    drive.until(20).hears('A: block x')
    drive.hears('B: block x')
    drive.hears('C: block x')
    drive.decide()
    // Nobody who delivered is told, but D is: it may have it on the way.
    expect(drive.lines).toEqual(['20 B: cancel x', '20 C: cancel x', '20 D: cancel x'])
    // Two of three were duplicates, so there are three groups: A, B and C.
    expect(drive.want('a b c d').lines).toEqual(['20 A: block a, block d', '20 B: block b', '20 C: block c'])
  })

  it('has 32 wants out at once, and 64 while it knows nobody', () => {
    const drive = new Drive('split-factor').connect('A').open().want(numbered(0, 100))
    expect(drive.gauges.inFlight).toBe(64)
    drive.until(20).says(`A: block ${numbered(0, 40)}`)
    expect(drive.gauges.inFlight).toBe(32)
    drive.says('A: block b40')
    expect(drive.gauges.inFlight).toBe(32)
  })

  it('makes fewer groups where there are few duplicates', () => {
    const drive = new Drive('split-factor').connect('AB').open().want('x y z').until(20)
    drive.says('A: block x y z').says('B: block x')
    // One of four is between the two bounds, but there was none when the third came: one group.
    drive.until(30).want('a b')
    expect(drive.lines.slice(-2)).toEqual(['30 A: block a, block b', '30 B: block a, block b'])
  })

  it('asks everybody for what is out, and routing, where no block came for a second', () => {
    const drive = new Drive('split-factor').connect('A').open().want('x').until(500).connect('B')
    expect(drive.lines).toEqual(['0 A: block x', '500 B: block x'])
    expect(drive.until(1000).lines).toEqual(['1000 find x'])
    // Again after a second, then after two; routing is asked once.
    expect(drive.until(2900).lines).toEqual([])
    drive.says('A: block x').want('y')
    // From the last broadcast of x, at 2,000, it took 900 ms: 500 + 3 × 900.
    expect(drive.until(6099).lines).toEqual(['2900 B: cancel x', '2900 A: block y'])
    expect(drive.until(6100).lines).toEqual(['6100 find y', '6100 B: block y'])
  })

  it('ends as all others, with deadlines of ours too', () => {
    const drive = new Drive('split-factor', { deadlines: 'ours' }).connect('A').open().want('x')
    expect(drive.until(1500).lines).toEqual(['0 A: block x', '1000 find x', '1500 A times out on x', '1500 A: cancel x'])
    expect(drive.until(1501).lines).toEqual(['1501 A: block x'])
    drive.until(1600).says('A: block x')
    expect(drive.close().gauges).toEqual({ peers: 1, ...nothing })
    expect(drive.core.wakeAtMs()).toBeUndefined()
  })

  it('gives up what never comes, and leaves nothing behind', () => {
    const drive = new Drive('split-factor').connect('A').open().want('x').until(60_000)
    expect(drive.lines).toContain('60000 give up x')
    expect(drive.close().gauges).toEqual({ peers: 1, ...nothing })
    expect(drive.lines).toEqual(['60000 A: cancel x'])
  })
})

describe('all-providers', () => {
  it('asks everybody and routing until it knows a provider, then all providers for everything, and cancels nothing', () => {
    const drive = new Drive('all-providers').connect('ABC').open().want('x')
    expect(drive.lines).toEqual(['0 find x'])
    expect(drive.until(10).lines).toEqual(['10 A: block x', '10 B: block x', '10 C: block x'])
    drive.until(30).says('A: block x').says('B: block x').want('y z').until(40)
    expect(drive.lines).toEqual(['40 A: block y, block z', '40 B: block y, block z'])
    drive.until(60).says('A: block y z').until(100)
    expect(drive.lines).toEqual([])
    expect(drive.close().gauges).toEqual({ peers: 3, ...nothing })
  })

  it('takes five providers and no more', () => {
    const drive = new Drive('all-providers').connect('ABCDEF').open().want('x').until(10)
    for (const peer of 'ABCDEF') drive.says(`${peer}: block x`)
    drive.until(20).want('y').until(30)
    expect(drive.lines.filter((line) => line.endsWith('block y'))).toEqual([
      '30 A: block y',
      '30 B: block y',
      '30 C: block y',
      '30 D: block y',
      '30 E: block y'
    ])
  })

  it('evicts a provider for good after one DONT_HAVE, and asks routing where nobody is left', () => {
    const drive = new Drive('all-providers').connect('A').open().found('A').want('x').until(30).says('A: dont-have x')
    expect(drive.lines).toEqual(['10 A: block x', '30 find x'])
    expect(drive.until(40).connect('B').until(50).lines).toEqual(['50 B: block x'])
    expect(drive.found('A').until(1030).lines).toEqual(['1030 find x'])
    expect(drive.until(3030).lines).toEqual(['3030 find x'])
  })

  it('waits for a silent provider until the want is given up', () => {
    const drive = new Drive('all-providers').connect('A').open().found('A').want('x').until(60_000)
    expect(drive.lines).toEqual(['10 A: block x', '60000 give up x'])
    expect(drive.close().gauges).toEqual({ peers: 1, ...nothing })
    expect(drive.core.wakeAtMs()).toBeUndefined()
  })

  it('evicts a silent provider by deadlines of ours', () => {
    const drive = new Drive('all-providers', { deadlines: 'ours' }).connect('A').open().found('A').want('x').until(1510)
    // A second for the unknown, and 256 KiB at 512 KiB/s.
    expect(drive.lines).toEqual(['10 A: block x', '1510 A times out on x', '1510 find x'])
  })
})
