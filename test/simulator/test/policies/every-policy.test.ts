import { array, assert, constantFrom, integer, nat, oneof, property, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SeededRandom } from '../../src/engine/random.ts'
import { baselines } from '../../src/policies/index.ts'
import { Drive, nothing } from './drive.ts'

const peer = constantFrom('A', 'B', 'C', 'D')
const block = constantFrom('a', 'b', 'c', 'd', 'e', 'f')
const session = integer({ min: 1, max: 2 })

/** Something that may happen, as it comes from a network that keeps no rules. */
const happening = oneof(
  record({ kind: constantFrom('connect' as const, 'connect-old' as const, 'disconnect' as const), peer }),
  record({ kind: constantFrom('have' as const, 'dont-have' as const, 'block' as const), peer, block }),
  record({ kind: constantFrom('want' as const, 'drop' as const), session, block }),
  record({ kind: constantFrom('found' as const), session, peer }),
  record({ kind: constantFrom('close' as const), session }),
  record({ kind: constantFrom('wait' as const), waitMs: nat(3000) })
)
type Happening = typeof happening extends { generate: (...a: never[]) => { value: infer T } } ? T : never

function happen(drive: Drive, open: Set<number>, event: Happening): void {
  if ('session' in event && event.kind !== 'close' && !open.has(event.session)) {
    drive.open(event.session)
    open.add(event.session)
  }
  switch (event.kind) {
    case 'connect':
    case 'connect-old':
      drive.connect(event.peer, event.kind === 'connect')
      break
    case 'disconnect':
      drive.disconnect(event.peer)
      break
    case 'want':
      drive.want(event.block, event.session)
      break
    case 'drop':
      drive.drop(event.block, event.session)
      break
    case 'found':
      drive.found(event.peer, event.session)
      break
    case 'close':
      drive.close(event.session)
      open.delete(event.session)
      break
    case 'wait':
      drive.until(drive.nowMs + event.waitMs)
      break
    case 'have':
    case 'dont-have':
    case 'block':
      drive.says(`${event.peer}: ${event.kind} ${event.block}`)
  }
}

/** Messages to somebody who is not there. */
function toStrangers(lines: readonly string[], connected: ReadonlySet<string>): string[] {
  return lines.filter((line) => {
    const to = / ([A-D]): /.exec(line)?.[1]
    return to !== undefined && !connected.has(to)
  })
}

describe.each(baselines.map(({ name }) => name))('%s', (policy) => {
  it.each(['own', 'ours'] as const)('keeps nothing once its sessions have ended, whatever happened, with %s deadlines', (deadlines) => {
    assert(
      property(array(happening, { maxLength: 60 }), nat(1000), (events, seed) => {
        const drive = new Drive(policy, { random: new SeededRandom(seed), deadlines })
        const open = new Set<number>()
        const connected = new Set<string>()
        for (const event of events) {
          if (event.kind === 'connect' || event.kind === 'connect-old') connected.add(event.peer)
          happen(drive, open, event)
          expect(toStrangers(drive.lines, connected)).toEqual([])
          if (event.kind === 'disconnect') connected.delete(event.peer)
        }
        for (const id of open) drive.close(id)
        drive.until(drive.nowMs + 10_000)
        const { peers, ...rest } = drive.gauges
        expect(rest).toEqual(nothing)
        expect(peers).toBeLessThanOrEqual(4)
        expect(drive.core.wakeAtMs()).toBeUndefined()
        expect(drive.core.queues().every(({ inFlight, haves, inFlightBytes }) => inFlight + haves + inFlightBytes === 0)).toBe(true)
      }),
      { numRuns: 150, seed: 4 }
    )
  })

  it('ends its wants: by the block where anybody sends it, else by giving up', () => {
    // What the oracle sees: only B ever sends anything.
    const world = { delivers: (key: string) => key === 'B', deliveryMs: () => 0 }
    const drive = new Drive(policy, { world }).connect('AB').open().want('a b c')
    for (let round = 0; round < 400 && drive.core.gauges().wants > 1; round++) {
      drive.until(drive.nowMs + 50)
      const asked = drive.core.standingAt('B' as never).map(({ cid }) => new TextDecoder().decode(cid.multihash.digest).slice(0, 1))
      // A is silent, and B has all but c.
      for (const name of asked) drive.says(name === 'c' ? 'B: dont-have c' : `B: block ${name}`)
    }
    expect(drive.core.total.blocks).toBe(2)
    const lines = drive.until(drive.nowMs + 70_000).lines
    expect(lines.filter((line) => line.endsWith('give up c')).length).toBeGreaterThan(0)
    expect(
      drive
        .drop('c')
        .close()
        .until(drive.nowMs + 5000).gauges
    ).toEqual({ peers: 2, ...nothing })
  })
})
