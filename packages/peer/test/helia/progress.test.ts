import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { progressEvent } from '../../src/fetch/progress.ts'
import { heliaProgress } from '../../src/helia/progress.ts'
import type { HeliaProgress } from '../../src/helia/types.ts'
import { rawBlock } from '../support.ts'

const { cid } = rawBlock('told')
const peer = '12D3KooWCizaGVPEo9SQQrpEV7DdhV2W8336W2M3dtvahAwm8jaU'
const address = multiaddr('/ip4/192.0.2.1/tcp/4001')

test("each of our events is told, and Helia's where it has one that says the same", () => {
  const told: HeliaProgress[] = []
  const tell = heliaProgress('bitswap', (event) => told.push(event))
  tell(progressEvent('shardswap:find-providers', { cid }))
  tell(progressEvent('shardswap:provider', { cid, peer }))
  tell(progressEvent('shardswap:connect', { cid, peer }))
  tell(progressEvent('shardswap:connected', { cid, peer, address }))
  // Whether a peer has the block is no request for it.
  tell(progressEvent('shardswap:want', { cid, peer, wantType: 'have' }))
  tell(progressEvent('shardswap:dont-have', { cid, peer }))
  tell(progressEvent('shardswap:want', { cid, peer, wantType: 'block' }))
  tell(progressEvent('shardswap:timeout', { cid, peer }))
  tell(progressEvent('shardswap:block', { cid, peer, bytes: 1024 }))
  const theirs = told.filter(({ type }) => type.startsWith('helia:'))
  expect(told.length - theirs.length).toBe(9)
  expect(theirs.map(({ type }) => type)).toEqual(
    ['connect', 'connected', 'request-block', 'receive-block'].map((type) => `helia:block-broker:${type}`)
  )
  expect(theirs[1]?.detail).toMatchObject({ broker: 'bitswap', type: 'connected', cid, address })
  for (const { detail } of theirs) expect(detail).toHaveProperty('provider')
})
