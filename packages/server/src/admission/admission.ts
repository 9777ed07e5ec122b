import { assert, type PeerKey } from '@shardswap/interface'
import { Availability, type AvailabilityFigures, type SavedServer } from './availability.ts'
import type { ClientKey, OwnerKey } from './binding.ts'
import { acceptedInRow, accepts, faded, isBlacklisted, ownerScore, ownerWeight } from './formulas.ts'
import type { AdmissionLimits } from './limits.ts'
import { Owners, ServedSum, type Owner } from './owners.ts'
import type { RegistryChange } from './registry.ts'

/**
 * [I14] What happens to a request that is not admitted.
 * - `open`: it waits, whoever asks: clients leave a provider that denies what it said it had.
 * - `registered`: it is refused.
 * - `off`: nothing is served.
 */
export type AdmissionMode = 'open' | 'registered' | 'off'

/** Why a request was admitted or not. */
export type AdmissionReason =
  /** Admitted: the owner's score reaches what is open. */
  | 'score'
  /** Admitted: nobody stands behind the client, and the free score reaches what is open. */
  | 'free'
  /** The owner's score is below what is open; who has a higher one is still admitted. */
  | 'low-score'
  /** Nobody stands behind the client, or nobody whose servers were verified, and the free score is below what is open, or is 0. */
  | 'low-free-score'
  /** The owner's score is 0: its servers were tested often and never answered. */
  | 'blacklisted'
  /** Cap_max requests are open: nobody is admitted. */
  | 'full'
  /** Nothing is served. */
  | 'off'

/** What becomes of a request, and why. */
export interface Decision {
  readonly action: 'admit' | 'wait' | 'refuse'
  readonly reason: AdmissionReason
}

/** What admission is made of. */
export interface AdmissionInit {
  /** What becomes of requests that are not admitted. */
  readonly mode: AdmissionMode
  /** As `verifyAdmissionLimits` gives them. */
  readonly limits: AdmissionLimits
  /** The wall's time at `nowMs`. */
  readonly wallMs: number
  /** The same moment on the cores' clock. */
  readonly nowMs: number
  /** What `saved` gave in an earlier run … */
  readonly saved?: SavedAdmission
  /** … and how long ago. */
  readonly pausedMs?: number
}

/** What outlives a process, as plain data. */
export interface SavedAdmission {
  /** What servers answered. */
  readonly servers: readonly SavedServer[]
  /** R_served of owners, the most served first. */
  readonly owners: readonly (readonly [OwnerKey, number])[]
  /** R_total. */
  readonly served: number
}

/** One owner, as people see it. */
export interface OwnerView extends AvailabilityFigures {
  readonly owner: OwnerKey
  readonly peers: number
  /** R_served. */
  readonly served: number
  readonly weight: number
  readonly score: number
  readonly open: number
  readonly turnedAway: number
  /** What a request of its would be told now. */
  readonly decision: Decision
}

/** All of it, as people see it. */
export interface AdmissionView {
  readonly mode: AdmissionMode
  readonly openRequestsMax: number
  readonly open: number
  /** R_total. */
  readonly served: number
  /** S_total. */
  readonly servers: number
  /** Clients that nobody stands behind. */
  readonly free: { readonly score: number; readonly open: number; readonly turnedAway: number; readonly decision: Decision }
  readonly owners: readonly OwnerView[]
}

interface Client {
  /** Under which key, and for whom, the peer makes its requests; undefined: for nobody but itself. */
  key: ClientKey | undefined
  owner: Owner | undefined
  open: number
  overdue: number
}

/**
 * Decides which request is served. Rules, by number where the code applies them:
 * 1. A request is one want-block. It is open from `admit` to `ended` (I14).
 * 2. All that are open count, whoever asked; at most Cap_max are (I9, I10). Those that are `overdue`, since their client does
 *    not read, count to Cap_max alone: compared with scores they would let a few such clients turn away all with a small one.
 * 3. The score is the owner's; clients that nobody stands behind have the free score, all of them the same.
 * 4. Scores are taken anew after each test, each change of the servers, `refreshRequests` requests and `refreshMs` (I14). In
 *    between they stand, so a decision costs the same for one owner and for thousands.
 * 5. A request that waits is asked for again, in its turn: nothing of it is kept here.
 */
export class Admission {
  readonly mode: AdmissionMode
  readonly #limits: AdmissionLimits
  readonly #availability: Availability
  readonly #owners: Owners
  /** Peers with a binding, and all with open requests. */
  readonly #clients = new Map<PeerKey, Client>()
  readonly #peersByKey = new Map<ClientKey, Set<PeerKey>>()
  readonly #served: ServedSum
  readonly #counts = new Map<AdmissionReason, number>()
  #bound = 0
  #open = 0
  #overdue = 0
  #freeOpen = 0
  #freeTurnedAway = 0
  /** Counts the refreshes. */
  #refresh = 0
  #refreshedMs: number
  #requestsSince = 0

