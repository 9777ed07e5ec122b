import type { CID, PeerKey, Random } from '@shardswap/interface'
import { isReceived, type TestOutcome, TestSchedule, type Visit } from '@shardswap/server'
import { ServerAddresses } from './addresses.ts'
import { TestIdentities } from './identities.ts'
import type { TestPorts, TestsReport } from './types.ts'
import { visitServer } from './visit.ts'

/** While we are not registered ourselves it is looked again so often whether we are. */
const idleMs = 60_000
/** A timer is never set for less, nor for longer: a schedule may change. */
const timerMinMs = 1
const timerMaxMs = 60 * 60_000

const random: Random = { next: Math.random }

/**
 * [I5] to [I7] Makes the test requests: the schedule says whom to visit when, and with what; here are the timer, the node of
 * another identity, and whoever is to know what became of it.
 */
export class AvailabilityTests {
  readonly #ports: TestPorts
  readonly #isOn: boolean
  readonly #schedule: TestSchedule
  readonly #identities: TestIdentities
  readonly #addresses: ServerAddresses
  readonly #visits = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #isStarted = false

  constructor(ports: TestPorts, isOn: boolean) {
    this.#ports = ports
    this.#isOn = isOn
    this.#schedule = new TestSchedule({ limits: ports.limits, random, isRegistered: (server) => ports.isRegistered(server) })
    this.#identities = new TestIdentities(ports, random)
    this.#addresses = new ServerAddresses(ports.libp2p, ports.limits.claimServersMax)
  }

  start(): void {
    if (!this.#isOn || this.#stopping.signal.aborted) return
    this.#isStarted = true
    this.#arm()
  }

  /** Ends visits that go on; they count for nothing. */
  async stop(): Promise<void> {
    this.#isStarted = false
    clearTimeout(this.#timer)
    this.#stopping.abort(new Error('the peer was stopped'))
    await Promise.all(this.#visits)
  }

  /** A peer said that it has a block that we wanted, or delivered it. Called for each: it costs next to nothing. */
  claimed(peer: PeerKey, cid: CID): void {
    this.#note(peer, cid, true)
  }

  /** A peer was sent a block by us. Called for each, too. */
  given(peer: PeerKey, cid: CID): void {
    this.#note(peer, cid, false)
  }

  #note(peer: PeerKey, cid: CID, isSaid: boolean): void {
    if (!this.#isStarted || !this.#schedule.claimed(peer, cid, this.#ports.nowMs(), isSaid)) return
    // While it is connected its addresses are known.
    this.#addresses.of(peer).catch((error: unknown) => this.#ports.log.trace('no addresses of %s yet - %e', peer, error))
    this.#arm()
  }

  /** Visits that go on now. */
  get running(): number {
    return this.#visits.size
  }

  report(): TestsReport {
    const { made, name } = this.#identities
    return {
      state: this.#isOn ? (this.#ports.mayIntroduce() ? 'on' : 'unregistered') : 'off',
      servers: this.#schedule.servers,
      visits: this.#visits.size,
      outcomes: Object.fromEntries(this.#schedule.counts()),
      identities: made,
      ...(name === undefined ? {} : { identity: name })
    }
  }

  #arm(leastMs = timerMinMs): void {
    clearTimeout(this.#timer)
    const wakeMs = this.#isStarted ? this.#schedule.wakeAtMs() : undefined
    if (wakeMs === undefined) return
    const inMs = Math.min(timerMaxMs, Math.max(leastMs, wakeMs - this.#ports.nowMs()))
    this.#timer = setTimeout(() => this.#go(), inMs)
    this.#timer.unref()
  }

  #go(): void {
    if (!this.#ports.mayIntroduce()) {
      this.#arm(Math.min(idleMs, this.#ports.limits.visitEveryMs))
      return
    }
    for (;;) {
      const visit = this.#schedule.begin(this.#ports.nowMs())
      if (visit === undefined) break
      const running = this.#visit(visit).finally(() => {
        this.#visits.delete(running)
        this.#arm()
      })
      this.#visits.add(running)
    }
    this.#arm()
  }

  /** Never rejects. */
  async #visit(visit: Visit): Promise<void> {
    let outcomes: readonly TestOutcome[] = visit.cids.map(() => 'void')
    try {
      const identity = await this.#identities.current()
      outcomes = await visitServer(visit, {
        start: async () => await identity.start(),
        addressesOf: async (server) => await this.#addresses.of(server),
        isOnline: () => this.#ports.libp2p.getConnections().some(({ status }) => status === 'open'),
        visitTimeoutMs: this.#ports.limits.visitTimeoutMs,
        stopping: this.#stopping.signal
      })
    } catch (error) {
      this.#ports.log.error('server %s could not be tested - %e', visit.server, error)
    }
    this.#tell(visit.server, this.#schedule.ended(visit, outcomes, this.#ports.nowMs()))
  }

  #tell(server: PeerKey, outcomes: readonly TestOutcome[]): void {
    this.#ports.log('server %s was tested: %s', server, outcomes.join(', '))
    for (const outcome of outcomes) {
      const received = isReceived(outcome)
      if (received !== undefined) this.#ports.counted(server, received)
    }
    // That a peer cannot be reached is known already by its uptime, and a refusal for load says nothing of it.
    const seen = outcomes.filter((outcome) => !['void', 'unclaimed', 'unreachable', 'refused'].includes(outcome))
    if (seen.length === 0) return
    // What was asked in one visit is one observation.
    const isAll = seen.every((outcome) => outcome === 'verified')
    this.#ports.judged(server, isAll)
  }
}
