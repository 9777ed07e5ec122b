import { createPeer } from '@shardswap/peer'
import { CID } from 'multiformats/cid'
import { expect, onTestFinished, test } from 'vitest'
import { newDaemon, urlOf } from './setup.ts'

const nowhere = 'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy'

test('[F87] what times out says what came by then, and who could be asked: here and over the API', async () => {
  const daemon = await newDaemon()
  const other = await createPeer()
  onTestFinished(async () => await other.stop())
  await daemon.node.swarmConnect(other.addresses()[0] ?? '')
  const far = /blocks that came: 0; peers connected: 1; DONT_HAVE: \d+$/
  const signal = AbortSignal.timeout(300)
  await expect(daemon.node.blockGet(CID.parse(nowhere), { signal, patient: true })).rejects.toMatchObject({
    name: 'TimeoutError',
    code: 'ERR_TIMEOUT',
    message: expect.stringMatching(far) as string
  })
  const response = await fetch(`${urlOf(daemon)}/block/get?arg=${nowhere}&timeout=300ms`, { method: 'POST' })
  expect(response.status).toBe(500)
  expect(await response.json()).toMatchObject({
    ErrorCode: 'ERR_TIMEOUT',
    Message: expect.stringMatching(new RegExp(`^request timed out: no full answer within 300 ms; ${far.source}`)) as string
  })
})
