import { describe, expect, it } from 'vitest'
import { runCommand } from '../src/command.ts'

function simulate(...args: string[]): { code: number; out: string[]; error: string } {
  const out: string[] = []
  const errors: string[] = []
  const code = runCommand(args, { out: (line) => out.push(line), error: (line) => errors.push(line) })
  return { code, out, error: errors.join('\n') }
}

function json(out: readonly string[]): Record<string, unknown> {
  return JSON.parse(out.at(-1) ?? '') as Record<string, unknown>
}

describe('pnpm simulate', () => {
  it('tells what is wrong with its words, and how they go', () => {
    const cases: [string[], string][] = [
      [[], 'one scenario, please'],
      [['twenty-children', 'healthy'], 'one scenario, please'],
      [['twenty'], 'no scenario is called "twenty"; there are twenty-children'],
      [['nonsense'], 'no scenario is called "nonsense"; pnpm simulate --list names them'],
      [['twenty-children', '--policy', 'best'], 'no policy is called "best"; there are '],
      [['twenty-children', '--seed', '-1'], '--seed'],
      [['twenty-children', '--seed', 'one'], '--seed must be a whole number, not "one"'],
      [['twenty-children', '--runs', '0'], '--runs must be at least 1'],
      [['twenty-children', '--fast'], '--fast']
    ]
    for (const [args, message] of cases) {
      const { code, out, error } = simulate(...args)
      expect([args, code, out]).toEqual([args, 2, []])
      expect(error).toContain(message)
      expect(error).toContain('--list')
    }
  })

  it('lists scenarios and policies, and explains itself', () => {
    const { code, out } = simulate('--list')
    expect(code).toBe(0)
    for (const name of ['go-benchmarks', 'canary', 'storm', 'twenty-children', 'churn-10k', 'slow-honest', 'one-want-block', 'oracle']) {
      expect(out.some((line) => line.trim().startsWith(name))).toBe(true)
    }
    expect(simulate('--help')).toMatchObject({ code: 0, error: '' })
  })

  it('gives one scenario as one object, on the last line', () => {
    const { code, out } = simulate('3Nodes-AllToAll-OneAtATime', '--policy', 'round-robin,uniform', '--runs', '2', '--json')
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

  it('gives a family as rows, beside what boxo takes', () => {
    const { code, out } = simulate('slow-honest', '--policy', 'oracle', '--seed', '3', '--json')
    expect(code).toBe(0)
    expect(json(out)).toMatchObject({
      scenario: 'slow-honest',
      rows: [
        { name: 'slow-honest/256KiB', policy: 'oracle', seeds: [3] },
        { name: 'slow-honest/2MiB', policy: 'oracle', seeds: [3] }
      ]
    })
  })

  it('prints the seed of a failure and the command that gives it again, and ends with 1', () => {
    const args = ['storm', '--policy', 'all-providers', '--seed', '2']
    const { code, error } = simulate(...args)
    expect(code).toBe(1)
    expect(error).toMatch(/^storm, policy all-providers, seed 2, at \d+\.\d{3} ms: rule "[a-z-]+" broken: /)
    expect(error).toContain(`replay: pnpm simulate ${args.join(' ')}`)
    expect(simulate(...args).error).toBe(error)
  })
})
