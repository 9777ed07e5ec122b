import { randomBytes } from 'node:crypto'
import type { Stream } from '@libp2p/interface'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  isCiphered,
  keepArrived,
  noteArrived,
  noteCiphered,
  spendArrived,
  spendCopied,
  spendLent,
  spendSent,
  spentBytesMin
} from '../src/network/spent-memory.ts'
import { connect, Peers, rawBlocks, until } from './support.ts'

const peers = new Peers()
afterEach(async () => {
  vi.restoreAllMocks()
  await peers.stop()
})

/** Memory of its own, filled. */
function made(bytes = spentBytesMin): Uint8Array {
  return new Uint8Array(bytes).fill(1)
}

function isGone(bytes: Uint8Array): boolean {
  return bytes.byteLength === 0
}

describe('spent memory', () => {
  it('of a cipher is given back once a socket has sent it, and only what is known to be of a cipher', () => {
    const [ciphered, foreign] = [made(), made()]
    noteCiphered(ciphered)
    expect([isCiphered(ciphered), isCiphered(foreign)]).toEqual([true, false])
    for (const bytes of [ciphered, foreign]) spendSent(bytes)
    expect([isGone(ciphered), isGone(foreign)]).toEqual([true, false])
  })

  it('stays where it is small, or part of memory that others use', () => {
    const [small, shared] = [made(spentBytesMin - 1), made(2 * spentBytesMin)]
    const part = shared.subarray(0, spentBytesMin)
    for (const bytes of [small, part]) {
      noteCiphered(bytes)
      noteArrived(bytes)
      spendSent(bytes)
      spendCopied(bytes)
      spendArrived([bytes])
      spendLent(bytes)
    }
    expect([small, part, shared].some(isGone)).toBe(false)
  })

  it.each([
    [0, true],
    [12, true],
    [13, false]
  ])('of a cipher is given back when a stream has copied all of it from byte %i on: %s', (from, isSpent) => {
    const bytes = made()
    noteCiphered(bytes)
    spendCopied(bytes.subarray(from))
    expect(isGone(bytes)).toBe(isSpent)
  })

  it('of a cipher stays while its end may be read on another stream', () => {
    const bytes = made()
    noteCiphered(bytes)
    spendCopied(bytes.subarray(0, -1))
    expect(isGone(bytes)).toBe(false)
  })

  it('of a read is given back when the frame at its end was deciphered', () => {
    const read = made()
    noteArrived(read)
    spendArrived([read.subarray(2, 1000)])
    spendArrived([read.subarray(1002, 9000)])
    expect(isGone(read)).toBe(false)
    const next = made()
    noteArrived(next)
    spendArrived([read.subarray(9002), next.subarray(0, 50)])
    expect([isGone(read), isGone(next)]).toEqual([true, false])
    spendArrived([next.subarray(52)])
    expect(isGone(next)).toBe(true)
  })

  it('of a read stays where it began with something else, or where somebody holds a part', () => {
    const [handshake, held] = [made(), made()]
    for (const read of [handshake, held]) noteArrived(read)
    spendArrived([handshake.subarray(40, 100)])
    spendArrived([held.subarray(2, 100)])
    keepArrived(held)
    for (const read of [handshake, held]) spendArrived([read.subarray(102)])
    expect([handshake, held].some(isGone)).toBe(false)
  })
})

describe('a transfer', () => {
  it('gives back what it copied on the way: at both ends more than the bytes of the blocks', async () => {
    const blocks = rawBlocks(64, 256 * 1024, 'given back')
    const provider = await peers.provider(blocks)
    const peer = await peers.create()
    await connect(peer, provider)
    let spentBytes = 0
    const transfer = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, 'transfer')?.value as ArrayBuffer['transfer']
    vi.spyOn(ArrayBuffer.prototype, 'transfer').mockImplementation(function (this: ArrayBuffer, ...args) {
      spentBytes += this.byteLength
      return transfer.apply(this, args)
    })
    for await (const { cid, bytes } of peer.getMany(blocks.map((each) => each.cid))) {
      const sent = blocks.find((each) => each.cid.equals(cid))
      expect(Buffer.compare(bytes, sent?.bytes ?? new Uint8Array())).toBe(0)
    }
    // Encrypted at one end, deciphered at the other; reads and copies of them come on top.
    expect(spentBytes).toBeGreaterThan(1.8 * 64 * 256 * 1024)
  })

  it('leaves the bytes of other streams of its connection alone, however long they are held', async () => {
    const blocks = rawBlocks(96, 256 * 1024, 'beside')
    const provider = await peers.provider(blocks)
    const peer = await peers.create()
    const held: Uint8Array[] = []
    await peer.libp2p.handle('/test/beside', (stream) => {
      // As they came: neither copied nor joined.
      stream.addEventListener('message', ({ data }) => held.push(...(data instanceof Uint8Array ? [data] : data)))
    })
    await connect(peer, provider)
    const beside: Stream = await provider.libp2p.dialProtocol(peer.peerId, '/test/beside')
    const sent: Uint8Array[] = []
    let sentBytes = 0
    for await (const { bytes } of peer.getMany(blocks.map((each) => each.cid))) {
      expect(bytes).toHaveLength(256 * 1024)
      // Of all sizes: within one frame of Noise, over several, and two to a frame.
      const part = Uint8Array.from(randomBytes((sent.length * 7919) % 90_000))
      sent.push(part)
      sentBytes += part.byteLength
      beside.send(part.slice())
    }
    const heldBytes = (): number => held.reduce((sum, part) => sum + part.byteLength, 0)
    await until('all of the other stream has come', () => heldBytes() === sentBytes)
    expect(Buffer.concat(held).equals(Buffer.concat(sent))).toBe(true)
  })
})
