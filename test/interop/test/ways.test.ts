/** Field reports that whoever uses a peer could notice, in each way in which one is used. */
import { getEventListeners } from 'node:events'
import { createServer } from 'node:net'
import { add } from '@shardswap/content'
import { createPeer, type Peer, type PeerLimits } from '@shardswap/peer'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { sha256, sha512 } from 'multiformats/hashes/sha2'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Used, ways } from '../src/ways.ts'

interface TestBlock {
  readonly cid: CID
  readonly bytes: Uint8Array
}

async function blockOf(text: string | Uint8Array): Promise<TestBlock> {
  const bytes = Uint8Array.from(Buffer.from(text))
  return { bytes, cid: CID.createV1(0x55, await sha256.digest(bytes)) }
}

async function newProvider(): Promise<Peer> {
  const peer = await createPeer()
  onTestFinished(async () => await peer.stop())
  return peer
}

/** Pseudo-random bytes, the same at each run. */
function someBytes(length: number, seed: number): Uint8Array {
  let state = seed
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state >>> 24
  })
}

async function addFile(peer: Peer, content: Uint8Array, chunker = 'size-1024'): Promise<CID> {
  const entries = await Array.fromAsync(
    add([{ path: 'f', content }], { put: async (cid, bytes) => await peer.put(cid, bytes) }, { cidVersion: 1, chunker })
  )
  return entries.at(-1)?.cid ?? CID.parse('bafkqaaa')
}

async function errorOf(call: Promise<unknown>): Promise<Error & { code?: string }> {
  return await call.then(
    () => new Error('the call succeeded'),
    (error: unknown) => error as Error
  )
}

const within = { timeout: 20_000 }

/** How many of its wants the provider keeps. */
function wantsAt(provider: Peer, { exchange }: Used): number {
  return provider.ledger(exchange.peerId)?.wants.length ?? 0
}

/** Nothing is wanted any more, and the providers know it. */
async function atRest({ exchange }: Used, ...providers: Peer[]): Promise<void> {
  await expect.poll(() => exchange.gauges(), within).toMatchObject({ blocksAwaited: 0, wants: 0, wantsAtPeers: 0, searches: 0 })
  for (const provider of providers) {
    await expect.poll(() => provider.ledger(exchange.peerId)?.wants ?? [], within).toEqual([])
  }
}

