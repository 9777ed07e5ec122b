import { assert, type PeerKey } from '@shardswap/interface'
import { Calendar, Windows } from '@shardswap/reliability'
import type { OwnerKey } from './binding.ts'
import { smoothedAvailability, type AvailabilityPrior, type TestCounts } from './formulas.ts'

/** What an owner's servers gave, or one server alone. */
export interface AvailabilityFigures {
  /** Servers that are registered. */
  readonly registered: number
  /** Those of them that count: with a verified answer in the last 24 hours. */
  readonly servers: number
  /** The mean over all registered, 24 hours and 30 days, smoothed, 0 to 1; the prior where there are none. */
  readonly aShort: number
  readonly aLong: number
  /** Tests in 30 days. */
  readonly tests: TestCounts
}

/** What is kept of one server's tests, as plain data. */
export interface SavedServer {
  readonly server: PeerKey
  /** The hour since 1970 of its newest bucket. */
  readonly hour: number
  /** Buckets that are not empty, as index and count. */
  readonly buckets: readonly number[]
}

/** What the counting of verified answers is made of. */
export interface AvailabilityInit {
  /** The wall's time at `nowMs`. */
  readonly wallMs: number
  /** The same moment on the cores' clock. */
  readonly nowMs: number
  /** What a server counts for before it was tested, and how many are remembered. */
  readonly limits: AvailabilityPrior & { readonly serversMax: number }
  /** What `saved` gave, perhaps in an earlier run. */
  readonly saved?: readonly SavedServer[]
}

interface TestedServer {
  readonly key: PeerKey
  readonly windows: Windows
  owner: OwnerKey | undefined
  /** It had a verified answer in the last 24 hours, and is registered. */
  counts: boolean
}

/**
 * [I5][I7] What servers answered to test requests, in 24 hourly and 30 daily buckets, both with the current one.
 * A test that was refused, or answered with DONT_HAVE, was sent and not received. A server that is no longer registered is
 * remembered while there is room, so that coming back under another owner, or the same, clears nothing.
 */
export class Availability {
  readonly #limits: AvailabilityInit['limits']
  readonly #calendar: Calendar
  readonly #servers = new Map<PeerKey, TestedServer>()
  /** Those of them that are not registered, the longest so first. */
  readonly #gone = new Set<TestedServer>()
  readonly #byOwner = new Map<OwnerKey, Set<TestedServer>>()
  #hour: number
  #counting = 0

