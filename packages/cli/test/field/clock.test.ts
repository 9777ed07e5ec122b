/** [F86] Wall clocks that jump, and timeouts of any length: in the library, over the API and by the command. */
import type { Daemon, FetchOptions } from '@shardswap/daemon'
import { createPeer, type Peer } from '@shardswap/peer'
import { CID } from 'multiformats/cid'
import { sha256 } from 'multiformats/hashes/sha2'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { someBytes, start } from '../command.ts'
import { quietDaemon, remoteNode, toldBy, toldByCommand, toldByHttp } from './ways.ts'

const hourMs = 3_600_000
const yearMs = 365 * 24 * hourMs
const timeout = { name: 'TimeoutError', code: 'ERR_TIMEOUT' }

afterEach(() => {
  vi.useRealTimers()
})

async function block(text: string): Promise<{ cid: CID; bytes: Uint8Array }> {
  const bytes = Buffer.from(text)
  return { cid: CID.createV1(0x55, await sha256.digest(bytes)), bytes: Uint8Array.from(bytes) }
}

async function newPeer(): Promise<Peer> {
  const peer = await createPeer()
  onTestFinished(async () => await peer.stop())
  return peer
}

/** Resolves once so many calls wait for a block of the daemon's. */
async function waiting(daemon: Daemon, sessions: number): Promise<void> {
  const peer = await daemon.node.peer()
  await expect.poll(() => peer.gauges().sessions, { timeout: 60_000 }).toBe(sessions)
}

describe('[F86] timeouts', () => {
  test('of no time at all are over at once, however the call is made', async () => {
    const daemon = await quietDaemon()
    const peer = await newPeer()
    const { cid } = await block('nowhere')
    for (const timeoutMs of [0, -1]) expect(await toldBy(peer.get(cid, { timeoutMs }))).toEqual(timeout)
    for (const text of ['0', '0s', '0ms']) {
      expect(await toldByHttp(daemon, `block/get?arg=${cid.toString()}&timeout=${text}`)).toEqual(timeout)
    }
    expect(await toldByCommand(['block', 'get', '--api', daemon.api, '--timeout', '0s', cid.toString()])).toEqual({ ...timeout, exit: 4 })
  })

  test('longer than a timer takes, and without end, do not fire at once, however the call is made', async () => {
    const daemon = await quietDaemon()
    const peer = await newPeer()
    const { cid, bytes } = await block('later')
    const gets = [Number.POSITIVE_INFINITY, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER, 1e300].map(
      async (timeoutMs) => await peer.get(cid, { timeoutMs })
    )
    const texts = ['2147483648ms', '4294967297ms', '1000h', '99999999999999h']
    const calls = texts.map(async (text) => await toldByHttp(daemon, `block/get?arg=${cid.toString()}&timeout=${text}`))
    const command = start(['block', 'get', '--api', daemon.api, '--timeout', '1000h', cid.toString()], { stdin: '' })
    await waiting(daemon, texts.length + 1)
    // A timer that overflowed would have fired after a millisecond.
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect((await daemon.node.peer()).gauges().sessions).toBe(texts.length + 1)
    await peer.put(cid, bytes)
    await daemon.node.blockPut(bytes)
    for (const got of await Promise.all(gets)) expect(got).toEqual(bytes)
    expect(await Promise.all(calls)).toEqual(texts.map(() => ({ name: 'none', code: 'none' })))
    expect(await command.finished).toMatchObject({ code: 0, stdout: 'later' })
  })

  test('that are none are refused, however the call is made', async () => {
    const daemon = await quietDaemon()
    const peer = await newPeer()
    const { cid } = await block('nowhere')
    expect((await toldBy(peer.get(cid, { timeoutMs: Number.NaN }))).name).toBe('AssertionError')
    const refused = { name: 'InvalidParametersError', code: 'ERR_INVALID_PARAMETERS' }
    for (const text of ['Infinity', '-1s', '10']) {
      expect(await toldByHttp(daemon, `block/get?arg=${cid.toString()}&timeout=${text}`)).toEqual(refused)
    }
  })

  test('of a peer that no timer takes are the longest that one takes', async () => {
    const lonely = { openStreamTimeoutMs: 2 ** 40, redialDelayMs: 2 ** 31, messageTimeoutMs: 1e300 }
    const provider = await newPeer()
    const { cid, bytes } = await block('served')
    await provider.put(cid, bytes)
    const peer = await createPeer({ limits: lonely, serveLimits: { sendTimeoutMaxMs: 2 ** 40 } })
    onTestFinished(async () => await peer.stop())
    await peer.connect(provider.addresses()[0] ?? '')
    expect(await peer.get(cid, { timeoutMs: 60_000 })).toEqual(bytes)
    await expect(createPeer({ limits: { giveUpMs: Number.POSITIVE_INFINITY } })).rejects.toMatchObject({ code: 'ERR_INVALID_PARAMETERS' })
  })
})

describe('[F86] a wall clock that jumps', () => {
  const jumps = [hourMs, -2 * hourMs, 10 * yearMs, -20 * yearMs]

  test('in the middle of a fetch through a daemon changes nothing of it, nor of scores and ledgers', async () => {
    const [provider, daemon] = [await quietDaemon(), await quietDaemon()]
    const content = someBytes(2_000_000)
    let root = ''
    for await (const entry of provider.node.add([{ path: 'f', content }], { chunker: 'size-16384' })) root = entry.cid.toString()
    await daemon.node.swarmConnect(provider.addresses[0] ?? '')
    const remote = await remoteNode(daemon)
    vi.useFakeTimers({ toFake: ['Date'] })
    const parts: Uint8Array[] = []
    for await (const part of remote.cat(root)) {
      parts.push(part)
      // From here on each part comes in another hour, year or decade.
      vi.setSystemTime(Date.now() + (jumps[parts.length % jumps.length] ?? 0))
    }
    expect(Buffer.concat(parts).equals(content)).toBe(true)
    const fetched = (await daemon.node.peer()).stat().fetch
    expect(fetched).toMatchObject({ timeouts: 0, duplicateBlocks: 0 })
    const [score] = (await daemon.node.scores()).peers
    expect(score?.score).toBeGreaterThan(0)
    expect(score?.score).toBeLessThanOrEqual(100)
    const ledger = (await provider.node.ledgers()).clients[0]
    expect(ledger?.lastServedMsAgo ?? -1).toBeGreaterThanOrEqual(0)
    expect(ledger?.lastServedMsAgo ?? hourMs).toBeLessThan(hourMs)
  })

  test('ends no wait early and lengthens none', async () => {
    const daemon = await quietDaemon({ giveUpMs: 600 })
    const { cid } = await block('nowhere')
    vi.useFakeTimers({ toFake: ['Date'] })
    const startMs = performance.now()
    const node = await remoteNode(daemon)
    const options: FetchOptions = { patient: true, signal: AbortSignal.timeout(500) }
    const ends = Promise.all([toldBy(node.blockGet(cid)), toldBy(daemon.node.blockGet(cid, options))])
    for (const jumpMs of jumps) {
      vi.setSystemTime(Date.now() + jumpMs)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await ends).toEqual([{ name: 'NotFoundError', code: 'ERR_NO_PEERS' }, timeout])
    const tookMs = performance.now() - startMs
    expect(tookMs).toBeGreaterThan(490)
    expect(tookMs).toBeLessThan(30_000)
  })
})
