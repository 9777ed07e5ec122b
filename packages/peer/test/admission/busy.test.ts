import { afterEach, describe, expect, it } from 'vitest'
import type { Peer } from '../../src/index.ts'
import { rawBlock, rawBlocks, until } from '../support.ts'
import { Cast, connect, seenBy } from './cast.ts'

const cast = new Cast()
afterEach(async () => await cast.stop())

/** Serves nobody but those who have an owner. */
const registeredOnly = { mode: 'registered', limits: { freeScoreRequests: 0 } } as const

function countsAt(peer: Peer, other: { readonly id: string }): { readonly brokenHaves: number; readonly refused: number } | undefined {
  return peer.scores().find((score) => score.peer === other.id)?.counts
}

describe('[I14] a server that has no room', () => {
  it('tells a client of ours that it is busy before it denies, which costs the server no score', async () => {
    const blocks = rawBlocks(20)
    const [refusing, serving, client] = [await cast.ours({ admission: registeredOnly }), await cast.ours(), await cast.ours()]
    for (const { cid, bytes } of blocks) for (const { peer } of [refusing, serving]) await peer.put(cid, bytes)
    await connect(client.peer, refusing.peer)
    await until('the stranger is known as one', () => seenBy(refusing.peer, client)?.client === client.id)
    expect(seenBy(refusing.peer, client)?.decision).toEqual({ action: 'refuse', reason: 'low-free-score' })
    const first = client.peer.get(blocks[0]!.cid, { timeoutMs: 20_000 })
    await until('it was refused', () => (countsAt(client.peer, refusing)?.refused ?? 0) > 0)
    expect(client.peer.stat().peers.find(({ peer }) => peer === refusing.id)?.depth).toBe(1)
    await connect(client.peer, serving.peer)
    expect(await first).toEqual(blocks[0]!.bytes)
    for (const { cid, bytes } of blocks) expect(await client.peer.get(cid, { timeoutMs: 20_000 })).toEqual(bytes)
    expect(countsAt(client.peer, refusing)).toMatchObject({ brokenHaves: 0 })
  })

  it('is believed for so long at most, whatever it says', async () => {
    const [client, liar] = [await cast.ours({ admission: { shellLimits: { busyMaxMs: 500 } } }), await cast.ours()]
    await connect(client.peer, liar.peer)
    const raw = await cast.raw(liar.key)
    const connection = await raw.dial(client.peer)
    const depth = (): number | undefined => client.peer.stat().peers.find(({ peer }) => peer === liar.id)?.depth
    await raw.tell(connection, { busyMs: 1e12 })
    expect(depth()).toBe(1)
    // Time alone changes nothing that is not looked at: a want is.
    await until('it is busy no longer', () => {
      client.peer.get(rawBlock('asked').cid, { timeoutMs: 50 }).catch(() => undefined)
      return depth() === 0
    })
    expect(depth()).toBe(0)
  })
})
