import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { runCommand } from '../src/command.ts'

async function simulate(...args: string[]): Promise<{ code: number; out: string[]; error: string }> {
  const out: string[] = []
  const errors: string[] = []
  const code = await runCommand(args, { out: (line) => out.push(line), error: (line) => errors.push(line) })
  return { code, out, error: errors.join('\n') }
}

function json(out: readonly string[]): Record<string, unknown> {
  return JSON.parse(out.at(-1) ?? '') as Record<string, unknown>
}

/** How long ours takes for `silent-30`, on the virtual clock. */
async function secondsOf(...args: string[]): Promise<unknown> {
  const { code, out } = await simulate('silent-30', '--policy', 'shardswap', '--seed', '3', '--json', ...args)
  expect(code).toBe(0)
  return (json(out).policies as Record<string, Record<string, unknown>>).shardswap?.seconds
}

describe('pnpm simulate', () => {
  it('tells what is wrong with its words, and how they go', async () => {
    const cases: [string[], string][] = [
      [[], 'one scenario, please'],
      [['twenty-children', 'healthy'], 'one scenario, please'],
      [['twenty'], 'no scenario is called "twenty"; there are twenty-children'],
      [['nonsense'], 'no scenario is called "nonsense"; pnpm simulate --list names them'],
      [['twenty-children', '--policy', 'best'], 'no policy is called "best"; there are '],
      [['twenty-children', '--seed', '-1'], '--seed'],
      [['twenty-children', '--seed', 'one'], '--seed must be a whole number, not "one"'],
      [['twenty-children', '--runs', '0'], '--runs must be at least 1'],
      [['twenty-children', '--runs', '999999999999'], '--runs must be at most 100000'],
      [['twenty-children', '--seed', '9007199254740991'], '--seed must be at most '],
      [['twenty-children', '--runs', ''], '--runs must be a whole number'],
      [['twenty-children', '--policy', ''], 'no policy is called ""'],
      [['twenty-children', '--runs'], '--runs'],
      [['canary', '--runs', '0'], '--runs must be at least 1'],
      [['canary', '--runs', '2'], 'the canary runs once'],
      [['canary', '--deadlines', 'none'], '--deadlines must be own or ours'],
      [['twenty-children', '--set', 'successPower'], '--set takes NAME=NUMBER, not "successPower"'],
      [['twenty-children', '--set', 'successPower=high'], '--set takes NAME=NUMBER'],
      [['twenty-children', '--set', 'power=1'], 'no limit is called "power"'],
      [['twenty-children', '--fast'], '--fast']
    ]
    for (const [args, message] of cases) {
      const { code, out, error } = await simulate(...args)
      expect([args, code, out]).toEqual([args, 2, []])
      expect(error).toContain(message)
      expect(error).toContain('--list')
    }
  })

  it('lists scenarios and policies, and explains itself', async () => {
    const { code, out } = await simulate('--list')
    expect(code).toBe(0)
    for (const name of ['go-benchmarks', 'canary', 'storm', 'twenty-children', 'churn-10k', 'slow-honest', 'one-want-block', 'oracle']) {
      expect(out.some((line) => line.trim().startsWith(name))).toBe(true)
    }
    expect(await simulate('--help')).toMatchObject({ code: 0, error: '' })
  })

  it('tries limits of ours out: of the broker, the layer and its budget', async () => {
    const usual = await secondsOf()
    for (const setting of ['timeoutMinMs=2000', 'successPower=1', 'backupShare=0'])
      expect(await secondsOf('--set', setting)).not.toBe(usual)
    expect(await secondsOf('--set', 'backupShare=0.05')).toBe(usual)
  })

  it('gives one scenario as one object, on the last line', async () => {
    const { code, out } = await simulate('3Nodes-AllToAll-OneAtATime', '--policy', 'round-robin,uniform', '--runs', '2', '--json')
    expect(code).toBe(0)
    const { scenario, seeds, policies, traceHash } = json(out)
    expect([scenario, seeds]).toEqual(['FixedDelay/3Nodes-AllToAll-OneAtATime', [1, 2]])
    expect(traceHash).toMatch(/^[0-9a-f]{64}$/)
    expect(policies).toMatchObject({
      'round-robin': { seconds: 2, p50Ms: 20, p95Ms: 20, duplicateShare: 0, failed: 0, intervals: { seconds: [2, 2] } },
      uniform: { seconds: 2 }
    })
    for (const name of ['p99Ms', 'p999Ms', 'wantBlocksPerBlock', 'messages', 'shareError', 'brier', 'traceHash']) {
      expect((policies as Record<string, object>)['uniform']).toHaveProperty(name)
    }
  })

  it('gives a family as rows, beside what boxo takes', async () => {
    const { code, out } = await simulate('slow-honest', '--policy', 'oracle', '--seed', '3', '--json')
    expect(code).toBe(0)
    expect(json(out)).toMatchObject({
      scenario: 'slow-honest',
      rows: [
        { name: 'slow-honest/256KiB', policy: 'oracle', seeds: [3] },
        { name: 'slow-honest/2MiB', policy: 'oracle', seeds: [3] }
      ]
    })
  })

  it('prints the seed of a failure and the command that gives it again, and ends with 1', async () => {
    const args = ['storm', '--policy', 'all-providers', '--seed', '2']
    const { code, error } = await simulate(...args)
    expect(code).toBe(1)
    expect(error).toMatch(/^storm, policy all-providers, seed 2, at \d+\.\d{3} ms: rule "[a-z-]+" broken: /)
    expect(error).toContain(`replay: pnpm simulate ${args.join(' ')}`)
    expect((await simulate(...args)).error).toBe(error)
  })

  it('ends at once where nobody reads any more', { timeout: 60_000 }, async () => {
    const { NODE_OPTIONS: _, ...env } = process.env
    const child = spawn(process.execPath, [join(import.meta.dirname, '../src/main.ts'), 'go-benchmarks'], {
      env,
      stdio: ['ignore', 'pipe', 'pipe']
    })
    child.stdout.once('data', () => child.stdout.destroy())
    const [complaint, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
    expect([code, complaint]).toEqual([0, ''])
  })
})
