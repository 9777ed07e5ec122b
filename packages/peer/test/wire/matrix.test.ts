import type { Stream } from '@libp2p/interface'
import { CID } from '@shardswap/interface'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPeer } from '../../src/index.ts'
import type { Peer } from '../../src/index.ts'
import { hex, rawCid, rawPrefix, seeded, sha256, v0Cid, wantlist } from './bytes.ts'
import type { Entry } from './bytes.ts'
import { ids, openStream, RawPeer, write } from './raw.ts'
import type { Version } from './raw.ts'

// What Go's server answers on each version: 1.1.0 has presences too, 1.0.0 and
// the unversioned one have blocks without prefix and nothing else.
const versions: readonly Version[] = ['1.2.0', '1.1.0', '1.0.0', 'unversioned']

let seed = 1

function isOld(version: Version): boolean {
  return version === '1.0.0' || version === 'unversioned'
}

function blockText(version: Version, bytes: Uint8Array, prefix = hex(rawPrefix)): string {
  return isOld(version) ? `old-block ${hex(sha256(bytes))}` : `block ${prefix} ${hex(sha256(bytes))}`
}

for (const version of versions) {
  const old = isOld(version)
  const block = (bytes: Uint8Array): string => blockText(version, bytes)
  const presence = (have: boolean, cid: Uint8Array): string[] => (old ? [] : [`${have ? 'have' : 'dont-have'} ${hex(cid)}`])
  describe(`answers on ${ids[version]}`, () => {
    let peer: Peer
    let raw: RawPeer
    let stream: Stream

    beforeAll(async () => {
      peer = await createPeer({ listen: ['/ip4/127.0.0.1/tcp/0'] })
      raw = await RawPeer.start([version])
      stream = await openStream(await raw.dial(peer.addresses()[0] as string), version)
    })
    afterAll(async () => {
      await raw.stop()
      await peer.stop()
    })

    const put = async (bytes: Uint8Array): Promise<void> => peer.put(CID.decode(rawCid(bytes)), bytes)
    /** What came since `from`, up to the answer to a want that is sent last: silence needs no clock. */
    async function answersSince(from: number): Promise<string[]> {
      const last = seeded(seed++, 40)
      await put(last)
      await write(stream, wantlist([{ cid: rawCid(last) }]))
      await raw.until(() => raw.answers().includes(block(last)))
      return raw
        .answers()
        .slice(from)
        .filter((text) => text !== block(last))
    }

    async function ask(...entries: readonly Entry[]): Promise<string[]> {
      const from = raw.answers().length
      await write(stream, wantlist(entries))
      return answersSince(from)
    }

    for (const have of [false, true]) {
      for (const sendDontHave of [false, true]) {
        const kind = `want-${have ? 'have' : 'block'}${sendDontHave ? ' with sendDontHave' : ''}`

        it(`${kind} for a block that is here`, async () => {
          const bytes = seeded(seed++, 2000)
          await put(bytes)
          const cid = rawCid(bytes)
          expect(await ask({ cid, have, sendDontHave })).toEqual(have ? presence(true, cid) : [block(bytes)])
        })

        it(`${kind} for a block of 1,024 bytes that is here`, async () => {
          const bytes = seeded(seed++, 1024)
          await put(bytes)
          expect(await ask({ cid: rawCid(bytes), have, sendDontHave })).toEqual([block(bytes)])
        })

        it(`${kind} for a block that is missing, and comes later`, async () => {
          const bytes = seeded(seed++, 2000)
          const cid = rawCid(bytes)
          expect(await ask({ cid, have, sendDontHave })).toEqual(sendDontHave ? presence(false, cid) : [])
          const from = raw.answers().length
          await put(bytes)
          expect(await answersSince(from)).toEqual(have ? presence(true, cid) : [block(bytes)])
        })

        it(`${kind} for a block that is missing, cancelled before it comes`, async () => {
          const bytes = seeded(seed++, 2000)
          const cid = rawCid(bytes)
          await ask({ cid, have, sendDontHave })
          expect(await ask({ cid, cancel: true, priority: 0 })).toEqual([])
          const from = raw.answers().length
          await put(bytes)
          expect(await answersSince(from)).toEqual([])
        })
      }
    }

    it('a want by another CID of the same block is answered by that CID', async () => {
      const bytes = seeded(seed++, 2000)
      await put(bytes)
      expect(await ask({ cid: v0Cid(bytes) })).toEqual([blockText(version, bytes, '00701220')])
    })

    it('a want with a cancel in one message is a cancel', async () => {
      const bytes = seeded(seed++, 2000)
      const cid = rawCid(bytes)
      await put(bytes)
      expect(await ask({ cid }, { cid, cancel: true }, { cid })).toEqual([])
    })

    it('every message has a wantlist, and comes on a stream of this version', () => {
      expect(raw.inbox.length).toBeGreaterThan(0)
      for (const message of raw.inbox) {
        expect(message).toMatchObject({ hasWantlist: true, ...(old ? { pendingBytes: undefined } : {}) })
      }
      for (const stream of raw.inbound) expect(stream.protocol).toBe(ids[version])
    })
  })
}