  constructor({ mode, limits, wallMs, nowMs, saved, pausedMs = 0 }: AdmissionInit) {
    this.mode = mode
    this.#limits = limits
    this.#availability = new Availability({ wallMs, nowMs, limits, saved: saved?.servers ?? [] })
    this.#owners = new Owners(limits)
    this.#served = new ServedSum(limits.servedWindowMs, nowMs)
    this.#refreshedMs = nowMs
    if (saved) this.#restore(saved, pausedMs, nowMs)
  }

  /** Requests that are open. */
  get open(): number {
    return this.#open
  }

  /** (2) Requests that are open and compared with scores. */
  get counted(): number {
    return this.#open - this.#overdue
  }

  /** Requests that are open and whose client does not read. */
  get overdue(): number {
    return this.#overdue
  }

  /** (2) How many may be so; above it those that are so for longest should be given up. */
  get overdueMax(): number {
    return this.#limits.openRequestsMax / 4
  }

  /** (3) */
  get freeScore(): number {
    return this.#limits.freeScoreRequests
  }

  /** [I10] How many requests of a peer are admitted in a row now. Nothing is counted. */
  room(peer: PeerKey, nowMs: number): number {
    if (this.mode === 'off') return 0
    const { openRequestsMax } = this.#limits
    const inRow = acceptedInRow(this.#scoreOf(this.#clients.get(peer)?.owner, nowMs), this.counted, openRequestsMax)
    return Math.min(inRow, openRequestsMax - this.#open)
  }

  /** Whether a peer is kept out by nothing but its own open requests. */
  isAlone(peer: PeerKey, nowMs: number): boolean {
    const client = this.#clients.get(peer)
    return client !== undefined && client.open === this.#open && client.overdue === 0 && this.#scoreOf(client.owner, nowMs) > 0
  }

  /** [I10] So many requests of a peer, no more than there is `room` for, are open from now on. `ended` must follow for each. */
  admit(peer: PeerKey, requests: number, nowMs: number): void {
    assert(requests <= this.room(peer, nowMs), 'no more requests are admitted than there is room for')
    const client = this.#clients.get(peer) ?? this.#addClient(peer)
    this.#count(client.owner ? 'score' : 'free', requests)
    this.#countOpen(client, requests)
    this.#asked(requests, nowMs)
  }

  /** So many requests of a peer for which there is no room wait, or are refused, as the answer says: why. */
  turnAway(peer: PeerKey, requests: number, nowMs: number): Decision {
    const owner = this.#clients.get(peer)?.owner
    const decision = this.#decide(owner, nowMs)
    assert(decision.action !== 'admit', 'nobody is turned away for whom there is room')
    this.#count(decision.reason, requests)
    if (owner) owner.turnedAway += requests
    else this.#freeTurnedAway += requests
    this.#asked(requests, nowMs)
    return decision
  }

  /** What a peer's next request would be told. Nothing is counted. */
  judge(peer: PeerKey, nowMs: number): Decision {
    return this.#decide(this.#clients.get(peer)?.owner, nowMs)
  }

  /** Whether somebody stands behind the peer: it has shown a client key of an owner's server. */
  hasOwner(peer: PeerKey): boolean {
    return this.#clients.get(peer)?.owner !== undefined
  }

  /** Whether one of that owner's servers was verified in the last 24 hours: a binding alone costs nothing. */
  isBacked(peer: PeerKey, nowMs: number): boolean {
    const owner = this.#clients.get(peer)?.owner
    if (!owner) return false
    this.#scoreOf(owner, nowMs)
    return owner.isProven
  }

  /** (2) So many open requests of a peer are being written for longer than a client that reads would need. */
  late(peer: PeerKey, requests: number): void {
    const client = this.#clients.get(peer)
    assert(client !== undefined && client.overdue + requests <= client.open, 'no more requests are overdue than are open')
    client.overdue += requests
    this.#overdue += requests
  }

  /** So many requests that were admitted are over: their blocks are fully written (`isServed`), or will not be. `wasLate`: see `late`. */
  ended(peer: PeerKey, requests: number, how: { readonly isServed: boolean; readonly wasLate?: boolean }, nowMs: number): void {
    if (requests === 0) return
    const client = this.#clients.get(peer)
    assert(client !== undefined && client.open >= requests, 'no more requests end than were admitted')
    if (how.wasLate === true) {
      client.overdue -= requests
      this.#overdue -= requests
    }
    this.#countOpen(client, -requests)
    assert(client.overdue >= 0 && client.overdue <= client.open, 'what is overdue is open')
    if (how.isServed) {
      this.#served.add(nowMs, requests)
      client.owner?.served.add(nowMs, requests)
    }
    this.#forgetIdle(peer, client)
  }

  /**
   * [I3] A peer that is connected has shown that it may use a client key (`mayUse`), which is bound to a server of this owner.
   * Returns false where there is no room: it then has the free score.
   */
  identified(peer: PeerKey, key: ClientKey, ownerKey: OwnerKey, nowMs: number): boolean {
    const isKnown = this.#clients.get(peer)?.owner !== undefined
    const owner = isKnown || this.#bound < this.#limits.boundClientsMax ? this.#owners.open(ownerKey, nowMs) : undefined
    if (owner === undefined) {
      this.left(peer)
      return false
    }
    const client = this.#clients.get(peer) ?? this.#addClient(peer)
    this.#release(peer, client)
    client.key = key
    this.#peersByKey.set(key, (this.#peersByKey.get(key) ?? new Set()).add(peer))
    this.#bound++
    this.#move(client, owner)
    return true
  }

  /** [I3] A peer is no longer connected, or its binding holds no more. Its open requests stay open until they end. */
  left(peer: PeerKey): void {
    const client = this.#clients.get(peer)
    if (!client) return
    this.#release(peer, client)
    this.#forgetIdle(peer, client)
  }

  /** [I3][I16] Follows the registry: servers that came and went, client keys that are bound to another owner or to none. */
  follow(changes: readonly RegistryChange[], nowMs: number): void {
    for (const change of changes) {
      if (change.type === 'server') this.#availability.register(change.server, change.owner, nowMs)
      else if (change.type === 'server-gone') this.#availability.unregister(change.server, nowMs)
      else {
        const owner = change.type === 'bound' ? change.owner : undefined
        for (const peer of Array.from(this.#peersByKey.get(change.client) ?? [])) this.#rebind(peer, change.client, owner, nowMs)
      }
    }
    if (changes.length > 0) this.#takeAnew(nowMs)
  }

  /** [I5][I14] A test of a server is over. A refusal or DONT_HAVE is not verified. */
  tested(server: PeerKey, isVerified: boolean, nowMs: number): void {
    if (this.#availability.tested(server, isVerified, nowMs)) this.#takeAnew(nowMs)
  }

  /** Whether a server was verified in the last 24 hours. */
  isProven(server: PeerKey, nowMs: number): boolean {
    return (this.#availability.ofServer(server, nowMs)?.servers ?? 0) > 0
  }

  /** One server's figures; undefined where it is not registered. */
  ofServer(server: PeerKey, nowMs: number): AvailabilityFigures | undefined {
    return this.#availability.ofServer(server, nowMs)
  }

  /** How many decisions had which reason. */
  counts(): ReadonlyMap<AdmissionReason, number> {
    return this.#counts
  }

  /** What to remember over a restart. */
  saved(nowMs: number): SavedAdmission {
    return { servers: this.#availability.saved(nowMs), owners: this.#owners.saved(nowMs), served: this.#served.at(nowMs) }
  }

  /** Everything that people may want to see; the cost is linear in owners and servers. */
  view(nowMs: number): AdmissionView {
    const owners: OwnerView[] = []
    for (const owner of this.#owners.all()) {
      const decision = this.#decide(owner, nowMs)
      const { key, peers, open, turnedAway, weight, score } = owner
      const figures = this.#availability.ofOwner(key, nowMs)
      owners.push({ owner: key, peers, open, turnedAway, weight, score, served: owner.served.at(nowMs), decision, ...figures })
    }
    return {
      mode: this.mode,
      openRequestsMax: this.#limits.openRequestsMax,
      open: this.#open,
      served: this.#served.at(nowMs),
      servers: this.#availability.serversTotal(nowMs),
      free: {
        score: this.#limits.freeScoreRequests,
        open: this.#freeOpen,
        turnedAway: this.#freeTurnedAway,
        decision: this.#decide(undefined, nowMs)
      },
      owners
    }
  }

  /** What is held, all 0 once everybody has left and every request has ended, but for what owners were served. */
  gauges(): { open: number; clients: number; bound: number; keys: number; owners: number; servers: number } {
    return {
      open: this.#open,
      clients: this.#clients.size,
      bound: this.#bound,
      keys: this.#peersByKey.size,
      owners: this.#owners.size,
      servers: this.#availability.size
    }
  }

  /** What was served before faded while nobody was there; what cannot be is left out. */
  #restore({ owners, served }: SavedAdmission, pausedMs: number, nowMs: number): void {
    const fade = (sum: number): number => faded(sum, pausedMs, this.#limits.servedWindowMs)
    this.#owners.restore(
      owners.filter(([, sum]) => isSum(sum)).map(([key, sum]) => [key, fade(sum)]),
      nowMs
    )
    if (isSum(served)) this.#served.add(nowMs, fade(served))
  }

  #decide(owner: Owner | undefined, nowMs: number): Decision {
    if (this.mode === 'off') return decisions.refuse.off
    const score = this.#scoreOf(owner, nowMs)
    const isFull = this.#open >= this.#limits.openRequestsMax
    // (2)
    if (!isFull && accepts(score, this.counted, this.#limits.openRequestsMax)) return decisions.admit[owner ? 'score' : 'free']
    const outcome = this.mode === 'open' ? decisions.wait : decisions.refuse
    if (score > 0 && isFull) return outcome.full
    if (!owner) return outcome['low-free-score']
    if (score > 0) return outcome['low-score']
    return owner.isBlacklisted ? outcome.blacklisted : outcome['low-free-score']
  }

  /** (3), (4) */
  #scoreOf(owner: Owner | undefined, nowMs: number): number {
    if (!owner) return this.#limits.freeScoreRequests
    if (nowMs - this.#refreshedMs >= this.#limits.refreshMs) this.#takeAnew(nowMs)
    if (owner.refresh === this.#refresh) return owner.score
    const use = { served: owner.served.at(nowMs), servedTotal: this.#served.at(nowMs) }
    const figures = { ...this.#availability.ofOwner(owner.key, nowMs), ...use, serversTotal: this.#availability.serversTotal(nowMs) }
    owner.weight = ownerWeight(figures, this.#limits)
    owner.score = ownerScore(figures, this.#limits)
    owner.isBlacklisted = isBlacklisted(figures.tests, this.#limits)
    owner.isProven = figures.servers > 0
    owner.refresh = this.#refresh
    return owner.score
  }

  /** (4) */
  #asked(requests: number, nowMs: number): void {
    this.#requestsSince += requests
    if (this.#requestsSince >= this.#limits.refreshRequests) this.#takeAnew(nowMs)
  }

  #takeAnew(nowMs: number): void {
    this.#refresh++
    this.#refreshedMs = nowMs
    this.#requestsSince = 0
  }

  #count(reason: AdmissionReason, requests: number): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + requests)
  }

  /** (1), (2) */
  #countOpen(client: Client, by: number): void {
    client.open += by
    this.#open += by
    if (client.owner) client.owner.open += by
    else this.#freeOpen += by
    assert(this.#open <= this.#limits.openRequestsMax, 'no more requests are open than Cap_max')
  }

  #addClient(peer: PeerKey): Client {
    const client = { key: undefined, owner: undefined, open: 0, overdue: 0 }
    this.#clients.set(peer, client)
    return client
  }

  #forgetIdle(peer: PeerKey, client: Client): void {
    if (client.open === 0 && client.owner === undefined) this.#clients.delete(peer)
  }

  #rebind(peer: PeerKey, key: ClientKey, owner: OwnerKey | undefined, nowMs: number): void {
    if (owner === undefined) this.left(peer)
    else this.identified(peer, key, owner, nowMs)
  }

  /** The peer makes its requests for nobody but itself from now on. */
  #release(peer: PeerKey, client: Client): void {
    if (client.key === undefined) return
    const peers = this.#peersByKey.get(client.key)
    peers?.delete(peer)
    if (peers?.size === 0) this.#peersByKey.delete(client.key)
    client.key = undefined
    this.#bound--
    this.#move(client, undefined)
  }

  #move(client: Client, owner: Owner | undefined): void {
    if (client.owner) {
      client.owner.peers--
      client.owner.open -= client.open
    } else this.#freeOpen -= client.open
    client.owner = owner
    if (owner) {
      owner.peers++
      owner.open += client.open
    } else this.#freeOpen += client.open
  }
}

function isSum(sum: number): boolean {
  return Number.isFinite(sum) && sum >= 0
}

type Reasons = { readonly [Reason in AdmissionReason]: Decision }

function withReasons(action: Decision['action']): Reasons {
  const of = (reason: AdmissionReason): Decision => ({ action, reason })
  return {
    score: of('score'),
    free: of('free'),
    'low-score': of('low-score'),
    'low-free-score': of('low-free-score'),
    blacklisted: of('blacklisted'),
    full: of('full'),
    off: of('off')
  }
}

/** Made once: a decision is taken for every want-block. */
const decisions = { admit: withReasons('admit'), wait: withReasons('wait'), refuse: withReasons('refuse') }
