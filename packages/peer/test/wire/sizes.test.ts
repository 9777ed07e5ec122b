import { afterEach, describe, expect, it } from 'vitest'
import { hex, payload, rawCid, rawPrefix, seeded, sha256, wantlist } from './bytes.ts'
import { address, block, blocks, byCid, Cast } from './cast.ts'
import { answerWants, honest, openStream, write, writeUntilReset } from './raw.ts'

const MiB = 1024 * 1024
const messageBytesMax = 4 * MiB

const cast = new Cast()
afterEach(async () => cast.stop())

const answer = (data: Uint8Array): string => `block ${hex(rawPrefix)} ${hex(sha256(data))}`

describe('[F46] large blocks', () => {
  const sizes = [MiB, MiB + 14, 2 * MiB, 2 * MiB + 1, Math.floor(3.9 * MiB)]

  for (const size of sizes) {
    it(`of ${size} bytes are served, also while 2,000 wants share the message`, async () => {
      const peer = await cast.ours()
      const raw = await cast.raw()
      const large = block(1, size)
      await peer.blockstore.put(large.cid, large.data)
      const stream = await openStream(await raw.dial(address(peer)))
      const missing = Array.from({ length: 1999 }, (_, index) => ({
        cid: rawCid(seeded(index, 8)),
        priority: 10_000 - index,
        sendDontHave: true
      }))
      await write(stream, wantlist([...missing, { cid: rawCid(large.data), priority: 1 }]))
      await raw.until(() => raw.answers().length === 2000)
      const expected = answer(large.data)
      expect(raw.answers().filter((text) => text === expected).length).toBe(1)
      for (const message of raw.inbox) expect(message.bytes).toBeLessThanOrEqual(messageBytesMax)
    })

    it(`of ${size} bytes are fetched`, async () => {
      const peer = await cast.ours()
      const raw = await cast.raw()
      const large = block(2, size)
      await answerWants(raw, address(peer), honest(byCid([large])))
      expect(hex(sha256(await peer.get(large.cid)))).toBe(hex(sha256(large.data)))
    })
  }

  it('above 2 MiB are refused when put', async () => {
    const peer = await cast.ours({ listen: [] })
    const fits = block(3, 2 * MiB)
    await peer.put(fits.cid, fits.data)
    const over = block(3, 2 * MiB + 1)
    await expect(peer.put(over.cid, over.data)).rejects.toMatchObject({ code: 'ERR_TOO_LARGE' })
    expect(await peer.has(over.cid)).toBe(false)
  })

  it('above what a message holds are denied, not passed over in silence', async () => {
    const peer = await cast.ours()
    const raw = await cast.raw()
    const over = block(4, 4 * MiB + 1)
    await peer.blockstore.put(over.cid, over.data)
    const stream = await openStream(await raw.dial(address(peer)))
    await write(stream, wantlist([{ cid: rawCid(over.data), sendDontHave: true }]))
    await raw.until(() => raw.answers().length > 0)
    expect(raw.answers()).toEqual([`dont-have ${over.hex}`])
  })

  it('of 4 MiB + 1 from another peer cost that stream only: the peer still delivers', async () => {
    const peer = await cast.ours()
    const raw = await cast.raw()
    const connection = await raw.dial(address(peer))
    const stream = await openStream(connection)
    await writeUntilReset(stream, payload([{ prefix: rawPrefix, data: seeded(5, 4 * MiB + 1) }]))
    expect(connection.status).toBe('open')
    const good = block(6)
    await answerWants(raw, address(peer), honest(byCid([good])))
    expect(hex(await peer.get(good.cid))).toBe(hex(good.data))
  })
  // The same sizes with Kubo are in test/interop.
})

it('[F47] however much is asked for at once, no message passes 4 MiB', async () => {
  const peer = await cast.ours()
  const raw = await cast.raw()
  const all = [...blocks(200, MiB / 4, 100), ...blocks(3, 2 * MiB, 500)]
  for (const { cid, data } of all) await peer.put(cid, data)
  const stream = await openStream(await raw.dial(address(peer)))
  await write(stream, wantlist(all.map(({ data }) => ({ cid: rawCid(data) }))))
  await raw.until(() => raw.answers().length === all.length)
  expect(new Set(raw.answers())).toEqual(new Set(all.map(({ data }) => answer(data))))
  for (const message of raw.inbox) expect(message.bytes).toBeLessThanOrEqual(messageBytesMax)
  // A setting above the cap is rejected: see the unit tests of the server's limits.
})

describe('[F49] full lists', () => {
  it('replace what was wanted before', async () => {
    const peer = await cast.ours()
    const raw = await cast.raw()
    const all = blocks(100, 2000, 1000)
    const five = all[4] as (typeof all)[number]
    const connection = await raw.dial(address(peer))
    const stream = await openStream(connection)
    await write(
      stream,
      wantlist(
        all.map(({ data }) => ({ cid: rawCid(data), sendDontHave: true })),
        true
      )
    )
    await raw.until(() => raw.answers().length === 100)
    await write(stream, wantlist([{ cid: rawCid(five.data) }], true))
    while (peer.ledger(raw.id)?.wants.length !== 1) await new Promise((resolve) => setImmediate(resolve))
    for (const { cid, data } of all) await peer.put(cid, data)
    const last = block(2000)
    await peer.put(last.cid, last.data)
    await write(stream, wantlist([{ cid: rawCid(last.data) }]))
    await raw.until(() => raw.answers().includes(answer(last.data)))
    expect(raw.answers().slice(100)).toEqual([answer(five.data), answer(last.data)])
  })

  it('after a reconnect only the new, smaller list counts', async () => {
    const peer = await cast.ours()
    const raw = await cast.raw()
    const all = blocks(10, 2000, 1000)
    const five = all[4] as (typeof all)[number]
    const first = await raw.dial(address(peer))
    await write(
      await openStream(first),
      wantlist(
        all.map(({ data }) => ({ cid: rawCid(data), sendDontHave: true })),
        true
      )
    )
    await raw.until(() => raw.answers().length === 10)
    await first.close()
    const stream = await openStream(await raw.dial(address(peer)))
    await write(stream, wantlist([{ cid: rawCid(five.data), sendDontHave: true }], true))
    await raw.until(() => raw.answers().length === 11)
    for (const { cid, data } of all) await peer.put(cid, data)
    const last = block(2000)
    await peer.put(last.cid, last.data)
    await write(stream, wantlist([{ cid: rawCid(last.data) }]))
    await raw.until(() => raw.answers().includes(answer(last.data)))
    expect(raw.answers().slice(11)).toEqual([answer(five.data), answer(last.data)])
  })

  it('are what our own first message on a connection is, and on the next one', async () => {
    const peer = await cast.ours()
    const raw = await cast.raw()
    const all = blocks(3, 2000, 3000)
    const connection = await raw.dial(address(peer))
    const abort = new AbortController()
    const settled = Promise.allSettled(all.map(async ({ cid }) => peer.get(cid, { signal: abort.signal })))
    await raw.until(() => new Set(raw.wanted()).size === 3)
    expect(raw.inbox[0]?.full).toBe(true)
    const before = raw.inbox.length
    await connection.close()
    await raw.dial(address(peer))
    await raw.until((inbox) => new Set(inbox.slice(before).flatMap(({ entries }) => entries.map(({ cid }) => hex(cid)))).size === 3)
    expect(raw.inbox[before]?.full).toBe(true)
    // Never an empty one: some servers pass it over, others would drop everything.
    for (const { full, entries } of raw.inbox) expect(full && entries.length === 0).toBe(false)
    abort.abort()
    await settled
  })
})
