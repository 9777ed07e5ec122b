import { setTimeout as sleep } from 'node:timers/promises'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { afterEach, describe, expect, it } from 'vitest'
import type { Peer, RegistryShellLimits } from '../../src/index.ts'
import { until } from '../support.ts'
import { bindingOf, Cast, connect, type Raw, seenBy } from './cast.ts'

const cast = new Cast()
afterEach(async () => await cast.stop())

/** Nothing is refilled while a test runs. */
const never = 10 * 60_000

/** A server with such limits, and somebody honest who has registered and is not connected yet. */
async function scene(shellLimits: Partial<RegistryShellLimits>): Promise<{ readonly server: Peer; readonly welcome: () => Promise<void> }> {
  const [server, honest] = [await cast.ours({ admission: { shellLimits } }), await cast.ours()]
  await honest.peer.register()
  const welcome = async (): Promise<void> => {
    await connect(honest.peer, server.peer)
    await until('the honest client is known', () => seenBy(server.peer, honest)?.owner === honest.id)
  }
  return { server: server.peer, welcome }
}

async function manyRecords(count: number): Promise<Uint8Array[]> {
  return await Promise.all(Array.from({ length: count }, async () => (await bindingOf(await generateKeyPair('Ed25519'))).bytes))
}

async function raws(count: number): Promise<Raw[]> {
  return await Promise.all(Array.from({ length: count }, async () => await cast.raw()))
}

describe('[I3][I16] whoever comes is known with the first frame', () => {
  it('when others have used up all frames that are taken', async () => {
    const { server, welcome } = await scene({ framesBurst: 100, allFramesBurst: 10, allFrameRefillMs: never })
    let told = 0
    for (const attacker of await raws(3)) {
      const connection = await attacker.dial(server)
      for (let frame = 0; frame < 20; frame++) {
        const answer = await attacker.tell(connection, {}).catch(() => undefined)
        if (answer !== undefined) told++
      }
    }
    // Each has the first of its connection for itself.
    expect(told).toBe(10 + 3)
    expect(server.admission().registry.refused).toEqual({ 'too-often': 60 - 13 })
    await welcome()
  })

  it('when others have used up all signatures that are looked at', async () => {
    const { server, welcome } = await scene({ allChecksBurst: 10, allCheckRefillMs: never })
    for (const attacker of await raws(3)) await attacker.tell(await attacker.dial(server), { records: await manyRecords(20) })
    expect(server.admission().registry).toMatchObject({ outcomes: { taken: 10 + 3 }, refused: { 'too-many': 60 - 13 } })
    await welcome()
  })

  it('when others are telling something without end: the oldest makes room', async () => {
    const { server, welcome } = await scene({ framesReadMax: 8, exchangeTimeoutMs: 60_000 })
    for (const attacker of await raws(5)) await attacker.hang(await attacker.dial(server), 4)
    await until('only so many are read', () => server.admission().registry.frames === 8)
    expect(server.admission().registry.refused).toEqual({ frame: 20 - 8 })
    await welcome()
  })
})

it('[I16] keys whose signatures take long to look at count for as much', async () => {
  const shellLimits = { allChecksBurst: 40, allCheckRefillMs: never }
  const [server, slow, quick] = [(await cast.ours({ admission: { shellLimits } })).peer, await cast.raw(), await cast.raw()]
  const records = await Promise.all(Array.from({ length: 32 }, async () => (await bindingOf(await generateKeyPair('secp256k1'))).bytes))
  await slow.tell(await slow.dial(server), { records })
  // Its first for nothing, as everybody's, the others at two each.
  expect(server.admission().registry).toMatchObject({ outcomes: { taken: 1 + 20 }, refused: { 'too-many': 11 } })
  const connection = await quick.dial(server)
  await quick.tell(connection, { records: await manyRecords(2) })
  expect(server.admission().registry).toMatchObject({ outcomes: { taken: 22 }, refused: { 'too-many': 12 } })
  // Behind the first frame of a connection they are not even read any more.
  await quick.tell(connection, { records })
  expect(server.admission().registry).toMatchObject({ outcomes: { taken: 22 }, refused: { 'too-many': 12 + 32 } })
})

it('[I3] a server that we dial learns who we are though many others take nothing that we tell them', async () => {
  const [client, server] = [await cast.ours({ admission: { shellLimits: { exchangeTimeoutMs: 60_000 } } }), await cast.ours()]
  await client.peer.register()
  for (const deaf of await raws(70)) {
    await deaf.ignore()
    await deaf.dial(client.peer)
  }
  await until('all slots are taken', () => client.peer.admission().registry.frames >= 70)
  await connect(client.peer, server.peer)
  await until('the client is known', () => seenBy(server.peer, client)?.owner === client.id)
  expect(seenBy(server.peer, client)?.decision.action).toBe('admit')
})

it('[I5] who gives up connecting waits for nobody that does not say whether it knows us: a visit ends with the node', async () => {
  const [client, server] = [
    await cast.ours({ admission: { shellLimits: { knownTimeoutMs: 600_000, exchangeTimeoutMs: 600_000 } } }),
    await cast.raw()
  ]
  await client.peer.register()
  await server.ignore()
  // As a server that we are going to ask.
  await server.libp2p.handle('/ipfs/bitswap/1.2.0', () => undefined)
  const { remoteAddr } = await server.dial(client.peer)
  await until('it is being told', () => client.peer.admission().registry.frames > 0)
  const giveUp = new AbortController()
  const connecting = client.peer.connect(remoteAddr.decapsulate('/p2p').encapsulate(`/p2p/${server.id}`), { signal: giveUp.signal })
  // By then it waits to be known.
  await sleep(100)
  giveUp.abort(new Error('given up'))
  await expect(connecting).rejects.toThrow('given up')
  await expect(client.peer.connect(remoteAddr, { signal: giveUp.signal })).rejects.toThrow('given up')
})
