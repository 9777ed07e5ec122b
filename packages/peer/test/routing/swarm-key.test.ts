import { randomBytes } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createPeer, parseSwarmKey } from '../../src/index.ts'

const key = randomBytes(32)
const hex = key.toString('hex')
const base64 = key.toString('base64')
const header = '/key/swarm/psk/1.0.0/'

describe('swarm.key', () => {
  test.each([
    ['as Kubo writes it', `${header}\n/base16/\n${hex}`],
    ['with a newline at its end', `${header}\n/base16/\n${hex}\n`],
    ['with several', `${header}\n/base16/\n${hex}\n\n`],
    ['with CRLF', `${header}\r\n/base16/\r\n${hex}\r\n`],
    ['in capitals', `${header}\n/base16/\n${hex.toUpperCase()}\n`],
    ['in base64', `${header}\n/base64/\n${base64}\n`],
    ['in base64 with CRLF', `${header}\r\n/base64/\r\n${base64}\r\n`],
    ['in bare bytes', Buffer.concat([Buffer.from(`${header}\n/bin/\n`), key])]
  ])('[F67] is read %s', (_how, text) => {
    expect(Buffer.from(parseSwarmKey(text)).toString('hex')).toBe(hex)
  })

  test.each([
    ['bare hex', hex, /is the bare key, but it must be three lines: \/key\/swarm\/psk\/1\.0\.0\/, then \/base16\//],
    ['bare base64', base64, /begins with .*, but it must be three lines/],
    ['31 bytes', `${header}\n/base16/\n${hex.slice(2)}\n`, /the key has 31 bytes, not 32.*64 hexadecimal digits/],
    ['33 bytes', `${header}\n/base16/\n${hex}00\n`, /the key has 33 bytes, not 32/],
    ['31 bytes in base64', `${header}\n/base64/\n${key.subarray(1).toString('base64')}`, /the key has 31 bytes, not 32/],
    ['no key', `${header}\n/base16/\n`, /the key has 0 bytes/],
    ['half a digit', `${header}\n/base16/\n${hex.slice(1)}\n`, /not written in that encoding/],
    ['what is no hex', `${header}\n/base16/\n${'g'.repeat(64)}\n`, /not written in that encoding/],
    [
      'an encoding that there is not',
      `${header}\n/base58/\n${hex}\n`,
      /second line must be \/base16\/, \/base64\/ or \/bin\/, not "\/base58\/"/
    ],
    ['another version', `/key/swarm/psk/2.0.0/\n/base16/\n${hex}\n`, /begins with "\/key\/swarm\/psk\/2\.0\.0\/"/],
    ['an empty file', '', /begins with ""/]
  ])('[F67] %s is refused, and the message says what form is needed', (_what, text, message) => {
    expect(() => parseSwarmKey(text)).toThrow(
      expect.objectContaining({ name: 'SwarmKeyError', code: 'ERR_SWARM_KEY', message: expect.stringMatching(message) as string })
    )
  })

  test('[F67] a private network is one over TCP: an address of QUIC is refused', async () => {
    const swarmKey = `${header}\n/base16/\n${hex}`
    await expect(createPeer({ swarmKey, listen: ['/ip4/127.0.0.1/udp/0/quic-v1'] })).rejects.toThrow(/quic|transport|listen/i)
  })

  test('a node that is there cannot be made private: that is said, and not left out', async () => {
    const peer = await createPeer()
    onTestFinished(async () => await peer.stop())
    const swarmKey = `${header}\n/base16/\n${hex}`
    for (const init of [{ swarmKey }, { dht: 'client' as const }, { mdns: true }]) {
      await expect(createPeer({ libp2p: peer.libp2p, ...init })).rejects.toMatchObject({ code: 'ERR_INVALID_PARAMETERS' })
    }
  })

  test('[F67] a peer with a key that is none does not start', async () => {
    await expect(createPeer({ swarmKey: hex })).rejects.toMatchObject({ code: 'ERR_SWARM_KEY' })
  })
})
