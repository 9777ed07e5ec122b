import { isCount, isObject, type PeerKey } from '@shardswap/interface'
import type { Calendar } from './calendar.ts'
import { Latency } from './latency.ts'
import type { ReliabilityLimits } from './limits.ts'
import { isPeerText } from './peer-text.ts'
import { countNames, PeerRecord } from './record.ts'
import type { PeerCounts, Recalled, RememberedPeer, RememberedPeers, RememberedWindows } from './views.ts'
import { Windows } from './windows.ts'

const version = 1

/** A record as plain data. */
export function toRemembered(record: PeerRecord, calendar: Calendar, nowMs: number): RememberedPeer {
  const { evidence, windows, latency } = record
  return {
    peer: record.peer,
    firstSeenWallMs: record.firstSeenWallMs,
    counts: { ...record.counts },
    windows: { hour: windows.hour, counts: windows.toSparse() },
    evidence: [evidence.slowSuccesses, evidence.slowFailures, evidence.fastSuccesses, evidence.fastWeight],
    observedSinceNew: record.observedSinceNew,
    isVetted: record.isVetted,
    shutOutUntilWallMs: record.shutOutUntilMs > nowMs ? calendar.wallMs(record.shutOutUntilMs) : 0,
    returnLeftMs: record.returnLeftMs,
    latency: latency?.toNumbers() ?? [],
    latencies: latency?.toSparse() ?? []
  }
}

interface Read {
  readonly own: Windows | undefined
  readonly records: PeerRecord[]
  readonly recalled: Recalled
}

function nothing(problem: string | undefined): Read {
  return { own: undefined, records: [], recalled: { peers: 0, rejected: 0, problem } }
}

/** What was remembered, read: everything in it may be wrong. */
export function fromRemembered(value: unknown, calendar: Calendar, nowMs: number, limits: ReliabilityLimits): Read {
  if (value === undefined) return nothing(undefined)
  if (!isObject<RememberedPeers>(value)) return nothing('what was remembered of peers is not an object')
  if (value.version !== version) return nothing(`what was remembered of peers is of version ${named(value.version)}; this is ${version}`)
  if (!Array.isArray(value.peers)) return nothing('what was remembered of peers holds no list of them')
  const records = new Map<PeerKey, PeerRecord>()
  let rejected = 0
  // Who would be forgotten last stands last.
  for (const peer of value.peers.slice(-limits.recordsMax)) {
    const record = readRecord(peer, calendar, nowMs, limits)
    if (record === undefined || records.has(record.peer)) rejected += 1
    else records.set(record.peer, record)
  }
  const own = readWindows(value.own, calendar.hour(nowMs))
  return { own, records: [...records.values()], recalled: { peers: records.size, rejected, problem: undefined } }
}

/** A record, or undefined where anything in it cannot be. */
function readRecord(value: unknown, calendar: Calendar, nowMs: number, limits: ReliabilityLimits): PeerRecord | undefined {
  if (!isObject<RememberedPeer>(value)) return undefined
  const { peer, firstSeenWallMs, shutOutUntilWallMs, returnLeftMs, observedSinceNew, isVetted } = value
  if (!isPeerText(peer)) return undefined
  if (![firstSeenWallMs, shutOutUntilWallMs, returnLeftMs].every(isAmount)) return undefined
  if (!isCount(observedSinceNew) || typeof isVetted !== 'boolean') return undefined
  const counts = readCounts(value.counts)
  const windows = readWindows(value.windows, calendar.hour(nowMs))
  if (counts === undefined || windows === undefined) return undefined
  const record = new PeerRecord(peer, calendar, nowMs, windows)
  Object.assign(record.counts, counts)
  if (!readEvidence(record, value.evidence, limits) || !readLatency(record, value)) return undefined
  // A wall's time that went back must not make a peer younger than it is, nor shut it out for longer.
  record.firstSeenWallMs = Math.min(firstSeenWallMs as number, calendar.wallMs(nowMs))
  record.shutOutUntilMs = shutOutUntil(shutOutUntilWallMs as number, calendar, nowMs, limits)
  record.returnLeftMs = Math.min(returnLeftMs as number, limits.returnMs)
  record.observedSinceNew = observedSinceNew
  record.isVetted = isVetted && record.returnLeftMs === 0
  record.rollTo(calendar.hour(nowMs), limits)
  return record
}

function shutOutUntil(wallMs: number, calendar: Calendar, nowMs: number, { shutOutMs }: ReliabilityLimits): number {
  const untilMs = Math.min(calendar.nowMs(wallMs), nowMs + shutOutMs)
  return wallMs > 0 && untilMs > nowMs ? untilMs : Number.NEGATIVE_INFINITY
}

function readCounts(value: unknown): PeerCounts | undefined {
  if (!isObject<PeerCounts>(value)) return undefined
  // Bad blocks were not counted always.
  const counts = { badBlocks: 0, ...value } as PeerCounts
  if (!countNames.every((name) => isCount(counts[name]))) return undefined
  if (counts.successful > counts.attempted || counts.rewardable > counts.successful) return undefined
  return Object.fromEntries(countNames.map((name) => [name, counts[name]])) as unknown as PeerCounts
}

/** Buckets from the future, where the wall's time went back, are taken for those of now. */
function readWindows(value: unknown, hour: number): Windows | undefined {
  if (!isObject<RememberedWindows>(value) || !isCount(value.hour) || !isNumbers(value.counts)) return undefined
  const windows = Windows.fromSparse(value.hour, value.counts)
  return windows !== undefined && value.hour > hour ? windows.movedTo(hour) : windows
}

function readEvidence({ evidence }: PeerRecord, value: unknown, { forgetting }: ReliabilityLimits): boolean {
  if (!isNumbers(value) || value.length !== 4 || !value.every(isAmount)) return false
  const [slowSuccesses = 0, slowFailures = 0, fastSuccesses = 0, fastWeight = 0] = value
  const slowMax = 1 / (1 - forgetting) + 1e-6
  if (slowSuccesses + slowFailures > slowMax || fastWeight > 1 || fastSuccesses > fastWeight + 1e-9) return false
  Object.assign(evidence, { slowSuccesses, slowFailures, fastSuccesses, fastWeight })
  return true
}

function readLatency(record: PeerRecord, { latency, latencies }: Partial<Record<'latency' | 'latencies', unknown>>): boolean {
  if (!isNumbers(latency) || !isNumbers(latencies)) return false
  if (latency.length === 0) return latencies.length === 0
  record.latency = Latency.from(latency, latencies)
  return record.latency !== undefined
}

function isNumbers(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((number) => typeof number === 'number')
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
}

/** Something of unknown kind, short enough for a message. */
function named(value: unknown): string {
  return typeof value === 'number' || typeof value === 'string' ? String(value).slice(0, 32) : typeof value
}
