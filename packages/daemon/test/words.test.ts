import { InvalidParametersError } from '@shardswap/interface'
import { expect, test } from 'vitest'
import { hostPort, isLoopback } from '../src/address.ts'
import { parseCid, parseDurationMs } from '../src/index.ts'

test.each([
  ['10s', 10_000],
  ['1m30s', 90_000],
  ['500ms', 500],
  ['1.5h', 5_400_000],
  ['100us', 1],
  ['0', 0],
  ['0s', 0],
  // Longer than a timer takes.
  ['1000000h', 3_600_000_000_000]
])('the duration %s', (text, ms) => {
  expect(parseDurationMs(text)).toBe(ms)
})

test.each(['', '10', 's', '10 s', '-1s', '1s2', '10x', 'Infinity'])('"%s" is no duration', (text) => {
  expect(() => parseDurationMs(text)).toThrow(InvalidParametersError)
})

test('addresses of the API', () => {
  expect(hostPort('/ip4/127.0.0.1/tcp/5001')).toEqual({ host: '127.0.0.1', port: 5001 })
  expect(hostPort('/ip6/::1/tcp/0')).toEqual({ host: '::1', port: 0 })
  for (const wrong of ['', '127.0.0.1:5001', '/ip4/127.0.0.1', '/ip4/127.0.0.1/udp/1', '/unix/x'])
    expect(() => hostPort(wrong)).toThrow(InvalidParametersError)
  for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'localhost']) expect(isLoopback(host)).toBe(true)
  for (const host of ['0.0.0.0', '127.0.0.1.example.com', '192.168.0.1', 'example.com']) expect(isLoopback(host)).toBe(false)
})

test('a CID may stand in a path, and nothing may stand below it', () => {
  const text = 'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy'
  expect(parseCid(`/ipfs/${text}`).toString()).toBe(text)
  expect(() => parseCid(`${text}/x`)).toThrow(/path/)
})
