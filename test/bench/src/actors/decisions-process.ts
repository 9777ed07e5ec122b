/** Our cores alone: how long a choice of a peer takes, and how long the broker works on a want. */
import { createHash } from 'node:crypto'
import { Broker, type Command, defaultBrokerLimits } from '@shardswap/broker'
import { type BlockKey, blockKey, type CID, peerKey, seededRandom } from '@shardswap/interface'
import { type BlockView, Candidates, defaultSessionLimits, type PeerView, Session } from '@shardswap/session'
import { serveCommands } from '@shardswap-test/cluster/child'
import { CID as CIDs } from 'multiformats/cid'
import { create } from 'multiformats/hashes/digest'
import type { Decider } from './api.ts'
import { measures } from './measure.ts'

const limits = { ...defaultBrokerLimits, ...defaultSessionLimits, candidatesMax: 1 << 20 }
const sessions = 10
const blockBytes = 2000
/** Wants in flight while peers are chosen: each choice is one that came in and one that goes out. */
const inFlightWants = 64

function cidAt(i: number): CID {
  return CIDs.createV1(0x55, create(0x12, new Uint8Array(createHash('sha256').update(`decision ${i}`).digest())))
}

function peerAt(i: number): PeerView {
  const lastBytesAtMs = Number.NEGATIVE_INFINITY
  const view = {
    supportsHave: true,
    score: 1,
    latencyMs: 10,
    lastBytesAtMs,
    depth: (i % 10) / 20,
    isVetted: i % 2 === 0,
    isDoubtful: false,
    hasHaveSpace: true,
    bytesPerMs: 1000,
    inFlightBytes: 0
  }
  return { key: peerKey(`peer ${i}`), ...view, isUsable: () => true }
}

function hasSpace(): boolean {
  return true
}

/** Seconds for so many choices among providers of different weights, with the changes of weights that go with each. */
function choose(peers: number, decisions: number): number {
  const candidates = new Candidates(limits, seededRandom(1))
  for (let i = 0; i < peers; i++) {
    const candidate = candidates.add(peerAt(i), 1)
    if (candidate === undefined) throw new Error(`no place for peer ${i}`)
    for (let n = 0; n < i % 20; n++) candidates.receive(candidate)
  }
  const cid = cidAt(0)
  const block: BlockView = { cid, key: blockKey(cid), stances: new Map(), inFlight: 0, havesAsked: 0 }
  const flying = Array.from({ length: inFlightWants }, () => candidates.at(0))
  const fromMs = performance.now()
  for (let i = 0; i < decisions; i++) {
    const landed = flying[i % inFlightWants]
    if (landed !== undefined && i >= inFlightWants) {
      landed.inFlight -= 1
      candidates.refresh(landed)
    }
    const choice = candidates.choose(block, { bytes: 1e9, blockBytes: 1000, inFlight: 1 }, hasSpace, 0)
    const taken = choice.kind === 'peer' ? choice.candidate : undefined
    flying[i % inFlightWants] = taken
    if (taken === undefined) continue
    taken.inFlight += 1
    candidates.refresh(taken)
  }
  return (performance.now() - fromMs) / 1000
}

/** Seconds that the broker decides for so many wants of ten sessions, while peers deliver all that they are asked for. */
function match(peers: number, decisions: number): { seconds: number; wholeSeconds: number } {
  const cids = Array.from({ length: decisions }, (_, i) => cidAt(i))
  const keys = new Map<BlockKey, true>()
  const self = peerKey('self')
  const broker = new Broker({ limits, random: seededRandom(1), openSession: (init) => new Session({ ...init, limits, self }) })
  for (let i = 0; i < peers; i++) broker.connectPeer(peerKey(`peer ${i}`), true, 0)
  for (let id = 0; id < sessions; id++) {
    broker.openSession(id, {}, 0)
    for (let i = 0; i < peers; i++) broker.providerFound(id, peerKey(`peer ${i}`), 0)
  }
  for (const cid of cids) keys.set(blockKey(cid), true)
  const names = [...keys.keys()]
  const startMs = performance.now()
  for (const [i, cid] of cids.entries()) broker.addWant(i % sessions, cid, names[i] as BlockKey, 0)
  let decidedMs = 0
  for (let nowMs = 1; broker.gauges().wants > 0; nowMs++) {
    const fromMs = performance.now()
    const commands = broker.tick(nowMs)
    while (broker.wakeAtMs() === 0) commands.push(...broker.decide(nowMs))
    decidedMs += performance.now() - fromMs
    deliver(broker, commands, nowMs)
    if (nowMs > decisions) throw new Error(`${broker.gauges().wants} wants got nowhere`)
  }
  return { seconds: decidedMs / 1000, wholeSeconds: (performance.now() - startMs) / 1000 }
}

function deliver(broker: Broker, commands: readonly Command[], nowMs: number): void {
  for (const command of commands) {
    if (command.type !== 'send') continue
    for (const { type, key } of command.entries) {
      if (type === 'want-have') broker.receivePresence(command.peer, key, 'have', nowMs)
      if (type !== 'want-block') continue
      broker.receiveBytes(command.peer, blockBytes, nowMs)
      broker.receiveBlock(command.peer, key, blockBytes, nowMs)
    }
  }
}

const actor: Decider = {
  startProfile: measures.startProfile,
  stopProfile: measures.stopProfile,
  decide: async (core, peers, decisions) => {
    if (core === 'broker') return match(peers, decisions)
    // The first ones are compiled, not measured.
    choose(peers, decisions / 10)
    return { seconds: choose(peers, decisions) }
  }
}

serveCommands(actor, async () => undefined)