describe.each(ways)('in the way of $name', (way) => {
  /** One that is used in this way, connected to these. */
  async function used(providers: readonly Peer[] = [], limits?: Partial<PeerLimits>): Promise<Used> {
    const made = await way.start(limits)
    onTestFinished(async () => await made.stop())
    for (const provider of providers) await made.exchange.connect(provider.addresses()[0] ?? '')
    return made
  }

  test('[F01][F38] a read goes on over connections that both dial at once, that are cut, and dialled again', async () => {
    const provider = await newProvider()
    const peer = await used()
    const [ours, theirs] = [peer.exchange.addresses()[0] ?? '', provider.addresses()[0] ?? '']
    await Promise.allSettled([provider.connect(ours), peer.exchange.connect(theirs)])
    const content = someBytes(2_000_000, 5)
    const root = await addFile(provider, content, 'size-16384')
    const parts: Uint8Array[] = []
    let cuts = 0
    for await (const part of peer.cat(root, { signal: AbortSignal.timeout(60_000) })) {
      parts.push(part)
      if (cuts === 3 || Buffer.concat(parts).byteLength < 300_000 * (cuts + 1)) continue
      cuts += 1
      for (const connection of provider.libp2p.getConnections(peer.exchange.peerId)) connection.abort(new Error('cut'))
      // Until it hears of the cut, it takes what it has for a connection.
      const isBack = async (): Promise<number> => {
        await peer.exchange.connect(theirs)
        return provider.connections().length
      }
      await expect.poll(isBack, within).toBeGreaterThan(0)
    }
    expect(Buffer.concat(parts).equals(content)).toBe(true)
    expect(cuts).toBe(3)
    await atRest(peer, provider)
  })

  test('[F07] of two callers of a block the first may go: the second has it; once both are gone the want is', async () => {
    const provider = await newProvider()
    const peer = await used([provider])
    const [wanted, never] = [await blockOf('comes later'), await blockOf('never comes')]
    const aborts = [new AbortController(), new AbortController()]
    const gets = aborts.map(async ({ signal }) => await peer.get(wanted.cid, { signal }))
    const first = errorOf(gets[0] ?? Promise.resolve())
    await expect.poll(() => wantsAt(provider, peer), within).toBe(1)
    aborts[0]?.abort()
    expect((await first).name).toBe('AbortError')
    await provider.put(wanted.cid, wanted.bytes)
    expect(Buffer.from((await gets[1]) ?? '').equals(wanted.bytes)).toBe(true)
    const both = aborts.slice(1).concat(new AbortController())
    const ends = both.map(async ({ signal }) => await errorOf(peer.get(never.cid, { signal })))
    await expect.poll(() => wantsAt(provider, peer), within).toBe(1)
    for (const abort of both) abort.abort()
    expect((await Promise.all(ends)).map((error) => error.name)).toEqual(['AbortError', 'AbortError'])
    await atRest(peer, provider)
  })

  test('[F13] with nobody there a get ends by itself, by its signal, and offline at once', async () => {
    const peer = await used([], { giveUpMs: 400 })
    const { cid } = await blockOf('nowhere')
    const [alone, late, offline] = await Promise.all([
      errorOf(peer.get(cid)),
      errorOf(peer.get(cid, { signal: AbortSignal.timeout(300) })),
      errorOf(peer.getOffline(cid))
    ])
    expect(alone).toMatchObject({ name: 'NotFoundError', code: 'ERR_NO_PEERS' })
    expect(late.name).toBe('TimeoutError')
    expect(offline.name).toMatch(/^(NotFoundError|TimeoutError|BlockNotFoundWhileOfflineError)$/)
    await atRest(peer)
  })

  test('[F17] a get that is given up leaves the provider at once, and what comes there later is not sent', async () => {
    const provider = await newProvider()
    const peer = await used([provider])
    const wanted = await blockOf('comes too late')
    const abort = new AbortController()
    const end = errorOf(peer.get(wanted.cid, { signal: abort.signal }))
    await expect.poll(() => wantsAt(provider, peer), within).toBe(1)
    abort.abort()
    expect((await end).name).toBe('AbortError')
    await atRest(peer, provider)
    await provider.put(wanted.cid, wanted.bytes)
    // What comes after it on the same way has come: so would the block have.
    const next = await blockOf('next')
    await provider.put(next.cid, next.bytes)
    await peer.get(next.cid, { signal: AbortSignal.timeout(20_000) })
    expect(provider.stat().serve.blocksSent).toBe(1)
  })

  test('[F19] a signal that has fired asks nobody; one that fires between blocks of 1,000 ends the read', async () => {
    const provider = await newProvider()
    const peer = await used([provider])
    const root = await addFile(provider, someBytes(1_024_000, 7))
    expect((await errorOf(peer.get(root, { signal: AbortSignal.abort() }))).name).toBe('AbortError')
    expect(peer.exchange.stat().fetch.wantsSent).toBe(0)
    const abort = new AbortController()
    let bytes = 0
    const reading = (async () => {
      for await (const part of peer.cat(root, { signal: abort.signal })) {
        bytes += part.byteLength
        if (bytes > 100_000) abort.abort()
      }
    })()
    expect((await errorOf(reading)).name).toBe('AbortError')
    expect(bytes).toBeLessThan(1_024_000)
    await atRest(peer, provider)
  })

  test('[F23][F26] gets that succeed, are late and are given up leave nothing behind, nor a listener on a shared signal', async () => {
    const provider = await newProvider()
    const peer = await used([provider])
    const blocks = await Promise.all(Array.from({ length: 90 }, async (_, at) => await blockOf(`of many ${at}`)))
    for (const { cid, bytes } of blocks.filter((_, at) => at % 3 === 0)) await provider.put(cid, bytes)
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    onTestFinished(() => void process.off('warning', onWarning))
    const [shared, given] = [new AbortController(), new AbortController()]
    const ends = Promise.allSettled(
      blocks.map(async ({ cid }, at) => {
        const signals = [shared.signal, AbortSignal.timeout(500), given.signal]
        return await peer.get(cid, { signal: signals[at % 3] ?? shared.signal })
      })
    )
    await expect.poll(() => wantsAt(provider, peer), within).toBeGreaterThan(0)
    given.abort()
    const outcomes = (await ends).map((end) => (end.status === 'rejected' ? (end.reason as Error).name : 'a block'))
    expect(outcomes).toEqual(blocks.map((_, at) => ['a block', 'TimeoutError', 'AbortError'][at % 3]))
    await atRest(peer, provider)
    expect(getEventListeners(shared.signal, 'abort')).toEqual([])
    expect(warnings.filter(({ name: kind }) => kind === 'MaxListenersExceededWarning')).toEqual([])
  })

  test('[F31][F35] 50 gets and a dial that never ends: a stop within 5 s, each get rejects, and nothing else does', async () => {
    const hole = createServer(() => undefined)
    await new Promise<void>((resolve) => hole.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void hole.close())
    const unhandled: unknown[] = []
    const onUnhandled = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', onUnhandled)
    onTestFinished(() => void process.off('unhandledRejection', onUnhandled))
    const provider = await newProvider()
    const peer = await used([provider])
    const bound = hole.address()
    const port = bound !== null && typeof bound === 'object' ? bound.port : 0
    const ghost = '12D3KooWGC6TvWhfapngX6wvJHMYvKpDMXPb3ZnCZ6dMoaMtimQ5'
    const dial = errorOf(peer.exchange.connect(`/ip4/127.0.0.1/tcp/${port}/p2p/${ghost}`))
    const blocks = await Promise.all(Array.from({ length: 50 }, async (_, at) => await blockOf(`open ${at}`)))
    const ends = blocks.map(async ({ cid }) => await errorOf(peer.get(cid, { signal: new AbortController().signal })))
    await expect.poll(() => wantsAt(provider, peer), within).toBe(50)
    const startMs = performance.now()
    await peer.stop()
    expect(performance.now() - startMs).toBeLessThan(5000)
    for (const error of await Promise.all(ends)) expect(error.message).not.toBe('the call succeeded')
    expect((await dial).message).not.toBe('the call succeeded')
    await new Promise((resolve) => setImmediate(resolve))
    expect(unhandled).toEqual([])
  })

  test('[F43] identity CIDs are answered at once, their bytes as they are, and nothing goes on the wire', async () => {
    const provider = await newProvider()
    const peer = await used([provider])
    const signal = AbortSignal.timeout(20_000)
    expect((await peer.get(CID.parse('bafkqaaa'), { signal })).byteLength).toBe(0)
    const inline = await peer.get(CID.parse('bafyqacnbmrqxgzdgdeaui'), { signal })
    expect(Buffer.from(inline).toString('hex')).toBe('a16461736466190144')
    expect(
      Buffer.concat(await Array.fromAsync(peer.cat(CID.createV1(0x55, createDigest(0, Buffer.from('hi'))), { signal }))).toString()
    ).toBe('hi')
    expect(peer.exchange.stat().fetch.wantsSent).toBe(0)
  })

  test('[F44] a hash that nobody can compute is an error at once, and a less usual one is fetched', async () => {
    const provider = await newProvider()
    const peer = await used([provider])
    const bytes = Buffer.from('hashed otherwise')
    const unusual = CID.createV1(0x55, await sha512.digest(bytes))
    await provider.put(unusual, bytes)
    expect(Buffer.from(await peer.get(unusual, { signal: AbortSignal.timeout(20_000) })).equals(bytes)).toBe(true)
    const unknown = CID.createV1(0x55, createDigest(0xb401, new Uint8Array(32)))
    const error = await errorOf(peer.get(unknown, { signal: AbortSignal.timeout(20_000) }))
    expect(error.name).not.toBe('TimeoutError')
    expect(error.message).toMatch(/0xb401|46081/)
  })

  test('[F46] a block of 2 MiB is fetched', async () => {
    const provider = await newProvider()
    const peer = await used([provider])
    const large = await blockOf(someBytes(2 * 1024 * 1024, 3))
    await provider.put(large.cid, large.bytes)
    expect(Buffer.from(await peer.get(large.cid, { signal: AbortSignal.timeout(20_000) })).equals(large.bytes)).toBe(true)
  })

  test('[F50][F52] of four providers a file comes in many blocks at a time, and hardly a block twice', async () => {
    const content = someBytes(4_000_000, 11)
    const providers = await Promise.all([newProvider(), newProvider(), newProvider(), newProvider()])
    const roots = await Promise.all(providers.map(async (provider) => await addFile(provider, content, 'size-16384')))
    const peer = await used(providers)
    const parts = await Array.fromAsync(peer.cat(roots[0] ?? CID.parse('bafkqaaa'), { signal: AbortSignal.timeout(60_000) }))
    expect(Buffer.concat(parts).equals(content)).toBe(true)
    const { fetch, peers } = peer.exchange.stat()
    expect(fetch.duplicateBytes).toBeLessThan(0.05 * content.byteLength)
    expect(peers.filter(({ blocks }) => blocks > 0).length).toBeGreaterThan(1)
    await atRest(peer, ...providers)
  })

  test('[F56][F59] an empty file is empty, and one whose sizes lie is an error that names it', async () => {
    const provider = await newProvider()
    const peer = await used([provider])
    const options = { signal: AbortSignal.timeout(20_000) }
    const empty = await addFile(provider, new Uint8Array())
    expect(Buffer.concat(await Array.fromAsync(peer.cat(empty, options)))).toHaveLength(0)
    // A UnixFS file of the two bytes "ab" that says it has three.
    const node = Uint8Array.from([0x0a, 8, 0x08, 2, 0x12, 2, 0x61, 0x62, 0x18, 3])
    const lying = CID.createV1(0x70, await sha256.digest(node))
    await provider.put(lying, node)
    const error = await errorOf(Array.fromAsync(peer.cat(lying, options)))
    expect(error).toMatchObject({ name: 'SizeMismatchError', message: expect.stringContaining(lying.toString()) as string })
  })
})
