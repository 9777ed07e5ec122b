/** Does one work at scale and writes what it found as JSON: `scale-process.ts NAME INIT`. Run with --expose-gc. */
import type { PeerGauges } from '../../src/index.ts'
import { keepAlive, reconnects } from './connection-works.ts'
import { sharedSignal, thirds } from './get-works.ts'
import { allAtOnce, bigSession, manyPending, sessionsAtOnce, sessionsInTurn } from './session-works.ts'

export interface Findings {
  /** Live bytes, first at the base and then at points that the work names. */
  readonly liveBytes: readonly number[]
  /** What peers still held once all was over; empty is right. */
  readonly held: readonly Partial<PeerGauges>[]
  /** Numbers that the work counted. */
  readonly counts: Readonly<Record<string, number>>
  /** Warnings of Node, and whatever was written to standard error. */
  readonly warnings: readonly string[]
  readonly seconds: number
}

/** What a work gives back; the rest of its findings is added here. */
export type Outcome = Pick<Findings, 'liveBytes' | 'held' | 'counts'>

const works = { allAtOnce, bigSession, manyPending, sessionsAtOnce, sessionsInTurn, thirds, sharedSignal, reconnects, keepAlive }

/** Works by name, and what each is told. */
export type Work = { readonly [Name in keyof typeof works]: Parameters<(typeof works)[Name]>[0] }

const warnings: string[] = []
process.on('warning', ({ name, message }) => {
  // The one experiment is how objects are counted here.
  if (name !== 'ExperimentalWarning') warnings.push(`${name}: ${message}`)
})

const [, , name = '', init = '{}'] = process.argv
const work = works[name as keyof typeof works] as ((init: unknown) => Promise<Outcome>) | undefined
if (work === undefined) throw new Error(`no work is called ${name}`)
const startedMs = performance.now()
const outcome = await work(JSON.parse(init))
const findings: Findings = { ...outcome, warnings, seconds: (performance.now() - startedMs) / 1000 }
process.stdout.write(JSON.stringify(findings))
