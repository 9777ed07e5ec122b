/** Holds the simulator against real TCP: `pnpm simulate:reality [SET-UP…]`, all of them where none is named. */
import { parseArgs } from 'node:util'
import { printing } from '../printing.ts'
import { median } from '../statistics.ts'
import { policies } from '../registry.ts'
import { run } from '../run.ts'
import { ours } from '../simulate.ts'
import { type Measured, onTcp } from './on-tcp.ts'
import { type Setup, setups, simulated } from './setups.ts'

/** How far the two may be apart, over the real one. */
const secondsApartMax = 0.2
const wantBlocksApartMax = 0.05
/** Runs of each. */
const runs = 3

function inSimulator(setup: Setup, seed: number): Measured {
  const policy = policies.get(ours)
  if (policy === undefined) throw new Error(`no policy is called ${ours}`)
  const result = run(simulated(setup), policy, seed)
  let wantBlocks = 0
  for (const figures of result.fetchers.values()) wantBlocks += figures.wantBlocks
  return { seconds: result.seconds, wantBlocks }
}

/** The shortest time, since whatever else the machine does only adds to it; and the median of the want-blocks. */
function summed(measured: readonly Measured[]): Measured {
  return {
    seconds: Math.min(...measured.map(({ seconds }) => seconds)),
    wantBlocks: median(measured.map(({ wantBlocks }) => wantBlocks))
  }
}

function apart(one: number, real: number): number {
  return (one - real) / real
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}

const usage = `Usage: pnpm simulate:reality [SET-UP…] [--help]

Runs set-ups in the simulator and on real TCP, ${runs} times each, and tells how far the two are apart.
Without a name, all of them:
${setups.map(({ name, summary }) => `  ${name.padEnd(20)}${summary}`).join('\n')}

Examples:
  pnpm simulate:reality
  pnpm simulate:reality one-provider

Exit codes: 0 the two are near, 1 they are not, 2 wrong usage.`

/** One set-up, both ways. Resolves to whether the two agree. */
async function compare(setup: Setup): Promise<boolean> {
  const real: Measured[] = []
  const virtual: Measured[] = []
  for (let seed = 1; seed <= runs; seed++) {
    real.push(await onTcp(setup))
    virtual.push(inSimulator(setup, seed))
  }
  const [tcp, simulator] = [summed(real), summed(virtual)]
  const seconds = apart(simulator.seconds, tcp.seconds)
  const wantBlocks = apart(simulator.wantBlocks, tcp.wantBlocks)
  const isNear = Math.abs(seconds) <= secondsApartMax && Math.abs(wantBlocks) <= wantBlocksApartMax
  output.out(`${isNear ? 'near' : 'FAR '} ${setup.name}: ${setup.summary}`)
  output.out(
    `     seconds      TCP ${tcp.seconds.toFixed(3)}, simulator ${simulator.seconds.toFixed(3)}: ${percent(seconds)} apart, at most ${percent(secondsApartMax)}`
  )
  output.out(
    `     want-blocks  TCP ${tcp.wantBlocks}, simulator ${simulator.wantBlocks}: ${percent(wantBlocks)} apart, at most ${percent(wantBlocksApartMax)}`
  )
  return isNear
}

/** The set-ups that are asked for, or what is wrong with the words. */
function chosenBy(args: readonly string[]): readonly Setup[] | string {
  let names: string[]
  try {
    names = parseArgs({ args: [...args], allowPositionals: true, options: {} }).positionals
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  const unknown = names.find((name) => setups.every((setup) => setup.name !== name))
  if (unknown !== undefined) return `no set-up is called "${unknown}"`
  return names.length === 0 ? setups : setups.filter(({ name }) => names.includes(name))
}

const output = printing()
const args = process.argv.slice(2)
if (args.includes('--help')) output.out(usage)
else {
  const chosen = chosenBy(args)
  if (typeof chosen === 'string') {
    output.error(`${chosen}\n\n${usage}`)
    process.exitCode = 2
  } else {
    for (const setup of chosen) if (!(await compare(setup))) process.exitCode = 1
  }
}
