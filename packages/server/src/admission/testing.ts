import { assert, CID, type PeerKey, type Random } from '@shardswap/interface'
import type { TestLimits } from './testing-limits.ts'

/** What became of one block that was asked for in a test. */
export type TestOutcome =
  /** It came, within its time, and its bytes are what the CID says. */
  | 'verified'
  /** DONT_HAVE of what the server had said that it has. */
  | 'denied'
  /** The same from a server that said that it is busy, and stayed so for the whole visit. */
  | 'refused'
  /** Nothing came in time. */
  | 'silent'
  /** Bytes came that are another block's, or none's, and nothing that was asked for. */
  | 'wrong'
  /** The server broke the connection off. */
  | 'left'
  /** It could not be reached, or did not speak Bitswap, although others could be. */
  | 'unreachable'
  /** It never said that it has the block, which we gave it once, and did not give it: it may have let it go. */
  | 'unclaimed'
  /** It was our own doing: we stopped, or we ourselves were cut off. Says nothing of the server. */
  | 'void'

/** [I5][I7] Whether an outcome counts as received, as sent and not received (false), or not at all (undefined). */
export function isReceived(outcome: TestOutcome): boolean | undefined {
  return outcome === 'void' || outcome === 'unclaimed' ? undefined : outcome === 'verified'
}

/** A server that is to be tested now, with blocks that it said it has. `ended` must follow. */
export interface Visit {
  readonly server: PeerKey
  readonly cids: readonly CID[]
}

/** What the schedule of tests is made of. */
export interface TestScheduleInit {
  /** As `verifyTestLimits` gives them. */
  readonly limits: TestLimits
  /** Chance: when a server is visited, and for what. */
  readonly random: Random
  /** Whether a server is registered now: others are not tested. */
  readonly isRegistered: (server: PeerKey) => boolean
}

interface Claim {
  readonly cid: CID
  /** When it said so, showed it or was given the block last. */
  atMs: number
  /** It said so itself, or showed it; else we gave it the block. */
  isSaid: boolean
}

interface ClaimingServer {
  readonly key: PeerKey
  claims: Claim[]
  /** When it moved to the end of the list last. */
  movedMs: number
  dueMs: number
  isVisited: boolean
}

/** A claim beyond the bound takes the place of a random one with this chance: what is kept spans the newest few hundred. */
const replaceChance = 1 / 8
/** No time between two visits is drawn below and above these parts of its mean. */
const intervalMin = 0.1
const intervalMax = 3
/** A server that makes claims without end moves to the end of the list so often. */
const moveEveryMs = 60_000
const hourMs = 60 * 60 * 1000

/**
 * [I5][I6] Which server is tested when, and with which blocks. Rules, by number where the code applies them:
 * 1. Only what a server itself said that it has, or delivered, is asked for there, and only of late: so DONT_HAVE is no excuse.
 *    What we gave it is asked for too, so that a node which only serves can prove others; but only an answer counts then, and
 *    from there on it counts as said.
 * 2. Only registered servers are tested.
 * 3. The time to the next visit has no memory (it is drawn from an exponential distribution, within bounds): that one was just
 *    here, or was not for long, says nothing of when the next comes.
 * 4. Visits over all servers are bounded, in an hour and at the same time. Where more are due, the one overdue the longest is next.
 * 5. What a server denied is not asked for there again: a block that an honest server deleted costs it one test. Nor is what
 *    it was given and did not give.
 */
export class TestSchedule {
  readonly #init: TestScheduleInit
  readonly #limits: TestLimits
  /** The one whose claims are the oldest first. */
  readonly #servers = new Map<PeerKey, ClaimingServer>()
  readonly #counts = new Map<TestOutcome, number>()
  #visits = 0
  /** No visit to anybody begins before it. */
  #freeMs = Number.NEGATIVE_INFINITY

  constructor(init: TestScheduleInit) {
    this.#init = init
    this.#limits = init.limits
  }

  /** Servers of which claims are remembered. */
  get servers(): number {
    return this.#servers.size
  }

  /** Visits that go on. */
  get visits(): number {
    return this.#visits
  }

  /** How many blocks asked for came to which outcome. */
  counts(): ReadonlyMap<TestOutcome, number> {
    return this.#counts
  }

