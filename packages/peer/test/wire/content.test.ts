import { createHash } from 'node:crypto'
import { multihashOf } from '@shardswap/hashes'
import { CID } from '@shardswap/interface'
import { afterEach, describe, expect, it } from 'vitest'
import { concat, hex, rawCid, rawPrefix, seeded, sha256, varint, wantlist } from './bytes.ts'
import { address, block, byCid, Cast } from './cast.ts'
import { answerWants, honest, openStream, write } from './raw.ts'

const cast = new Cast()
afterEach(async () => cast.stop())

/** An identity CID, by hand: version, codec, code 0, length, and the bytes themselves. */
function identityCid(codec: number, bytes: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(1, codec, 0), varint(bytes.length), bytes)
}

describe('[F43] identity CIDs', () => {
  it('are answered on the spot, bytes unchanged, by a peer without connections', async () => {
    const peer = await cast.ours({ listen: [] })
    expect(await peer.get(CID.parse('bafkqaaa'))).toEqual(new Uint8Array(0))
    // The dag-cbor map { asdf: 324 }.
    expect(hex(await peer.get(CID.parse('bafyqacnbmrqxgzdgdeaui')))).toBe('a16461736466190144')
    // dag-pb with its data before its links, which no encoder writes.
    const odd = Uint8Array.from(Buffer.from('0a0208011202120012020a00', 'hex'))
    expect(await peer.get(CID.decode(identityCid(0x70, odd)))).toEqual(odd)
    expect(await peer.blockstore.has(CID.parse('bafkqaaa'))).toBe(false)
  })

  it('never go on the wire, not even as children of what does', async () => {
    const peer = await cast.ours()
    const raw = await cast.raw()
    const other = block(1)
    await answerWants(raw, address(peer), honest(byCid([other])))
    const inline = CID.decode(identityCid(0x55, seeded(2, 20)))
    const session = peer.createSession()
    const [first, second] = await Promise.all([session.get(inline), session.get(other.cid)])
    expect(hex(first)).toBe(hex(seeded(2, 20)))
    expect(hex(second)).toBe(hex(other.data))
    session.close()
    expect(new Set(raw.wanted())).toEqual(new Set([other.hex]))
  })

  it('wanted by another peer are passed over, of whatever length; the rest of the list is served', async () => {
    const peer = await cast.ours()
    const raw = await cast.raw()
    const stream = await openStream(await raw.dial(address(peer)))
    const here = block(3)
    await peer.put(here.cid, here.data)
    await write(
      stream,
      wantlist([
        { cid: identityCid(0x55, seeded(4, 10)), sendDontHave: true },
        { cid: identityCid(0x55, seeded(5, 1024 * 1024)), sendDontHave: true },
        { cid: rawCid(here.data) }
      ])
    )
    await raw.until(() => raw.answers().length > 0)
    expect(raw.answers()).toEqual([`block ${hex(rawPrefix)} ${hex(sha256(here.data))}`])
  })

  it('that are over-long are refused', async () => {
    const peer = await cast.ours({ listen: [] })
    const long = CID.decode(identityCid(0x55, seeded(6, 1024 * 1024)))
    await expect(peer.get(long)).rejects.toMatchObject({ code: 'ERR_INVALID_CID' })
  })
  // Pending: a gateway's answer for these. The command's are in packages/cli.
})

describe('[F44] hash functions', () => {
  const data = seeded(7, 3000)
  const node = (name: string): Uint8Array => new Uint8Array(createHash(name).update(data).digest())
  const ours = (code: number, bytes: number): Uint8Array => multihashOf(code, bytes, data)?.digest ?? new Uint8Array(0)
  const all: [name: string, code: number, digest: Uint8Array][] = [
    ['sha1', 0x11, node('sha1')],
    ['sha2-256 cut to 20 bytes', 0x12, node('sha256').slice(0, 20)],
    ['sha2-512', 0x13, node('sha512')],
    ['sha3-256', 0x16, node('sha3-256')],
    ['sha3-512', 0x14, node('sha3-512')],
    // packages/hashes is tested with vectors of these.
    ['keccak-256', 0x1b, ours(0x1b, 32)],
    ['blake3 of 32 bytes', 0x1e, ours(0x1e, 32)],
    ['blake3 of 64 bytes', 0x1e, ours(0x1e, 64)],
    ['blake2b-256', 0xb220, ours(0xb220, 32)],
    ['blake2b-512', 0xb240, node('blake2b512')],
    ['blake2s-256', 0xb260, node('blake2s256')]
  ]
  for (const [name, code, digest] of all) {
    it(`a ${name} block comes and goes`, async () => {
      const prefix = concat(Uint8Array.of(1, 0x55), varint(code), varint(digest.length))
      const cid = concat(prefix, digest)
      const peer = await cast.ours()
      const raw = await cast.raw()
      const connection = await answerWants(raw, address(peer), honest(new Map([[hex(cid), { prefix, data }]])))
      expect(hex(await peer.get(CID.decode(cid)))).toBe(hex(data))
      const stream = await openStream(connection)
      await write(stream, wantlist([{ cid }]))
      await raw.until(() => raw.answers().length > 0)
      expect(raw.answers()).toEqual([`block ${hex(prefix)} ${hex(sha256(data))}`])
    })
  }

  it('an unknown one is an error at once, and is not asked for', async () => {
    const peer = await cast.ours()
    const raw = await cast.raw()
    const other = block(8)
    await answerWants(raw, address(peer), honest(byCid([other])))
    const unknown = CID.decode(concat(Uint8Array.of(1, 0x55), varint(0xb401), varint(32), seeded(9, 32)))
    await expect(peer.get(unknown)).rejects.toMatchObject({ code: 'ERR_UNKNOWN_HASH', hashCode: 0xb401 })
    await expect(peer.get(unknown)).rejects.toThrow('unsupported hash 0xb401')
    await peer.get(other.cid)
    expect(new Set(raw.wanted())).toEqual(new Set([other.hex]))
  })
})
