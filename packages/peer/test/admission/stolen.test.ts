import { generateKeyPair } from '@libp2p/crypto/keys'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { peerKey } from '@shardswap/interface'
import { clientKey } from '@shardswap/server'
import { afterEach, expect, it } from 'vitest'
import { signBinding, signRevocation } from '../../src/admission/signed-record.ts'
import { until } from '../support.ts'
import { bindingOf, Cast, connect, dayMs, seenBy } from './cast.ts'

const cast = new Cast()
afterEach(async () => await cast.stop())

it('[I3][I16] a revoked binding that is shown to who never heard of it is over as soon as it is told on', async () => {
  // Among hundreds of records two are told at a time: by chance the revocation would come last.
  const shellLimits = { tellMs: 100, frameRecordsMax: 2, framesBurst: 1000, checksBurst: 2000 }
  const [knowing, fresh] = [await cast.ours({ admission: { shellLimits } }), await cast.ours({ admission: { shellLimits } })]
  const [owner, stolen] = [await generateKeyPair('Ed25519'), await generateKeyPair('Ed25519')]
  const [thief, crowd] = [await cast.raw(stolen), await cast.raw()]
  const said = { client: clientKey(thief.id), expiresMs: Date.now() + dayMs }
  const old = await signBinding({
    ...said,
    owner,
    client: stolen,
    server: peerKey(peerIdFromPrivateKey(owner)),
    claim: undefined,
    sequence: 1
  })
  const revocation = await signRevocation(owner, { ...said, sequence: 2 })
  const records = await Promise.all(Array.from({ length: 600 }, async () => (await bindingOf(await generateKeyPair('Ed25519'))).bytes))
  const connection = await crowd.dial(knowing.peer)
  for (const { bytes } of [old, revocation]) await crowd.tell(connection, { records: [bytes] })
  for (let at = 0; at < records.length; at += 2) await crowd.tell(connection, { records: records.slice(at, at + 2) })
  expect(knowing.peer.admission().registry).toMatchObject({ records: 601, servers: 600 })

  expect(await thief.tell(await thief.dial(fresh.peer), { records: [old.bytes], client: thief.id })).toEqual({
    owner: peerIdFromPrivateKey(owner).toString()
  })
  await connect(fresh.peer, knowing.peer)
  await until('the revocation has come', () => seenBy(fresh.peer, thief)?.owner === undefined)
  expect(seenBy(fresh.peer, thief)?.decision.reason).toBe('free')
})