  /**
   * (1) A server said that it has a block that was wanted here, or delivered it; or, where it did not say so (`isSaid`), we
   * gave it the block. Returns whether `wakeAtMs` may be sooner now.
   */
  claimed(server: PeerKey, cid: CID, nowMs: number, isSaid = true): boolean {
    const before = this.#servers.get(server)
    if (before === undefined && !this.#init.isRegistered(server)) return false
    const { claims } = before ?? this.#open(server, nowMs)
    if (before !== undefined) this.#moveToEnd(before, nowMs)
    const isFull = claims.length >= this.#limits.claimsPerServerMax
    // First, as it costs the least: this is asked for every HAVE and every block. What we gave replaces nothing.
    if (isFull && (!isSaid || this.#init.random.next() >= replaceChance)) return false
    const known = claims.find((claim) => claim.cid.equals(cid))
    if (known !== undefined) {
      known.isSaid ||= isSaid
      known.atMs = nowMs
      return false
    }
    const claim = { cid: copyOf(cid), atMs: nowMs, isSaid }
    if (isFull) claims[this.#draw(claims.length)] = claim
    else claims.push(claim)
    return claims.length === 1
  }

  /** The server that is to be tested now, if there is one. */
  begin(nowMs: number): Visit | undefined {
    // (4)
    if (this.#visits >= this.#limits.visitsAtOnceMax || nowMs < this.#freeMs) return undefined
    for (;;) {
      const server = this.#next()
      if (server === undefined || server.dueMs > nowMs) return undefined
      const cids = this.#choose(server, nowMs)
      if (cids.length === 0) continue
      server.isVisited = true
      this.#visits++
      this.#freeMs = nowMs + hourMs / this.#limits.visitsPerHourMax
      return { server: server.key, cids }
    }
  }

  /** A visit is over; an outcome for each of its blocks. Returns what they count as. */
  ended({ server, cids }: Visit, seen: readonly TestOutcome[], nowMs: number): readonly TestOutcome[] {
    assert(seen.length === cids.length && this.#visits > 0, 'a visit that began ends once, with an outcome for each block')
    this.#visits--
    const known = this.#servers.get(server)
    const outcomes = cids.map((cid, at) => settle(known, cid, seen[at] as TestOutcome, nowMs))
    for (const outcome of outcomes) this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1)
    if (known === undefined) return outcomes
    known.isVisited = false
    known.dueMs = nowMs + this.#interval(this.#limits.visitEveryMs)
    return outcomes
  }

  /** When `begin` would next find somebody; undefined: not before another claim comes, or a visit ends. */
  wakeAtMs(): number | undefined {
    if (this.#visits >= this.#limits.visitsAtOnceMax) return undefined
    const next = this.#next()
    return next && Math.max(next.dueMs, this.#freeMs)
  }

  /** The next of all that have claims; the cost is linear in them, and is paid for each visit and each server that is new. */
  #next(): ClaimingServer | undefined {
    let next: ClaimingServer | undefined
    for (const server of this.#servers.values()) {
      if (server.isVisited || server.claims.length === 0) continue
      if (next === undefined || server.dueMs < next.dueMs) next = server
    }
    return next
  }

  /** From 1 to `wantsPerVisitMax` blocks; none, and the server is forgotten, where it has none or is not registered any more. */
  #choose(server: ClaimingServer, nowMs: number): CID[] {
    server.claims = server.claims.filter(({ atMs }) => nowMs - atMs <= this.#limits.claimLifetimeMs)
    // (2)
    if (server.claims.length === 0 || !this.#init.isRegistered(server.key)) {
      this.#servers.delete(server.key)
      return []
    }
    const said = server.claims.filter(({ isSaid }) => isSaid)
    const left = said.length > 0 ? said : [...server.claims]
    const wants = Math.min(left.length, 1 + this.#draw(this.#limits.wantsPerVisitMax))
    return Array.from({ length: wants }, () => (left.splice(this.#draw(left.length), 1) as [Claim])[0].cid)
  }

  #open(server: PeerKey, nowMs: number): ClaimingServer {
    if (this.#servers.size >= this.#limits.claimServersMax) this.#makeRoom()
    const dueMs = nowMs + this.#interval(this.#limits.visitFirstMs)
    const opened = { key: server, claims: [], movedMs: nowMs, dueMs, isVisited: false }
    this.#servers.set(server, opened)
    return opened
  }

  #makeRoom(): void {
    const [oldest] = this.#servers.keys()
    if (oldest !== undefined) this.#servers.delete(oldest)
  }

  #moveToEnd(server: ClaimingServer, nowMs: number): void {
    if (nowMs - server.movedMs < moveEveryMs) return
    server.movedMs = nowMs
    this.#servers.delete(server.key)
    this.#servers.set(server.key, server)
  }

  /** (3) */
  #interval(meanMs: number): number {
    return meanMs * exponential(this.#init.random)
  }

  /** A whole number from 0, below `end`. */
  #draw(end: number): number {
    return Math.floor(this.#init.random.next() * end)
  }
}

/** [I5] Until when tests are made under one identity: others must not learn who tests by who comes for ever. */
export class TestIdentityTerm {
  readonly #meanMs: number
  readonly #random: Random
  #endMs = Number.NEGATIVE_INFINITY

  constructor({ identityLifetimeMs }: Pick<TestLimits, 'identityLifetimeMs'>, random: Random) {
    this.#meanMs = identityLifetimeMs
    this.#random = random
  }

  /** Whether another identity is due. */
  isOver(nowMs: number): boolean {
    return nowMs >= this.#endMs
  }

  /** A new identity is there. */
  begin(nowMs: number): void {
    this.#endMs = nowMs + this.#meanMs * exponential(this.#random)
  }
}

/** What an outcome counts as, and what becomes of the claim. One that is not there any more was as good as said. */
function settle(server: ClaimingServer | undefined, cid: CID, seen: TestOutcome, nowMs: number): TestOutcome {
  const claim = server?.claims.find((each) => each.cid.equals(cid))
  const outcome = claim?.isSaid === false && isReceived(seen) === false ? 'unclaimed' : seen
  if (claim === undefined) return outcome
  // (1)
  if (outcome === 'verified') {
    claim.isSaid = true
    claim.atMs = nowMs
  }
  // (5)
  if (server !== undefined && (outcome === 'denied' || outcome === 'unclaimed')) {
    server.claims = server.claims.filter((each) => each !== claim)
  }
  return outcome
}

/** A link of a node lies within the bytes of that whole block: kept as it is, it would keep them. */
function copyOf(cid: CID): CID {
  return CID.decode(Uint8Array.from(cid.bytes))
}

/** A number with a mean of about 1 whose distribution has no memory, within `intervalMin` and `intervalMax`. */
function exponential(random: Random): number {
  return Math.min(intervalMax, Math.max(intervalMin, -Math.log(1 - random.next())))
}
