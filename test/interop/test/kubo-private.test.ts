/** A private network of Kubo's and of our peers, by one swarm.key. */
import { createHash, randomBytes } from 'node:crypto'
import { CID } from 'multiformats/cid'
import * as Digest from 'multiformats/hashes/digest'
import { createPeer, type Peer } from '@shardswap/peer'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { kuboAvailable, kuboBuildMs } from '../src/build-kubo.ts'
import { type KuboNode, startKubo } from '../src/kubo.ts'

function newKey(encoding: 'base16' | 'base64' = 'base16'): string {
  const key = randomBytes(32)
  return `/key/swarm/psk/1.0.0/\n/${encoding}/\n${key.toString(encoding === 'base16' ? 'hex' : 'base64')}\n`
}

interface RawBlock {
  readonly cid: CID
  readonly bytes: Uint8Array
}

function rawBlocks(count: number): RawBlock[] {
  return Array.from({ length: count }, () => {
    const bytes = new Uint8Array(randomBytes(1024 * 1024))
    return { bytes, cid: CID.createV1(0x55, Digest.create(0x12, createHash('sha256').update(bytes).digest())) }
  })
}

async function peerWith(swarmKey: string | undefined, blocks: readonly RawBlock[] = []): Promise<Peer> {
  const peer = await createPeer(swarmKey === undefined ? {} : { swarmKey })
  onTestFinished(async () => await peer.stop())
  for (const { cid, bytes } of blocks) await peer.put(cid, bytes)
  return peer
}

describe.runIf(kuboAvailable(import.meta.filename))('a private network with Kubo', () => {
  // In the encoding that is rarer, and for Kubo with CRLF: both must read it alike.
  const swarmKey = newKey('base64')
  let kubo: KuboNode
  let address: string

  beforeAll(async () => {
    kubo = await startKubo({ swarmKey: swarmKey.replaceAll('\n', '\r\n') })
    address = (await kubo.addresses())[0] ?? ''
    return async () => await kubo.stop()
  }, kuboBuildMs)

  test('[F28] 12 MiB go from Kubo to us, and 12 MiB from us to Kubo', { timeout: 60_000 }, async () => {
    const [theirs, ours] = [rawBlocks(12), rawBlocks(12)]
    for (const { cid, bytes } of theirs) await kubo.putBlock(cid.toString(), bytes)
    const peer = await peerWith(swarmKey, ours)
    await peer.connect(address)
    for await (const { cid, bytes } of peer.getMany(theirs.map((block) => block.cid))) {
      expect(Buffer.compare(bytes, theirs.find((block) => block.cid.equals(cid))?.bytes ?? new Uint8Array())).toBe(0)
    }
    for (const { cid, bytes } of ours) expect(Buffer.compare(await kubo.getBlock(cid.toString(), { timeoutMs: 20_000 }), bytes)).toBe(0)
  })

  test('[F67] with another key, or none, neither of us connects to the other, and our error says why', { timeout: 60_000 }, async () => {
    const [other, none] = [await peerWith(newKey()), await peerWith(undefined)]
    await expect(other.connect(address)).rejects.toThrow(/swarm\.key/)
    await expect(none.connect(address, { signal: AbortSignal.timeout(15_000) })).rejects.toThrow(/./)
    await expect(kubo.connect(other.addresses()[0] ?? '')).rejects.toThrow(/failure/)
    expect([...other.connections(), ...none.connections()]).toEqual([])
  })
})
