import type { Block } from '@shardswap/interface'
import { afterEach, describe, expect, it } from 'vitest'
import type { Peer } from '../../src/index.ts'
import { rawBlock, rawBlocks, until } from '../support.ts'
import { block, type TestBlock } from '../wire/cast.ts'
import { openStream, write } from '../wire/raw.ts'
import { concat, hex, payload } from '../wire/bytes.ts'
import { multiaddr } from '@multiformats/multiaddr'
import { type Pair, type Relay } from './relay.ts'
import { cidsOf, Scene, wantsAt } from './scene.ts'

const scene = new Scene()
afterEach(async () => await scene.stop())

/** Numbers from 0 to 1, the same at each run. */
function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** Destroys the socket of the writing end once so many bytes more have passed; what is over is lost. */
function cutAfter(pair: Pair, bytes: number, which: 'near' | 'both'): void {
  let left = bytes
  pair.up.onBytes = (data) => {
    left -= data.byteLength
    if (left > 0) return data
    setImmediate(() => pair.cut(which))
    return data.subarray(0, Math.max(0, data.byteLength + left))
  }
}

async function dialTwice(from: Peer, relay: Relay): Promise<[Pair, Pair]> {
  await from.connect(relay.address)
  const first = relay.last
  await from.libp2p.dial(multiaddr(relay.address), { force: true })
  const second = relay.last
  await until('there are two connections', () => from.libp2p.getConnections().length === 2)
  return [first, second]
}

