import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const main = join(import.meta.dirname, '../src/main.ts')

interface Run {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command as `pnpm bench` would, without the test runner's own flags. */
async function bench(...args: string[]): Promise<Run> {
  const { NODE_OPTIONS: _, ...env } = process.env
  const { promise, resolve } = Promise.withResolvers<Run>()
  const child = execFile(process.execPath, [main, ...args], { env }, (_error, stdout, stderr) => {
    resolve({ code: child.exitCode ?? -1, stdout, stderr })
  })
  return await promise
}

interface Json {
  name: string
  ours: Record<string, number>
  baselines: Record<string, Record<string, number>>
  ratios: Record<string, number>
  rows: { name: string; ours: Record<string, number>; ratios: Record<string, number> }[]
}

async function tiny(name: string, baselines: string): Promise<Json> {
  const { code, stdout, stderr } = await bench(name, '--json', '--runs', '1', '--scale', '0.01', '--baselines', baselines)
  // In one comparison, so that a failure shows what the command said.
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('run 1 of 1: ours') })
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Json
}

describe('pnpm bench', { timeout: 180_000 }, () => {
  it.each([
    { name: 'throughput', baselines: ['bareStream', 'helia'], figure: 'mbPerS', figures: ['mbPerSMin', 'mbPerSMax'], rows: 1 },
    { name: 'sharding', baselines: [], figure: 'mbPerS', figures: ['duplicateShare'], rows: 2 },
    { name: 'wan', baselines: ['undelayed'], figure: 'mbPerS', figures: ['duplicateShare', 'relayedShare'], rows: 4 },
    { name: 'small-blocks', baselines: [], figure: 'blocksPerS', figures: ['seconds'], rows: 2 },
    { name: 'latency', baselines: ['helia', 'ping'], figure: 'p50Ms', figures: ['p99Ms'], rows: 1 },
    { name: 'memory', baselines: [], figure: 'peakMb', figures: ['downloaderMb', 'providerMb', 'growthMb'], rows: 2 },
    { name: 'decisions', baselines: [], figure: 'decisionsPerS', figures: ['microsPerDecision', 'overLog'], rows: 5 },
    { name: 'serve-fairness', baselines: [], figure: 'turns', figures: ['waitMs', 'leastShare'], rows: 1 }
  ])('measures $name', async ({ name, baselines, figure, figures, rows }) => {
    const result = await tiny(name, baselines.join(','))
    expect(result.name).toBe(name)
    expect(Object.keys(result.baselines).toSorted()).toEqual(baselines.toSorted())
    for (const party of [result.ours, ...Object.values(result.baselines)]) expect(party[figure]).toBeGreaterThan(0)
    for (const baseline of baselines) {
      const theirs = result.baselines[baseline]?.[figure] ?? Number.NaN
      expect(result.ratios[baseline]).toBeCloseTo((result.ours[figure] ?? Number.NaN) / theirs, 1)
    }
    expect(result.rows).toHaveLength(rows)
    expect(result.rows[0]?.ours).toEqual(result.ours)
    expect(Object.keys(result.ours)).toEqual(expect.arrayContaining(['runs', ...figures]))
  })

  it('lists the benches', async () => {
    const { code, stdout } = await bench('--list')
    expect(code).toBe(0)
    expect(stdout.split('\n').map((line) => line.split(' ')[0])).toEqual(expect.arrayContaining(['throughput', 'memory']))
  })

  it.each([
    [['nonsense'], 'no bench nonsense'],
    [[], 'name a bench'],
    [['latency', '--runs', '0'], '--runs takes a number above 0'],
    [['latency', '--runs', '1.5'], '--runs takes a whole number'],
    [['latency', '--runs', 'Infinity'], '--runs takes a number above 0'],
    [['latency', '--runs=-1'], '--runs takes a number above 0'],
    [['latency', '--scale', 'Infinity'], '--scale takes a number above 0'],
    [['latency', '--baselines', 'helia,nobody'], 'latency has no baseline nobody here; there are helia, ping'],
    [['decisions', '--baselines', 'helia'], 'decisions has no baseline helia here'],
    [['latency', 'memory'], 'no bench latency memory'],
    [['latency', '--fast'], '--fast']
  ])('refuses %s', async (args, complaint) => {
    const { code, stdout, stderr } = await bench(...args)
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(complaint)
  })

  it('says in a line where it cannot write, before it measures anything', async () => {
    const { code, stdout, stderr } = await bench('latency', '--profile', '/dev/null/profiles')
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(/^Error: ENOTDIR: .*\n$/) })
  })
})