  constructor({ wallMs, nowMs, limits, saved = [] }: AvailabilityInit) {
    this.#limits = limits
    this.#calendar = new Calendar(wallMs, nowMs)
    this.#hour = this.#calendar.hour(nowMs)
    for (const { server, hour, buckets } of saved.slice(0, limits.serversMax)) {
      const kept = Number.isSafeInteger(hour) ? Windows.fromSparse(hour, buckets) : undefined
      if (kept === undefined || this.#servers.has(server)) continue
      // An hour that lies ahead is not believed: the buckets would stand still until then.
      const windows = hour > this.#hour ? kept.movedTo(this.#hour) : kept
      windows.roll(this.#hour)
      this.#add(server, windows)
    }
  }

  /** Servers remembered, registered or not. */
  get size(): number {
    return this.#servers.size
  }

  /** The server belongs to the owner from now on. Returns false where there is no room for it. */
  register(server: PeerKey, owner: OwnerKey, nowMs: number): boolean {
    this.#roll(nowMs)
    const known = this.#servers.get(server) ?? this.#open(server)
    if (known === undefined) return false
    if (known.owner === owner) return true
    this.#leaveOwner(known)
    known.owner = owner
    this.#gone.delete(known)
    const servers = this.#byOwner.get(owner)
    if (servers) servers.add(known)
    else this.#byOwner.set(owner, new Set([known]))
    this.#recount(known)
    return true
  }

  /** No client key points to the server any more. */
  unregister(server: PeerKey, nowMs: number): void {
    this.#roll(nowMs)
    const known = this.#servers.get(server)
    if (known?.owner === undefined) return
    this.#leaveOwner(known)
    if (known.windows.month.observations > 0) this.#gone.add(known)
    else this.#servers.delete(server)
  }

  /** A test of a server is over. Returns false, and counts nothing, where it is not registered. */
  tested(server: PeerKey, isVerified: boolean, nowMs: number): boolean {
    this.#roll(nowMs)
    const known = this.#servers.get(server)
    if (known?.owner === undefined) return false
    known.windows.observe(isVerified)
    this.#recount(known)
    return true
  }

  /** The owner of a registered server. */
  ownerOf(server: PeerKey): OwnerKey | undefined {
    return this.#servers.get(server)?.owner
  }

  /** [I13] S_total: registered servers with a verified answer in the last 24 hours. */
  serversTotal(nowMs: number): number {
    this.#roll(nowMs)
    return this.#counting
  }

  /** [I3][I7] An owner's figures; the cost is linear in its servers. */
  ofOwner(owner: OwnerKey, nowMs: number): AvailabilityFigures {
    this.#roll(nowMs)
    return this.#figures(this.#byOwner.get(owner) ?? new Set())
  }

  /** One registered server's figures; undefined where it is none. */
  ofServer(server: PeerKey, nowMs: number): AvailabilityFigures | undefined {
    this.#roll(nowMs)
    const known = this.#servers.get(server)
    return known?.owner === undefined ? undefined : this.#figures(new Set([known]))
  }

  /** What to remember over a restart: servers that were tested. */
  saved(nowMs: number): SavedServer[] {
    this.#roll(nowMs)
    const tested = [...this.#servers.values()].filter(({ windows }) => windows.month.observations > 0)
    return tested.map(({ key, windows }) => ({ server: key, hour: windows.hour, buckets: windows.toSparse() }))
  }

  #figures(servers: ReadonlySet<TestedServer>): AvailabilityFigures {
    const sums = { servers: 0, aShort: 0, aLong: 0, received: 0, sent: 0 }
    for (const { windows, counts } of servers) {
      if (counts) sums.servers++
      sums.aShort += smoothedAvailability({ received: windows.day.successes, sent: windows.day.observations }, this.#limits)
      sums.aLong += smoothedAvailability({ received: windows.month.successes, sent: windows.month.observations }, this.#limits)
      sums.received += windows.month.successes
      sums.sent += windows.month.observations
    }
    const registered = servers.size
    const mean = (sum: number): number => (registered > 0 ? sum / registered : this.#limits.availabilityPrior)
    const tests = { received: sums.received, sent: sums.sent }
    return { registered, servers: sums.servers, aShort: mean(sums.aShort), aLong: mean(sums.aLong), tests }
  }

  /** Once an hour all buckets move on; in between only what is tested changes. */
  #roll(nowMs: number): void {
    const hour = this.#calendar.hour(nowMs)
    if (hour <= this.#hour) return
    this.#hour = hour
    for (const known of this.#servers.values()) {
      known.windows.roll(hour)
      this.#recount(known)
    }
    // What is 30 days old says nothing any more.
    for (const known of this.#gone) if (known.windows.month.observations === 0) this.#forget(known)
  }

  #recount(known: TestedServer): void {
    const counts = known.owner !== undefined && known.windows.day.successes > 0
    if (counts !== known.counts) this.#counting += counts ? 1 : -1
    known.counts = counts
  }

  #open(server: PeerKey): TestedServer | undefined {
    if (this.#servers.size >= this.#limits.serversMax) {
      const [oldest] = this.#gone
      if (oldest === undefined) return undefined
      this.#forget(oldest)
    }
    return this.#add(server, new Windows(this.#hour))
  }

  #add(server: PeerKey, windows: Windows): TestedServer {
    const known: TestedServer = { key: server, windows, owner: undefined, counts: false }
    this.#servers.set(server, known)
    this.#gone.add(known)
    return known
  }

  #forget(known: TestedServer): void {
    assert(known.owner === undefined, 'a registered server is not forgotten')
    this.#gone.delete(known)
    this.#servers.delete(known.key)
  }

  #leaveOwner(known: TestedServer): void {
    if (known.owner === undefined) return
    const servers = this.#byOwner.get(known.owner)
    servers?.delete(known)
    if (servers?.size === 0) this.#byOwner.delete(known.owner)
    known.owner = undefined
    this.#recount(known)
  }
}
