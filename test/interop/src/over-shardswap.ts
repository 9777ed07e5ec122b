/** One list of what Helia's own packages do over `withShardswap`, for every implementation that provides. */
import { car } from '@helia/car'
import { dagCbor } from '@helia/dag-cbor'
import { json } from '@helia/json'
import { unixfs } from '@helia/unixfs'
import { createVerifiedFetch } from '@helia/verified-fetch'
import { CarReader } from '@ipld/car'
import * as dagCborCodec from '@ipld/dag-cbor'
import { type WithExchange, withShardswap } from '@shardswap/peer'
import { multiaddr } from '@multiformats/multiaddr'
import { CID } from 'multiformats/cid'
import * as jsonCodec from 'multiformats/codecs/json'
import { sha256 } from 'multiformats/hashes/sha2'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { contentOf, mebibyte, sha256Of, type DirectorySpec, type FileSpec } from './content.ts'
import { quietHelia, type QuietHelia } from './helia-node.ts'
import type { RunningNode } from './node-api.ts'

export interface OverShardswapInit {
  readonly serves: string
  start(): Promise<RunningNode>
  /** How long `start` may take, in milliseconds. */
  readonly startMs?: number
}

const file: FileSpec = { bytes: 3 * mebibyte, seed: 71, cidVersion: 1, rawLeaves: true }
const directory: DirectorySpec = { names: 'plain', count: 30 }
const value = { name: 'shardswap', list: [1, 2, 3], nested: { yes: true } }

type Node = QuietHelia & WithExchange

/** A Helia with our exchange, started, that is stopped with the test. */
async function started(): Promise<Node> {
  const helia = await withShardswap(quietHelia()).start()
  onTestFinished(async () => {
    await helia.stop()
  })
  return helia
}

async function addressOf(node: RunningNode): Promise<string> {
  const [address = ''] = await node.addresses()
  return address
}

async function put(node: RunningNode, code: number, bytes: Uint8Array): Promise<CID> {
  const cid = CID.createV1(code, await sha256.digest(bytes))
  await node.putBlock(cid.toString(), bytes)
  return cid
}

/** Declares the list for one provider. */
export function describeOverShardswap(init: OverShardswapInit): void {
  describe(`${init.serves} serves, Helia's packages read over withShardswap`, () => {
    let provider: RunningNode
    let helia: Node
    beforeAll(async () => {
      provider = await init.start()
    }, init.startMs ?? 60_000)
    afterAll(async () => {
      await provider.stop()
    })
    beforeEach(async () => {
      helia = await started()
      await helia.libp2p.dial(multiaddr(await addressOf(provider)))
    })

    test('@helia/unixfs reads a file and a directory', async () => {
      const fs = unixfs(helia)
      const cid = CID.parse(await provider.addFile(file))
      expect(sha256Of(await Array.fromAsync(fs.cat(cid)))).toBe(sha256Of(contentOf(file)))
      const part = await Array.fromAsync(fs.cat(cid, { offset: mebibyte, length: 1000 }))
      expect(Buffer.concat(part).equals(Buffer.concat(Array.from(contentOf(file))).subarray(mebibyte, mebibyte + 1000))).toBe(true)
      const root = CID.parse(await provider.addDirectory(directory))
      expect(await Array.fromAsync(fs.ls(root))).toHaveLength(directory.count)
      const { fetch } = helia.shardswap.stat()
      expect(fetch.blocks).toBeGreaterThan(12)
      expect(fetch.duplicateBlocks).toBe(0)
    })

    test('@helia/car exports what it fetches, and imports it elsewhere', async () => {
      const cid = CID.parse(await provider.addFile({ ...file, seed: 72 }))
      const bytes = Buffer.concat(await Array.fromAsync(car(helia).export(cid)))
      const other = await started()
      await car(other).import(await CarReader.fromBytes(bytes))
      const offline = unixfs(other).cat(cid, { offline: true })
      expect(sha256Of(await Array.fromAsync(offline))).toBe(sha256Of(contentOf({ ...file, seed: 72 })))
      expect(other.shardswap.stat().fetch.wantsSent).toBe(0)
    })

    test('@helia/json and @helia/dag-cbor read objects', async () => {
      const [asJson, asCbor] = await Promise.all([
        put(provider, jsonCodec.code, jsonCodec.encode(value)),
        put(provider, dagCborCodec.code, dagCborCodec.encode(value))
      ])
      expect(await json(helia).get(asJson)).toEqual(value)
      expect(await dagCbor(helia).get(asCbor)).toEqual(value)
      expect(await dagCbor(helia).get(await dagCbor(helia).add({ own: 'object' }))).toEqual({ own: 'object' })
    })

    sessionTests(
      () => helia,
      () => provider
    )
  })
}

