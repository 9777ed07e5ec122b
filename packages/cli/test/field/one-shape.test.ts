/** [F70] One failure, one name and one code: in the library, here, over the API, and by the command with its exit code. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { importCar } from '@shardswap/content'
import type { Daemon } from '@shardswap/daemon'
import { createPeer, type Peer } from '@shardswap/peer'
import { CID } from 'multiformats/cid'
import * as Digest from 'multiformats/hashes/digest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { exitCodes } from '../../src/errors.ts'
import { fixtures, run } from '../command.ts'
import { quietDaemon, remoteNode, type Told, toldBy, toldByCommand, toldByHttp } from './ways.ts'

const nowhere = CID.parse('bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy')
const limits = { giveUpMs: 300 }

async function newPeer(): Promise<Peer> {
  const peer = await createPeer({ limits })
  onTestFinished(async () => await peer.stop())
  return peer
}

interface Ways {
  readonly daemon: Daemon
  /** A library's peer, in the same company as the daemon. */
  readonly peer: Peer
}

/** A daemon and a peer of the library; both are connected to somebody who has nothing, or to nobody. */
async function ways(company: 'alone' | 'in company'): Promise<Ways> {
  const [daemon, peer] = [await quietDaemon(limits), await newPeer()]
  if (company === 'in company') {
    const other = await newPeer()
    for (const each of [await daemon.node.peer(), peer]) await each.connect(other.addresses()[0] ?? '')
  }
  return { daemon, peer }
}

/** A get of what is nowhere, in all ways. */
async function gets({ daemon, peer }: Ways, timeoutMs?: number): Promise<Told[]> {
  const remote = await remoteNode(daemon)
  const [option, query] = timeoutMs === undefined ? [[], ''] : [['--timeout', `${timeoutMs}ms`], `&timeout=${timeoutMs}ms`]
  const given = (): object => (timeoutMs === undefined ? {} : { patient: true, signal: AbortSignal.timeout(timeoutMs) })
  return await Promise.all([
    toldBy(peer.get(nowhere, timeoutMs === undefined ? {} : { timeoutMs })),
    toldBy(daemon.node.blockGet(nowhere, given())),
    toldBy(remote.blockGet(nowhere, given())),
    toldByHttp(daemon, `block/get?arg=${nowhere.toString()}${query}`),
    toldByCommand(['block', 'get', '--api', daemon.api, ...option, nowhere.toString()])
  ])
}

function everyWay(told: Told, exit: number): Told[] {
  return [told, told, told, told, { ...told, exit }]
}

async function read(parts: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of parts);
}

test('[F70] exit codes are told apart, in the document and by --help', async () => {
  const document = await readFile(new URL('../../../../docs/cli.md', import.meta.url), 'utf8')
  const codes = Object.values(exitCodes)
  expect(new Set(codes).size).toBe(codes.length)
  const rows = [...document.matchAll(/^\| (\d+) \| /gm)].map(([, code]) => Number(code))
  expect(rows).toEqual(codes)
  const { stdout } = await run(['--help'])
  const [, told = ''] = /^Exit codes: (.*)$/m.exec(stdout) ?? []
  expect([...told.matchAll(/\d+/g)].map(([code]) => Number(code))).toEqual(codes)
})

