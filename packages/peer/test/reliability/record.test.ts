import { expect, it } from 'vitest'
import { decodeRecord, encodeRecord } from '../../src/reliability/record.ts'
import { elapsedMs, pauseMaxMs, stampNow, stampOf } from '../../src/reliability/stamp.ts'

const body = { stamp: stampNow(), state: { peers: [{ peer: '12D3KooWx', hours: [1, 2.5, 3] }], name: 'né' } }

it('a record comes back as it was written', () => {
  expect(decodeRecord(encodeRecord(body))).toEqual({ kind: 'good', body })
})

it('a record that is damaged or cut off at any byte is never taken for a good one', () => {
  const whole = encodeRecord(body)
  for (let at = 0; at < whole.byteLength; at++) {
    for (const flip of [1, 0x80, 0xff]) {
      const damaged = Uint8Array.from(whole)
      damaged[at] = (damaged[at] as number) ^ flip
      expect(decodeRecord(damaged), `byte ${at} ^ ${flip}`).toMatchObject({ kind: 'bad' })
    }
    expect(decodeRecord(whole.subarray(0, at)), `cut at ${at}`).toMatchObject({ kind: 'bad' })
  }
  const longer = new Uint8Array(whole.byteLength + 1)
  longer.set(whole)
  expect(decodeRecord(longer)).toMatchObject({ kind: 'bad' })
})

it('a record from the future says so', () => {
  const future = encodeRecord(body)
  future[11] = 2
  const decoded = decodeRecord(future)
  expect(decoded).toMatchObject({ kind: 'bad' })
  expect(decoded).toHaveProperty('reason', expect.stringContaining('version 2'))
})

const hourMs = 3_600_000
const yearMs = 365 * 24 * hourMs

it.each([-10 * yearMs, -hourMs, 0, hourMs, 10 * yearMs])(
  '[F86] a wall clock set by %d ms between two runs changes no pause while the machine stays up',
  (jumpMs) => {
    const from = { wallMs: 1_700_000_000_000, upMs: 5_000_000, boot: 'a' }
    expect(elapsedMs(from, { wallMs: from.wallMs + 90_000 + jumpMs, upMs: from.upMs + 90_000, boot: 'a' })).toBe(90_000)
  }
)

it('[F86] after a start of the machine the wall clock is believed within bounds', () => {
  const from = { wallMs: 1_700_000_000_000, upMs: 5_000_000, boot: 'a' }
  const at = (wallMs: number, boot = 'b'): number => elapsedMs(from, { wallMs, upMs: 9_000_000, boot })
  expect(at(from.wallMs + hourMs)).toBe(hourMs)
  expect(at(from.wallMs - 10 * yearMs)).toBe(0)
  expect(at(from.wallMs + 10 * yearMs)).toBe(pauseMaxMs)
  expect(at(from.wallMs + hourMs, '')).toBe(hourMs)
  // A machine that was up for less time than before was started anew, whatever it says.
  expect(elapsedMs(from, { wallMs: from.wallMs + hourMs, upMs: 10, boot: 'a' })).toBe(hourMs)
})

it('a stamp that is none is none', () => {
  expect(stampOf(JSON.parse(JSON.stringify(stampNow())))).toBeDefined()
  for (const value of [undefined, null, 1, {}, { wallMs: 'a', upMs: 1, boot: '' }, { wallMs: Infinity, upMs: 1, boot: '' }]) {
    expect(stampOf(value)).toBeUndefined()
  }
})
