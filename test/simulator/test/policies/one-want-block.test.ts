import { describe, expect, it } from 'vitest'
import { Drive, nothing, numbers } from './drive.ts'

const numbered = (from: number, below: number): string => Array.from({ length: below - from }, (_, index) => `b${from + index}`).join(' ')
/** With it queues wake at once, and the first of two peers that are alike is drawn. */
const prompt = { random: numbers(0.3) }

/** After x was fetched from A, with B in the session as well. */
function joined(options: ConstructorParameters<typeof Drive>[1] = {}): Drive {
  const drive = new Drive('one-want-block', { ...prompt, ...options }).connect('AB').open().want('x').until(20)
  drive.hears('A: have x')
  drive.hears('B: have x')
  drive.decide().until(40).says('A: block x').until(200)
  drive.lines.splice(0)
  return drive
}

/** Wants a block that B has and A has not. Returns what was sent when it was wanted. */
function missedByA(drive: Drive, block: string): string[] {
  drive.lines.splice(0)
  const { lines } = drive.want(block)
  drive
    .until(drive.nowMs + 30)
    .says(`A: dont-have ${block}`)
    .says(`B: block ${block}`)
  drive.until(drive.nowMs + 30).lines.splice(0)
  return lines
}

describe('one-want-block', () => {
  it('broadcasts 64 want-haves, then sends a want-block to one peer and want-haves to the others', () => {
    const drive = new Drive('one-want-block', prompt).connect('ABC').open().want(numbered(0, 70))
    expect(drive.lines.map((line) => [line.slice(0, 4), line.match(/have/g)?.length])).toEqual([
      ['0 A:', 64],
      ['0 B:', 64],
      ['0 C:', 64]
    ])
    drive.until(20).says('A: have b0')
    expect(drive.lines.map((line) => [line.slice(0, 5), line.match(/block/g)?.length])).toEqual([['20 A:', 70]])
    // What was broadcast is not said again; the last six were not.
    drive.until(30).says('B: have b0')
    expect(drive.lines).toEqual(['30 B: have b64, have b65, have b66, have b67, have b68, have b69'])
  })

  it('asks who has it, fetches it from one of them, and cancels it at both', () => {
    const drive = new Drive('one-want-block', prompt).connect('AB').open().want('x').until(20)
    drive.hears('A: have x')
    drive.hears('B: have x')
    drive.decide().until(40).says('A: block x').until(100)
    expect(drive.lines).toEqual(['0 A: have x', '0 B: have x', '20 A: block x', '40 A: cancel x', '40 B: cancel x'])
  })

  it.each([
    [undefined, 220],
    [1, 220],
    [480, 260],
    [39_800, 2200]
  ])('sends the first message at once and holds the next back: with %s queues until %d ms', (queuesInProcess, atMs) => {
    const drive = new Drive('one-want-block', { ...prompt, queuesInProcess }).connect('AB').open().found('A').found('B').until(200)
    drive.want('a').until(205).want('b')
    expect(drive.lines).toEqual(['200 A: block a', '200 B: have a'])
    expect(drive.until(atMs).lines).toContain(`${atMs} A: block b`)
    expect(drive.lines.every((line) => !line.startsWith('A'))).toBe(true)
  })

  it('lets cancels go before the wants of the same moment, or with them where the queue wakes late', () => {
    const drive = joined().want('a').until(220)
    drive.hears('A: block a')
    // 0.3 is above the share: the want waits for the next message.
    drive.want('b').until(240)
    expect(drive.lines.slice(2)).toEqual(['220 A: cancel a', '220 B: cancel a', '240 A: block b', '240 B: have b'])
    const late = new Drive('one-want-block', { random: numbers(0) }).connect('A').open().want('x').until(20).says('A: have x')
    late.until(100).says('A: block x').want('y')
    expect(late.lines.slice(-1)).toEqual(['100 A: cancel x, block y'])
    // Where no want follows it leaves all the same.
    late.until(150).says('A: block y').until(151)
    expect(late.lines).toEqual(['150.1 A: cancel y'])
  })

  it.each([
    [0.66, 'A', 'B'],
    [0.67, 'B', 'A']
  ])('prefers those who were first to send blocks, by their number and one: at %d %s', (drawn, first, second) => {
    const die = { value: 0.3, next: (): number => die.value }
    const drive = joined({ random: die })
    // A has sent one block and B none, so A has two parts of three.
    die.value = drawn
    expect(drive.want('a').lines).toEqual([`200 ${first}: block a`, `200 ${second}: have a`])
  })

  it('takes silence of twice the latency as DONT_HAVE, keeps the want there, and goes to another', () => {
    const drive = joined().want('a').until(210).says('B: have a')
    // Answers took 20 ms and less: 50 ms is the least.
    expect(drive.until(260).lines).toEqual(['200 A: block a', '200 B: have a', '250 A times out on a', '250 B: block a'])
    expect(drive.hears('A: block a')).toEqual([expect.objectContaining({ kind: 'wanted' })])
    expect(drive.decide().until(270).lines).toEqual(['260 A: cancel a', '270 B: cancel a'])
  })

  it('waits five seconds before it knows a latency', () => {
    const drive = new Drive('one-want-block', prompt).connect('A').open().found('A').want('x')
    expect(drive.until(4999).lines.filter((line) => line.includes('times out'))).toEqual([])
    expect(drive.until(5000).lines).toEqual(['5000 A times out on x'])
  })

  it('is stuck with a peer that said HAVE and is silent, until the queue asks again after 30 to 45 seconds', () => {
    const drive = new Drive('one-want-block', prompt).connect('A').open().want('x').until(20).says('A: have x')
    // The timeout leaves it at HAVE, it is chosen again, and nothing is sent, for it was sent before.
    expect(drive.until(44_999).lines.filter((line) => line.includes('A'))).toEqual(['0 A: have x', '20 A: block x', '70 A times out on x'])
    expect(drive.until(45_000).lines.filter((line) => line.includes('A'))).toEqual(['45000 A: block x'])
  })

  it('drops a peer from the session after 17 DONT_HAVEs in a row', () => {
    const drive = joined()
    for (let index = 0; index < 16; index++) missedByA(drive, `b${index}`)
    expect(missedByA(drive, 'y')).toHaveLength(2)
    expect(drive.want('z').lines).toEqual([`${drive.nowMs} B: block z`])
  })

  it('keeps a peer that says DONT_HAVE as long as it has something that is wanted', () => {
    const drive = joined().want('kept').until(210).says('A: have kept')
    for (let index = 0; index < 20; index++) missedByA(drive, `b${index}`)
    drive.lines.splice(0)
    expect(drive.want('z').lines).toHaveLength(2)
  })

  it('broadcasts and looks for providers when all peers of the session said DONT_HAVE', () => {
    const drive = joined().connect('C').want('a').until(210).says('A: dont-have a').says('B: dont-have a')
    expect(drive.lines).toEqual(['200 A: block a', '200 B: have a', '210 find a', '210 C: have a'])
    // B was next when it answered its want-have: what waits to be sent is sent all the same.
    expect(drive.until(215).says('C: have a').until(230).lines).toEqual(['220 B: block a', '230 C: block a'])
  })

  it('broadcasts when no block came for a second, and backs off', () => {
    const drive = new Drive('one-want-block', prompt).connect('A').open().want('x')
    expect(drive.until(2999).lines).toEqual(['0 A: have x', '1000 find x'])
    // A newcomer is told what was broadcast.
    expect(drive.connect('B').lines).toEqual(['2999 B: have x'])
  })

  it('later broadcasts after half a second and three latencies', () => {
    const drive = joined().want('a b').until(210).says('A: have b').until(220).says('A: block a')
    // x came in 40 ms and a in 20: 220 + 500 + 3 × 30.
    expect(drive.until(809).lines.filter((line) => line.includes('find'))).toEqual([])
    expect(drive.until(810).lines).toEqual(['810 find b'])
    expect(drive.connect('C').until(5000).lines).toEqual(['810 C: have b'])
  })

  it('looks for providers of some want every minute of a session', () => {
    const drive = new Drive('one-want-block', prompt).connect('A').open().want('x')
    const finds = drive.until(120_000).lines.filter((line) => line.includes('find'))
    expect(finds).toEqual(['1000 find x', '60000 find x', '120000 find x'])
  })

  it('lets one peer more join whose copy comes at the same moment', () => {
    const drive = new Drive('one-want-block', prompt).connect('ABC').open().want('x').until(20)
    drive.says('A: block x').says('B: block x').says('C: block x').until(100).want('y')
    expect(drive.lines.slice(-2)).toEqual(['100 A: block y', '100 B: have y'])
  })

  it('asks old peers by want-block, and never for HAVE', () => {
    const drive = new Drive('one-want-block', prompt).connect('AB', false).open().want('x')
    expect(drive.lines).toEqual(['0 A: block x', '0 B: block x'])
    drive.until(20).says('A: block x').until(100).want('y')
    expect(drive.lines).toEqual(['20 A: cancel x', '20 B: cancel x', '100 A: block y'])
  })

  it('leaves nothing behind', () => {
    const drive = joined().want('a b').until(210).says('A: dont-have a').says('B: have a').until(250).close()
    expect(drive.gauges.wants).toBe(0)
    expect(drive.until(500).gauges).toEqual({ peers: 2, ...nothing })
    expect(drive.core.wakeAtMs()).toBeUndefined()
    drive.disconnect('A')
    expect(drive.gauges).toEqual({ peers: 2, ...nothing })
  })

  it('has deadlines of ours where all have, and goes on as after its own', () => {
    const drive = joined({ deadlines: 'ours' }).want('a').until(210).says('B: have a')
    // A answered twice in 20 ms: 20 + 4 × 7.5; and the block's 1,000 bytes, as the last had, at 512 KiB/s.
    const lateMs = 250 + 1000 / 524.288
    expect(drive.until(260).lines).toEqual(['200 A: block a', '200 B: have a', `${lateMs} A times out on a`, `${lateMs} B: block a`])
  })
})