describe('[F70] the same failure in every way', () => {
  test('not found, where others were asked', async () => {
    expect(await gets(await ways('in company'))).toEqual(everyWay({ name: 'NotFoundError', code: 'ERR_NOT_FOUND' }, 3))
  })

  test('no peers, and a time-out, where nobody is there', async () => {
    const alone = await ways('alone')
    expect(await gets(alone)).toEqual(everyWay({ name: 'NotFoundError', code: 'ERR_NO_PEERS' }, 5))
    expect(await gets(alone, 200)).toEqual(everyWay({ name: 'TimeoutError', code: 'ERR_TIMEOUT' }, 4))
  })

  test('given up by the caller', async () => {
    const { daemon, peer } = await ways('alone')
    const remote = await remoteNode(daemon)
    const abort = new AbortController()
    const options = { signal: abort.signal, patient: true }
    const ends = Promise.all([
      toldBy(peer.get(nowhere, options)),
      toldBy(daemon.node.blockGet(nowhere, options)),
      toldBy(remote.blockGet(nowhere, options)),
      toldByCommand(['block', 'get', '--api', daemon.api, '--timeout', '1h', nowhere.toString()], '', abort.signal)
    ])
    const served = await daemon.node.peer()
    // Three of them wait there, in three sessions: ours, the remote one's and the command's.
    await expect.poll(() => served.gauges().sessions, { timeout: 60_000 }).toBe(3)
    abort.abort()
    const told = { name: 'AbortError', code: 'ABORT_ERR' }
    // An interrupted command has nothing to say: whoever interrupted it knows.
    expect(await ends).toEqual([told, told, told, { name: 'none', code: 'none', exit: 130 }])
    await expect.poll(() => [peer.wantlist(), served.wantlist()]).toEqual([[], []])
  })

  test('a CID that no bytes can be proven by, whether peers could be asked or not', async () => {
    const { daemon, peer } = await ways('alone')
    const remote = await remoteNode(daemon)
    const told = { name: 'InvalidCidError', code: 'ERR_INVALID_CID' }
    for (const digest of [Digest.create(0x12, new Uint8Array(10)), Digest.create(0, new Uint8Array(1000))]) {
      const cid = CID.createV1(0x55, digest)
      const ends = [peer.get(cid), ...[daemon.node, remote].flatMap((node) => [node.blockGet(cid), node.blockGet(cid, { offline: true })])]
      expect(await Promise.all(ends.map(toldBy))).toEqual(ends.map(() => told))
    }
  })

  test('bytes that are not what their CID says', async () => {
    const { daemon, peer } = await ways('alone')
    const remote = await remoteNode(daemon)
    const bytes = await readFile(join(fixtures, 'bad-flipped-byte.car'))
    const parts = async function* (): AsyncGenerator<Uint8Array> {
      yield bytes
    }
    const sink = { put: async (cid: CID, block: Uint8Array) => await peer.put(cid, block) }
    const form = Buffer.concat([
      Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a.car"\r\n\r\n'),
      bytes,
      Buffer.from('\r\n--b--\r\n')
    ])
    const told = { name: 'HashMismatchError', code: 'ERR_HASH_MISMATCH' }
    expect(
      await Promise.all([
        toldBy(importCar(parts(), sink)),
        toldBy(daemon.node.dagImport(parts())),
        toldBy(remote.dagImport(parts())),
        toldByHttp(daemon, 'dag/import', { type: 'multipart/form-data; boundary=b', bytes: form }),
        toldByCommand(['dag', 'import', '--api', daemon.api], bytes)
      ])
    ).toEqual(everyWay(told, 6))
    expect(await toldBy(peer.put(nowhere, bytes))).toEqual(told)
  })

  test('after the first bytes of an answer', async () => {
    const daemon = await quietDaemon(limits)
    const sources = [{ path: 'f', content: Buffer.from('first second') }]
    let root = ''
    for await (const entry of daemon.node.add(sources, { chunker: 'size-6', cidVersion: 1, pin: false })) root = entry.cid.toString()
    const leaf = await daemon.node.blockPut(Buffer.from('second'))
    for await (const { error } of daemon.node.blockRm([leaf.cid])) expect(error).toBeUndefined()
    const remote = await remoteNode(daemon)
    const told = { name: 'NotFoundError', code: 'ERR_NOT_FOUND' }
    expect(
      await Promise.all([
        toldBy(read(daemon.node.cat(root, { offline: true }))),
        toldBy(read(remote.cat(root, { offline: true }))),
        toldByHttp(daemon, `cat?arg=${root}&offline=true`),
        toldByCommand(['cat', '--offline', '--api', daemon.api, root])
      ])
    ).toEqual([told, told, told, { ...told, exit: 3 }])
  })
})
