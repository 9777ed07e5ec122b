import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import type { Findings, Work } from './scale-process.ts'

/** Set by `pnpm scale:full`. Without it the reconnects, pings and plain gets are fewer than their reports have; all else is in full. */
export const isFull = process.env['SHARDSWAP_SCALE'] === 'full'

/** Milliseconds that one work may take. */
export const workMs = isFull ? 600_000 : 120_000

/** Does a work in a process of its own, where memory is nobody else's. Throws where the process fails. */
export async function scale<Name extends keyof Work>(name: Name, init: Work[Name]): Promise<Findings> {
  const program = fileURLToPath(new URL('scale-process.ts', import.meta.url))
  const args = ['--expose-gc', '--trace-warnings', '--disable-warning=ExperimentalWarning', program, name, JSON.stringify(init)]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { timeout: workMs, maxBuffer: 64 * 1024 * 1024 })
  const findings = JSON.parse(stdout) as Findings
  return { ...findings, warnings: [...findings.warnings, ...(stderr === '' ? [] : [stderr])] }
}

/** Nobody holds anything, no timer is left and Node complained of nothing. */
export function expectClean({ held, warnings, counts }: Findings): void {
  expect({ held, warnings }).toEqual({ held: [], warnings: [] })
  expect(counts['timersLeft'] ?? 0).toBeLessThanOrEqual(0)
}
