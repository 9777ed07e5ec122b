import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { ExchangeCore } from '@shardswap/broker'
import { assert } from '@shardswap/interface'
import { Checker } from './checkers/checker.ts'
import { Judge } from './checkers/judge.ts'
import { RunFailure, Violation } from './checkers/violation.ts'
import { traceKinds } from './engine/trace.ts'
import { Fetching } from './nodes/fetching.ts'
import type { SimulatedNode } from './nodes/node.ts'
import { runSessions } from './sessions.ts'
import type { Policy, Rule } from './policy.ts'
import { type JobResult, nodeKey, type RunResult } from './run-result.ts'
import type { Job, Scenario } from './scenario.ts'
import { World } from './world.ts'

/** A run that takes more events than this goes round in circles: the largest take a tenth of it. */
const eventsMax = 5_000_000

/** After the last job, what is under way has this long to come to rest. */
const settleMs = 10 * 60 * 1000

/** One run: a scenario, a policy, a seed. The same three give the same run, byte for byte. */
class Run {
  readonly #scenario: Scenario
  readonly #policy: Policy
  readonly #seed: number
  readonly #world: World
  readonly #checkers: Checker[] = []
  readonly #judges: Judge[] = []
  readonly #results: JobResult[] = []
  #jobsLeft: number
  readonly #jobs: readonly Job[]

  constructor(scenario: Scenario, policy: Policy, seed: number) {
    this.#scenario = scenario
    this.#policy = policy
    this.#seed = seed
    this.#world = new World(scenario, seed)
    this.#jobs = typeof scenario.jobs === 'function' ? scenario.jobs(this.#world.random.fork('jobs')) : scenario.jobs
    this.#jobsLeft = this.#jobs.length
  }

