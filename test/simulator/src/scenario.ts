import type { Random } from '@shardswap/interface'
import type { AdmissionLimits } from '@shardswap/server'
import type { Distribution, SeededRandom } from './engine/random.ts'
import type { Fault } from './nodes/faults.ts'
import type { Pattern } from './pattern.ts'
import type { Rule } from './policy.ts'
import type { PolicyOutcome } from './outcome.ts'
import type { RunResult } from './run-result.ts'

/** A node by its group and its place in it, from 0. */
export type NodeName = readonly [group: string, place: number]

/**
 * Whether a node has a block when the run begins. Called for each block in order; every
 * node of the group draws from the same stream, so that they can agree on who has what.
 */
export type Holding = (block: number, place: number, nodesInGroup: number, random: Random) => boolean

export interface NodeGroup {
  readonly name: string
  readonly count: number
  /** Nothing where it is left out. */
  readonly holds?: Holding
  /** The same as a list, where asking for every block would take long. */
  readonly holdsOnly?: (place: number) => readonly number[]
  /** 1.1.0 knows neither HAVE nor DONT_HAVE. */
  readonly protocol?: '1.2.0' | '1.1.0'
  readonly fault?: Fault
  /** What all links out of one node share. */
  readonly uplinkBytesPerS?: number
  /** Of each look-up and each read of its store. */
  readonly storeDelayMs?: number
  /**
   * Drawn for each block that it sends: how long that block stays behind, while others pass it. Infinity: it
   * never leaves. What is cancelled meanwhile does not leave either.
   */
  readonly answerMs?: Distribution
  /** Its score at every fetching node, whatever it does. */
  readonly score?: number
  /** Whose clients these are: they ask in the name of that owner. In nobody's where this is left out. */
  readonly owner?: string | ((place: number) => string)
  /** Not there until an event says so. */
  readonly isAway?: boolean
  /** Known to routing only: nobody is connected to it when the run begins. */
  readonly isUnconnected?: boolean
}

/** What every serving node knows of owners when the run begins, and how it admits. */
export interface AdmissionPlan {
  /** In place of the defaults. */
  readonly limits?: Partial<AdmissionLimits>
  /** Who has registered how many servers, and what came of the tests of each: verified answers, and none. */
  readonly owners: readonly { readonly owner: string; readonly servers: number; readonly received: number; readonly lost: number }[]
}

/** One direction between two nodes; each number is drawn once for each direction. */
export interface LinkPlan {
  /** One way. */
  readonly delayMs: Distribution
  /** Drawn for each message and added. */
  readonly jitterMs?: Distribution
  /** No limit where it is left out. */
  readonly bytesPerS?: Distribution
  /** Seconds of silence that may be made up for at once; 0 is a wire. */
  readonly burstS?: number
  /** Share of messages that vanish. */
  readonly lossShare?: number
}

/** Someone who fetches. */
export interface Job {
  readonly node: NodeName
  readonly pattern: Pattern
  /** Blocks in the order in which they are asked for: from, and up to but without. */
  readonly blocks: readonly [from: number, to: number]
  readonly startMs?: number
  /** A session for each so many of them, one after the other; one for all where this is left out. */
  readonly sessionBlocks?: number
  /** It ends then, whatever is missing; else it ends when it has everything. */
  readonly abortAtMs?: number
  /** Only these are asked. */
  readonly fixedPeers?: readonly NodeName[]
}

/** Something that happens to the world; what is due after the last job has ended does not. */
export type WorldEvent = { readonly atMs: number } & (
  | { readonly kind: 'join' | 'leave'; readonly node: NodeName }
  /** The connection goes with all that is under way, and comes back. */
  | { readonly kind: 'reset'; readonly one: NodeName; readonly other: NodeName; readonly backAfterMs: number }
  /** The connection stands and carries nothing; or carries again. */
  | { readonly kind: 'cut'; readonly one: NodeName; readonly other: NodeName; readonly isCut: boolean }
  | { readonly kind: 'fault'; readonly node: NodeName; readonly fault: Fault | undefined }
  | { readonly kind: 'put'; readonly node: NodeName; readonly block: number }
)

/** One thing that must hold, and whether it does. */
export interface Verdict {
  readonly what: string
  readonly isMet: boolean
}

/** A world, what is fetched in it, and what must come of it. */
export interface Scenario {
  readonly name: string
  /** One line. */
  readonly summary: string
  /** Scenarios that run together under one name. */
  readonly family?: string
  readonly nodes: readonly NodeGroup[]
  readonly blocks: {
    readonly count: number
    readonly bytes: number | ((index: number) => number)
    /** So many of them, the first, are inner nodes and not raw leaves. */
    readonly innerNodes?: number
  }
  /** Of a direction, by the groups at its ends. */
  link(from: string, to: string): LinkPlan
  readonly jobs: readonly Job[] | ((random: SeededRandom) => readonly Job[])
  readonly events?: (random: SeededRandom) => readonly WorldEvent[]
  /** Nobody has registered a server where this is left out. */
  readonly admission?: AdmissionPlan
  /** How long routing takes to name who holds a block; it knows nobody where this is left out. */
  readonly routingMs?: number
  /** Message queues of all nodes, where what it is compared with ran in one process. */
  readonly queuesInProcess?: number
  /** By then everything must be over. */
  readonly limitMs: number
  /** Seeds run where nobody says how many; 10 where this is left out. */
  readonly runs?: { readonly count: number; readonly because: string }
  /** Rules that this world makes impossible to keep or to see, with the reason. */
  readonly exempt?: Partial<Record<Rule, string>>
  /** Numbers of its own, of one run. */
  readonly fields?: (run: RunResult) => Readonly<Record<string, number>>
  /** What must hold for our policy. */
  readonly target?: (ours: PolicyOutcome, all: ReadonlyMap<string, PolicyOutcome>, compared?: PolicyOutcome) => readonly Verdict[]
  /** Run by our policy as well, with the same seeds: what the target compares with. */
  readonly compareWith?: Scenario
  /** The memory that a connected peer takes is measured: `bytesPerPeer`. */
  readonly isMeasured?: boolean
  /** Policies that run where nobody names any; ours alone where this is left out. */
  readonly policies?: readonly string[]
  /** What today's boxo needs for it, in seconds. */
  readonly boxoSeconds?: number
}
