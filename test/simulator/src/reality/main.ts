/** Holds the simulator against real TCP: `pnpm simulate:reality [SET-UP…]`, all of them where none is named. */
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

const names = process.argv.slice(2)
const chosen = names.length === 0 ? setups : setups.filter(({ name }) => names.includes(name))
if (chosen.length === 0 || chosen.length < names.length) {
  process.stderr.write(`set-ups are ${setups.map(({ name }) => name).join(', ')}\n`)
  process.exitCode = 2
} else {
  for (const setup of chosen) {
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
    process.stdout.write(
      [
        `${isNear ? 'near' : 'FAR '} ${setup.name}: ${setup.summary}`,
        `     seconds      TCP ${tcp.seconds.toFixed(3)}, simulator ${simulator.seconds.toFixed(3)}: ${percent(seconds)} apart, at most ${percent(secondsApartMax)}`,
        `     want-blocks  TCP ${tcp.wantBlocks}, simulator ${simulator.wantBlocks}: ${percent(wantBlocks)} apart, at most ${percent(wantBlocksApartMax)}`,
        ''
      ].join('\n')
    )
    if (!isNear) process.exitCode = 1
  }
}