function sessionTests(helia: () => Node, provider: () => RunningNode): void {
  test('@helia/verified-fetch answers from its sessions, and a session outlives the request that opened it', async () => {
    const cid = CID.parse(await provider().addFile({ ...file, seed: 73 }))
    const fetch = await createVerifiedFetch(helia())
    onTestFinished(async () => {
      await fetch.stop()
    })
    const request = new AbortController()
    const first = await fetch(`ipfs://${cid.toString()}`, { signal: request.signal, headers: { range: 'bytes=0-99' } })
    expect(first.status).toBe(206)
    expect((await first.arrayBuffer()).byteLength).toBe(100)
    request.abort()
    const whole = await fetch(`ipfs://${cid.toString()}`)
    expect(whole.status).toBe(200)
    expect(sha256Of([new Uint8Array(await whole.arrayBuffer())])).toBe(sha256Of(contentOf({ ...file, seed: 73 })))
  })

  test('two sessions read one file, the second not a byte twice', async () => {
    const cid = CID.parse(await provider().addFile({ ...file, seed: 74 }))
    const read = async (): Promise<string> => {
      const session = helia().blockstore.createSession(cid)
      return sha256Of(await Array.fromAsync(unixfs({ ...helia(), blockstore: session }).cat(cid)))
    }
    const expected = sha256Of(contentOf({ ...file, seed: 74 }))
    expect(await Promise.all([read(), read()])).toEqual([expected, expected])
    expect(helia().shardswap.stat().fetch).toMatchObject({ duplicateBlocks: 0 })
  })
  test('a reader who gives up in the middle leaves nothing behind, and the next has the whole file', async () => {
    const spec = { ...file, bytes: 16 * mebibyte, seed: 75 }
    const cid = CID.parse(await provider().addFile(spec))
    const abort = new AbortController()
    const reading = async (): Promise<void> => {
      for await (const _ of unixfs(helia()).cat(cid, { signal: abort.signal })) abort.abort()
    }
    await expect(reading()).rejects.toBeInstanceOf(Error)
    await vi.waitFor(() => expect(helia().shardswap.gauges()).toMatchObject({ blocksAwaited: 0, wants: 0, wantsAtPeers: 0 }), 20_000)
    expect(sha256Of(await Array.fromAsync(unixfs(helia()).cat(cid)))).toBe(sha256Of(contentOf(spec)))
  })

  test('a node that knows nobody reads from a provider that it is given, and offline asks nobody', async () => {
    const spec = { ...file, seed: 76 }
    const cid = CID.parse(await provider().addFile(spec))
    const alone = await started()
    await expect(Array.fromAsync(unixfs(alone).cat(cid, { offline: true }))).rejects.toBeInstanceOf(Error)
    expect(alone.shardswap.stat().fetch.wantsSent).toBe(0)
    const providers = [multiaddr(await addressOf(provider()))]
    expect(sha256Of(await Array.fromAsync(unixfs(alone).cat(cid, { providers })))).toBe(sha256Of(contentOf(spec)))
    expect(sha256Of(await Array.fromAsync(unixfs(alone).cat(cid, { offline: true })))).toBe(sha256Of(contentOf(spec)))
  })
}
