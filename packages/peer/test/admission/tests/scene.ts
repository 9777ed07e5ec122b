import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Connection, PrivateKey, Stream } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { peerKey } from '@shardswap/interface'
import { clientKey, ownerKey } from '@shardswap/server'
import { signBinding } from '../../../src/admission/signed-record.ts'
import type { IntroducedPeer } from '../../../src/admission/tests/node.ts'
import type { OwnerView, Peer, PeerInit, TestLimits, TestsReport } from '../../../src/index.ts'
import { until } from '../../support.ts'
import { concat, type Entry, hex, payload, presences } from '../../wire/bytes.ts'
import { address, Cast, type TestBlock } from '../../wire/cast.ts'
import { openStream, type RawPeer, write } from '../../wire/raw.ts'

const dayMs = 24 * 3_600_000

/** Visits follow each other at once, and one takes a second at most. */
const hasty: Partial<TestLimits> = { visitEveryMs: 100, visitFirstMs: 50, visitsPerHourMax: 36_000, visitTimeoutMs: 1000 }

/** Answers one want of a peer: the framed messages that go back. */
export type Conduct = (entry: Entry, cid: string, from: string) => readonly Uint8Array[]

export interface Cheat {
  readonly raw: RawPeer
  readonly key: PrivateKey
  readonly id: string
}

/** A node that tests others, and those whom it tests. */
export class TestScene {
  readonly cast = new Cast()

  /** A node that is registered, and tests servers in a hurry. */
  async tester(testLimits: Partial<TestLimits> = {}, init: PeerInit = {}): Promise<Peer> {
    const peer = await this.waiting(testLimits, init)
    await peer.register()
    return peer
  }

  /** The same before it is registered: it remembers who has what, and tests nobody yet. */
  async waiting(testLimits: Partial<TestLimits> = {}, init: PeerInit = {}): Promise<Peer> {
    return await this.cast.ours({ ...init, admission: { ...init.admission, testLimits: { ...hasty, ...testLimits } } })
  }

  /** A server of ours that is its own owner, and is registered at the tester too. */
  async server(blocks: readonly TestBlock[], tester: Peer, init: PeerInit = {}): Promise<Peer> {
    const privateKey = await generateKeyPair('Ed25519')
    const peer = await this.cast.ours({ ...init, privateKey, admission: { tests: false, ...init.admission } })
    for (const { cid, data } of blocks) await peer.put(cid, data)
    await peer.register()
    await registerAt(tester, privateKey)
    await tester.connect(address(peer))
    return peer
  }

  /** A server that speaks Bitswap by hand and does as it likes; registered at the tester. */
  async cheat(tester: Peer, conduct: Conduct): Promise<Cheat> {
    const key = await generateKeyPair('Ed25519')
    const raw = await this.cast.raw(['1.2.0'], key)
    answer(raw, conduct)
    await registerAt(tester, key)
    await tester.connect(raw.address)
    return { raw, key, id: raw.id }
  }

  async stop(): Promise<void> {
    await this.cast.stop()
  }
}

/** The tester knows a server that is its own owner, as if somebody had told it. */
async function registerAt(tester: Peer, key: PrivateKey): Promise<void> {
  const id = peerIdFromPrivateKey(key)
  const said = { client: clientKey(id), server: peerKey(id), owner: ownerKey(id) }
  const making = { owner: key, client: key, server: said.server, claim: undefined, expiresMs: Date.now() + 7 * dayMs, sequence: Date.now() }
  await (tester as IntroducedPeer).introduced({ record: await signBinding(making), delegation: undefined })
}

/** Lets a raw peer answer whoever asks it, on one stream for each connection. */
function answer(raw: RawPeer, conduct: Conduct): void {
  const lines = new Map<Connection, Promise<Stream>>()
  raw.onMessage = ({ entries }, connection) => {
    const from = connection.remotePeer.toString()
    const frames = entries.filter((entry) => !entry.cancel).flatMap((entry) => conduct(entry, hex(entry.cid), from))
    if (frames.length === 0) return
    const before = lines.get(connection) ?? openStream(connection)
    const after = before.then(async (stream) => {
      await write(stream, concat(...frames))
      return stream
    })
    lines.set(connection, after)
    // A connection that has gone has nobody to answer.
    after.catch(() => {})
  }
}

export const have = (entry: Entry): Uint8Array => presences([{ cid: entry.cid, type: 0 }])
export const dontHave = (entry: Entry): Uint8Array => presences([{ cid: entry.cid, type: 1 }])

/** HAVE to a want-have, the block to a want-block. */
export function serve(entry: Entry, { prefix, data }: { readonly prefix: Uint8Array; readonly data: Uint8Array }): Uint8Array[] {
  return [entry.have === true ? have(entry) : payload([{ prefix, data }])]
}

export function testsOf(tester: Peer): TestsReport {
  const { tests } = tester.admission()
  if (tests === undefined) throw new Error('a running peer reports its tests')
  return tests
}

/** How many blocks came to one outcome, or to any. */
export function outcomes(tester: Peer, name?: keyof TestsReport['outcomes']): number {
  const all = testsOf(tester).outcomes
  return name === undefined ? Object.values(all).reduce((sum, each) => sum + each, 0) : (all[name] ?? 0)
}

export async function untilTested(tester: Peer, times: number, name?: keyof TestsReport['outcomes']): Promise<void> {
  await until(`${times} tests were ${name ?? 'made'}`, () => outcomes(tester, name) >= times, 60_000)
}

/** How a node sees the owner of a server; undefined while nobody asks in its name. */
export function ownerAt(peer: Peer, server: Peer): OwnerView | undefined {
  return peer.admission().owners.find(({ owner }) => owner === ownerKey(server.peerId))
}