describe('connections that go and come back', () => {
  it('[F01] a want outlives a cut at any byte and a redial at once, 50 times of 50', async () => {
    // The caller alone dials again, at the moment that the test says.
    const ours = await scene.patient({ limits: { redialTriesMax: 0 } })
    const provider = await scene.patient()
    const relay = await scene.relay(provider)
    await ours.connect(relay.address)
    const next = dice(1)
    const took = { disturbed: 0, undisturbed: 0 }
    const putAndGot = async ({ cid, bytes }: Block, got: Promise<Uint8Array>): Promise<number> => {
      const startMs = performance.now()
      await provider.put(cid, bytes)
      expect(await got).toEqual(bytes)
      return performance.now() - startMs
    }
    for (let run = 0; run < 50; run++) {
      const [late, calm, ...rest] = rawBlocks(22, 100, `${run} `) as [Block, Block, ...Block[]]
      const session = ours.createSession()
      const got = session.get(late.cid, { timeoutMs: 20_000 })
      const others = Promise.allSettled(rest.map(async ({ cid }) => await session.get(cid)))
      cutAfter(relay.last, 1 + Math.floor(next() * 1000), 'both')
      await until('the cut is seen', () => ours.stat().connectedPeers === 0)
      await ours.connect(relay.address)
      // All of it: what was sent before the cut, and what was not.
      await until('the full list is there', () => wantsAt(provider, ours) === 21)
      took.disturbed += await putAndGot(late, got)
      const calmGot = session.get(calm.cid, { timeoutMs: 20_000 })
      await until('the want of what no cut disturbs is there', () => wantsAt(provider, ours) === 21)
      took.undisturbed += await putAndGot(calm, calmGot)
      session.close()
      await others
      await until('the rest was cancelled', () => wantsAt(provider, ours) === 0)
    }
    expect(ours.stat().fetch).toMatchObject({ blocks: 100, unaskedBlocks: 0 })
    // The report's two seconds are hundreds of times what a put takes to arrive: after a cut it takes what it takes without.
    expect(took.disturbed).toBeLessThan(5 * took.undisturbed)
  }, 60_000)

  it('[F01] a want outlives a cut of which the far end hears only after the redial', async () => {
    // Answers that the far end writes to the old connection are lost: these wants are told again after their time.
    const ours = await scene.ours({ limits: { askAgainMs: 600_000, redialTriesMax: 0 } })
    const provider = await scene.patient()
    const relay = await scene.relay(provider)
    await ours.connect(relay.address)
    for (let run = 0; run < 5; run++) {
      const [late, ...rest] = rawBlocks(21, 100, `${run} `) as [Block, ...Block[]]
      const session = ours.createSession()
      const got = session.get(late.cid, { timeoutMs: 20_000 })
      const others = Promise.allSettled(rest.map(async ({ cid }) => await session.get(cid)))
      const old = relay.last
      cutAfter(old, 300 * (run + 1), 'near')
      await until('the cut is seen', () => ours.stat().connectedPeers === 0)
      await ours.connect(relay.address)
      await until('the provider has both', () => provider.libp2p.getConnections().length === 2)
      await until('our side told it anew', () => wantsAt(provider, ours) > 0)
      old.far.destroy()
      await provider.put(late.cid, late.bytes)
      expect(await got).toEqual(late.bytes)
      session.close()
      await others
    }
    expect(ours.stat().fetch).toMatchObject({ blocks: 5, unaskedBlocks: 0 })
  }, 60_000)

  it.each(['first', 'second'] as const)(
    '[F04] the end of the %s of two connections, at the far side only, forgets no want',
    async (which) => {
      const ours = await scene.patient()
      const provider = await scene.patient()
      const relay = await scene.relay(provider)
      const [first, second] = await dialTwice(ours, relay)
      await until('the provider has both', () => provider.libp2p.getConnections().length === 2)
      const late = rawBlocks(20, 1000, 'late')
      const got = Promise.all(late.map(async ({ cid }) => await ours.get(cid, { timeoutMs: 20_000 })))
      await until('the wants stand', () => wantsAt(provider, ours) === 20)
      const pair = which === 'first' ? first : second
      pair.cut('far')
      await until('the far side has one left', () => provider.libp2p.getConnections().length === 1)
      expect(ours.libp2p.getConnections()).toHaveLength(2)
      for (const { cid, bytes } of late) await provider.put(cid, bytes)
      expect(await got).toHaveLength(20)
    }
  )

  it('[F04] the provider closing one of two connections in good order forgets no want', async () => {
    const ours = await scene.patient()
    const provider = await scene.patient()
    const relay = await scene.relay(provider)
    await dialTwice(ours, relay)
    await until('the provider has both', () => provider.libp2p.getConnections().length === 2)
    const late = rawBlock('late')
    const got = ours.get(late.cid, { timeoutMs: 20_000 })
    await until('the want stands', () => wantsAt(provider, ours) === 1)
    await provider.libp2p.getConnections()[0]?.close()
    await until('our side has one left', () => ours.libp2p.getConnections().length === 1)
    await provider.put(late.cid, late.bytes)
    expect(await got).toEqual(late.bytes)
  })

  it('[F05] blocks that were written to a connection which then dies are sent again', async () => {
    // No deadline helps: that the stream went is reason enough.
    const ours = await scene.patient()
    const provider = await scene.patient()
    // Together less than the window of a new stream, so that all of it can be on its way.
    const all = rawBlocks(8, 20_000, 'lost')
    for (const { cid, bytes } of all) await provider.put(cid, bytes)
    const relay = await scene.relay(provider)
    const pairs = await dialTwice(ours, relay)
    const warm = rawBlock('warm')
    await provider.put(warm.cid, warm.bytes)
    await ours.get(warm.cid, { timeoutMs: 20_000 })
    const before = pairs.map(({ down }) => down.bytes)
    for (const { down } of pairs) down.hold()
    const got = Promise.all(cidsOf(all).map(async (cid) => await ours.get(cid, { timeoutMs: 25_000 })))
    await until('all are written', () => provider.stat().serve.blocksSent >= 9)
    // Its answers are on the connection that our wants came on, or on both; the one with most of them dies.
    const came = pairs.map(({ down }, index) => down.bytes - (before[index] ?? 0))
    const dead = pairs[came.indexOf(Math.max(...came))]
    dead?.cut('both')
    for (const pair of pairs) if (pair !== dead) pair.down.letGo()
    expect(await got).toEqual(all.map(({ bytes }) => bytes))
    expect(ours.stat().connectedPeers).toBe(1)
  })

  it('[F05] a want whose answer is lost, while the peer stays connected, is told again within a bounded time', async () => {
    const ours = await scene.ours()
    const raw = await scene.raw()
    const wanted: TestBlock = block(1)
    const address = ours.addresses()[0] ?? ''
    const first = await raw.dial(address)
    const second = await raw.dial(address, true)
    await until('there are two connections', () => ours.libp2p.getConnections().length === 2)
    const got = ours.get(wanted.cid, { timeoutMs: 25_000 })
    await raw.until(() => raw.wanted().includes(wanted.hex))
    // It begins its answer on the connection that our want did not come on, and loses it.
    const lost = raw.inbound[0] !== undefined && first.streams.includes(raw.inbound[0]) ? second : first
    const answer = payload([wanted])
    await write(await openStream(lost), answer.subarray(0, answer.length - 1))
    lost.abort(new Error('lost by the test'))
    await raw.until(() => raw.wanted().filter((cid) => cid === wanted.hex).length >= 2)
    await write(await openStream(lost === first ? second : first), concat(answer))
    expect(hex(await got)).toBe(hex(wanted.data))
  })
})
