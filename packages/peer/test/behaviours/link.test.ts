import { UnsupportedProtocolError } from '@libp2p/interface'
import { blockKey } from '@shardswap/interface'
import { expect, it } from 'vitest'
import { PeerLink } from '../../src/network/link.ts'
import { rawBlock, until } from '../support.ts'

/** A link to a peer to which no stream can be opened, with one want to tell it; counts what becomes of that. */
function linkThatFails(error: Error): { link: PeerLink; opened: () => number; unreachable: readonly Error[] } {
  const { cid } = rawBlock('wanted')
  const unreachable: Error[] = []
  let opened = 0
  const link = new PeerLink(
    {
      open: async () => {
        opened += 1
        throw error
      },
      onVersion: () => undefined,
      standing: () => [{ cid, key: blockKey(cid), wantType: 'block' }],
      onUnreachable: (failure) => unreachable.push(failure),
      onSaid: () => undefined,
      nowMs: () => performance.now()
    },
    { openStreamTimeoutMs: 60_000, openStreamTriesMax: 3 }
  )
  link.want(cid, blockKey(cid), 'block')
  link.flush()
  return { link, opened: () => opened, unreachable }
}

it('a peer to which no stream can be opened has several tries, and is given up once', async () => {
  const { link, opened, unreachable } = linkThatFails(new Error('reset'))
  await until('it has failed once', () => opened() === 1)
  expect(unreachable).toEqual([])
  await until('it is given up', () => unreachable.length > 0)
  expect(opened()).toBe(3)
  expect(unreachable).toHaveLength(1)
  link.close()
})

it('a peer that does not speak the protocol has one try', async () => {
  const { link, opened, unreachable } = linkThatFails(new UnsupportedProtocolError())
  await until('it is given up', () => unreachable.length > 0)
  expect(opened()).toBe(1)
  link.close()
})
