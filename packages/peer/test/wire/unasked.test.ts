import { afterEach, describe, expect, it } from 'vitest'
import { hex, payload } from './bytes.ts'
import { address, block, byCid, Cast } from './cast.ts'
import type { TestBlock } from './cast.ts'
import { answerWants, honest, openStream, write } from './raw.ts'
import type { Answer } from './raw.ts'

const cast = new Cast()
afterEach(async () => cast.stop())

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

/** Answers every want with its block, one bit of it flipped, under the right prefix. */
function corrupting(blocks: readonly TestBlock[]): Answer {
  const all = byCid(blocks)
  return (_, cid) => {
    const { prefix, data } = all.get(cid) as TestBlock
    const flipped = Uint8Array.from(data)
    flipped[7] = (flipped[7] as number) ^ 1
    return [payload([{ prefix, data: flipped }])]
  }
}

describe('blocks that nobody asked for', () => {
  it('[F40] are not stored, and counted; one that was just cancelled is excused', async () => {
    const peer = await cast.ours()
    const pusher = await cast.raw()
    const stream = await openStream(await pusher.dial(address(peer)))
    const cancelled = block(1)
    const abort = new AbortController()
    const got = peer.get(cancelled.cid, { signal: abort.signal })
    await pusher.until(() => pusher.wanted().includes(cancelled.hex))
    abort.abort()
    await expect(got).rejects.toMatchObject({ code: 'ABORT_ERR' })
    await pusher.until((inbox) => inbox.some(({ entries }) => entries.some((entry) => entry.cancel)))
    await write(stream, payload([cancelled, cancelled]))
    const pushed = Array.from({ length: 1000 }, (_, index) => block(100 + index, 300))
    for (let from = 0; from < 1000; from += 100) await write(stream, payload(pushed.slice(from, from + 100)))
    await until(() => peer.stat().fetch.unaskedBlocks >= 1000)
    expect(peer.stat().fetch.unaskedBlocks).toBe(1000)
    expect(peer.stat().fetch.blocks).toBe(0)
    for (const { cid } of [cancelled, ...pushed]) expect(await peer.has(cid)).toBe(false)
    const [score] = peer.scores()
    expect(score).toMatchObject({ peer: pusher.id, score: 0, share: 0, counts: { badBlocks: 1000, hardFailures: 1 } })
    expect(score?.shutOutMs).toBeGreaterThan(23.9 * 3_600_000)
  })

  it('[F41] corrupt blocks from a lone peer end in a clear error, after a few tries', async () => {
    const peer = await cast.ours({ limits: { giveUpMs: 1500 } })
    const corrupt = await cast.raw()
    const wanted = Array.from({ length: 5 }, (_, index) => block(index))
    await answerWants(corrupt, address(peer), corrupting(wanted))
    const results = await Promise.allSettled(wanted.map(async ({ cid }) => peer.get(cid)))
    for (const result of results) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'ERR_NOT_FOUND' } })
      expect(String((result as PromiseRejectedResult).reason)).toContain('blocks that match no want')
    }
    expect(corrupt.wanted().length).toBeLessThanOrEqual(2 * wanted.length)
    for (const { cid } of wanted) expect(await peer.has(cid)).toBe(false)
  })

  it('[F41] beside a slow honest peer the corrupt one is dropped and the fetch ends', async () => {
    const peer = await cast.ours()
    const [corrupt, slow] = [await cast.raw(), await cast.raw()]
    const wanted = Array.from({ length: 40 }, (_, index) => block(index, 20_000))
    await answerWants(corrupt, address(peer), corrupting(wanted))
    await answerWants(slow, address(peer), honest(byCid(wanted)), 20)
    const all = await Promise.all(wanted.map(async ({ cid }) => peer.get(cid)))
    for (const [index, bytes] of all.entries()) expect(hex(bytes)).toBe(hex((wanted[index] as { data: Uint8Array }).data))
    const { fetch, peers } = peer.stat()
    expect(fetch.blocks).toBe(40)
    expect(peers.find((each) => each.peer === corrupt.id)?.blocks).toBe(0)
    // Three strikes, and what was in flight by then; not one wrong block for each want.
    expect(corrupt.wanted().length).toBeLessThan(wanted.length)
  })

  it('[F41] late blocks of old wants after a reconnect ban nobody', async () => {
    const peer = await cast.ours()
    const late = await cast.raw()
    const wanted = Array.from({ length: 5 }, (_, index) => block(index))
    const connection = await late.dial(address(peer))
    const abort = new AbortController()
    const gets = wanted.map(async ({ cid }) => peer.get(cid, { signal: abort.signal }))
    const settled = Promise.allSettled(gets)
    await late.until(() => new Set(late.wanted()).size === wanted.length)
    await connection.close()
    await until(() => peer.stat().connectedPeers === 0)
    abort.abort()
    await settled
    // It comes back with everything that it was once asked for, several times over.
    const again = block(50)
    await answerWants(late, address(peer), honest(byCid([again])))
    const stream = await openStream(late.connections[0] as Parameters<typeof openStream>[0])
    for (let time = 0; time < 3; time++) await write(stream, payload(wanted))
    expect(hex(await peer.get(again.cid))).toBe(hex(again.data))
    expect(peer.stat().fetch.unaskedBlocks).toBe(0)
  })
})
