import { xsalsa20 } from '@noble/ciphers/salsa.js'
import { array, assert, nat, property, uint8Array } from 'fast-check'
import { expect, test } from 'vitest'
import { StreamCipher } from '../../src/routing/cipher.ts'

const key = new Uint8Array(32).map((_, at) => at)
const nonce = new Uint8Array(24).map((_, at) => 255 - at)

test('bytes in parts of any size come out as if they had come at once', () => {
  assert(
    property(uint8Array({ maxLength: 1000 }), array(nat(200)), (bytes, sizes) => {
      const cipher = new StreamCipher(key, nonce)
      const parts: Uint8Array[] = []
      let at = 0
      for (const size of [...sizes, bytes.byteLength]) {
        parts.push(cipher.next(bytes.subarray(at, at + size)))
        at = Math.min(bytes.byteLength, at + size)
      }
      expect(Buffer.concat(parts)).toEqual(Buffer.from(xsalsa20(key, nonce, bytes)))
    })
  )
})

test('[F28] many ciphers at once, and large parts, cost no memory that grows with them', () => {
  const ciphers = Array.from({ length: 6_000 }, () => new StreamCipher(key, nonce))
  const large = new Uint8Array(2 * 1024 * 1024)
  const before = process.memoryUsage().arrayBuffers
  for (const cipher of ciphers) cipher.next(large.subarray(0, 100))
  for (let i = 0; i < 20; i++) ciphers[i]?.next(large)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * 1024 * 1024)
})