  run(): RunResult {
    const { clock } = this.#world
    try {
      return this.#run()
    } catch (error) {
      const { name } = this.#scenario
      throw new RunFailure({ scenario: name, policy: this.#policy.name, seed: this.#seed, atMs: clock.nowMs() }, error)
    }
  }

  #run(): RunResult {
    const world = this.#world
    const { clock } = world
    for (const { node } of this.#jobs) this.#makeFetching(world.node(node))
    const bytesBefore = this.#heapBytes()
    world.connectAll()
    const bytesPerPeer = (this.#heapBytes() - bytesBefore) / world.nodes.length
    for (const event of this.#scenario.events?.(world.random.fork('events')) ?? []) {
      clock.at(event.atMs, () => {
        if (this.#jobsLeft > 0) world.apply(event)
      })
    }
    for (const job of this.#jobs) clock.at(job.startMs ?? 0, () => this.#start(job))
    while (this.#jobsLeft > 0 && this.#step(this.#scenario.limitMs)) continue
    if (this.#jobsLeft > 0) throw new Violation('wants-end', `${this.#jobsLeft} of ${this.#jobs.length} jobs have not ended`)
    const startMs = Math.min(...this.#results.map((result) => result.startMs))
    const endMs = Math.max(...this.#results.map((result) => result.endMs))
    const figures = this.#figures((endMs - startMs) / 1000)
    const untilMs = clock.nowMs() + settleMs
    while (this.#step(untilMs)) continue
    this.#checkEnd()
    return { ...figures, bytesPerPeer, traceHash: world.trace.digest() }
  }

  #step(untilMs: number): boolean {
    const { clock } = this.#world
    if (clock.ran > eventsMax) throw new Violation('wants-end', `after ${eventsMax} events ${this.#jobsLeft} jobs have not ended`)
    return clock.step(untilMs)
  }

  /** What is in use after collecting; NaN, and no collecting, where nobody asks. */
  #heapBytes(): number {
    if (this.#scenario.isMeasured !== true) return NaN
    setFlagsFromString('--expose-gc')
    runInNewContext('gc')()
    return process.memoryUsage().heapUsed
  }

  #makeFetching(node: SimulatedNode): void {
    if (node.fetching !== undefined) return
    const world = this.#world
    const exempt = new Set<Rule>([...(this.#policy.exempt ?? []), ...(Object.keys(this.#scenario.exempt ?? {}) as Rule[])])
    let judge: Judge | undefined
    const core = this.#policy.create({
      self: node.key,
      random: world.random.fork(`core ${node.key}`),
      queuesInProcess: this.#scenario.queuesInProcess,
      judge: (layer) => {
        judge = new Judge(layer, exempt, (peer) => world.keyed(peer).group.score)
        this.#judges.push(judge)
        return judge
      },
      world: {
        delivers: (peer, key) => world.delivers(peer, key),
        deliveryMs: (peer, bytes) => world.deliveryMs(node, peer, bytes)
      }
    })
    node.fetching = new Fetching({
      clock: world.clock,
      core,
      watch: this.#watch(core, exempt, judge),
      judge,
      storeDelayMs: node.group.storeDelayMs ?? 0,
      has: (block) => node.store.has(block.index),
      block: (cid) => world.block(cid),
      store: (block) => {
        world.trace.add(traceKinds.delivered, world.clock.nowMs(), node.index, node.index, block.index, block.bytes)
        node.keep(block)
      },
      supportsHave: (peer) => world.keyed(peer).supportsHave,
      send: (peer, message) => node.send(peer, message),
      findProviders: (session, cid) => world.findProviders(node, cid, (peer) => node.fetching?.providerFound(session, peer))
    })
  }

  #watch(core: ExchangeCore, exempt: ReadonlySet<Rule>, judge: Judge | undefined): Checker {
    const checker = new Checker(core, exempt, {
      backups: this.#policy.backups,
      roleOf: (peer, key) => judge?.roleOf(peer, key),
      nowMs: () => this.#world.clock.nowMs()
    })
    this.#checkers.push(checker)
    return checker
  }

  #start(job: Job): void {
    const world = this.#world
    const { fetching } = world.node(job.node)
    assert(fetching !== undefined, 'whoever has a job fetches')
    const blocks = world.blocks.slice(...job.blocks)
    const startMs = world.clock.nowMs()
    const fixed = job.fixedPeers === undefined ? undefined : new Set(job.fixedPeers.map((name) => world.node(name).key))
    let bytes = 0
    for (const block of blocks) bytes += block.bytes
    const giveUp = runSessions(job.pattern, job.sessionBlocks, fetching, fixed, blocks, (failed) => {
      this.#jobsLeft -= 1
      this.#results.push({ node: job.node, startMs, endMs: world.clock.nowMs(), blocks: blocks.length, bytes, failed })
    })
    if (job.abortAtMs !== undefined) world.clock.at(job.abortAtMs, giveUp)
  }

  #figures(seconds: number): Omit<RunResult, 'traceHash' | 'bytesPerPeer'> {
    const world = this.#world
    const fetchers = new Map(
      world.nodes.flatMap((node) => (node.fetching === undefined ? [] : [[nodeKey(node.name), node.fetching.figures]]))
    )
    return {
      seed: this.#seed,
      seconds,
      jobs: this.#results,
      fetchers,
      events: world.clock.ran,
      messagesLost: world.network.messagesLost,
      admitted: new Map(world.nodes.map((node) => [nodeKey(node.name), node.serving.admission.admitted]))
    }
  }

  /** Invariant 11, at those who asked and, where no message was lost, at those who were asked. */
  #checkEnd(): void {
    for (const checker of this.#checkers) checker.atEnd()
    for (const judge of this.#judges) judge.atEnd()
    if (this.#world.network.messagesLost > 0 || this.#policy.exempt?.includes('gauges') === true) return
    for (const node of this.#world.nodes) {
      const { ledgers: _known, ...gauges } = node.serving.gauges()
      for (const [name, value] of Object.entries(gauges)) {
        if (value !== 0 && node.fault === undefined) throw new Violation('gauges', `${node.key} is left with ${name} of ${String(value)}`)
      }
    }
  }
}

/** Throws RunFailure where a rule is broken or code throws. */
export function run(scenario: Scenario, policy: Policy, seed: number): RunResult {
  return new Run(scenario, policy, seed).run()
}
