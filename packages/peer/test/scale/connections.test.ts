import { expect, it } from 'vitest'
import { expectClean, isFull, scale, workMs } from './scale.ts'
import type { Findings } from './scale-process.ts'

/** The kinds of objects of which there are over `allowed` more than before. */
function more({ counts }: Findings, allowed: number): Record<string, number> {
  const kinds = ['connections', 'streams', 'sockets', 'signals', 'promises']
  return Object.fromEntries(kinds.flatMap((kind) => ((counts[kind] ?? Infinity) > allowed ? [[kind, counts[kind] ?? Infinity]] : [])))
}

const cycles = isFull ? 2000 : 150

it(
  `[F25] ${cycles} times connect, fetch and hang up leave no connection, stream, socket, signal or promise`,
  { timeout: workMs },
  async () => {
    const findings = await scale('reconnects', { cycles })
    expectClean(findings)
    expect(more(findings, 0)).toEqual({})
    const [early = 0, end = 0] = findings.liveBytes
    expect(end).toBeLessThan(early * 1.05)
  }
)

// Pings every 5 ms, where the default is 30 s: three seconds have as many as five hours.
const intervalMs = 5
const forMs = isFull ? 60_000 : 3000

it('[F25] an idle connection that is kept alive all the time costs nothing', { timeout: workMs }, async () => {
  const findings = await scale('keepAlive', { intervalMs, warmUpMs: 1000, forMs })
  expectClean(findings)
  expect(findings.counts['open']).toBe(1)
  // Some pings are always on their way, with twelve promises each; what each of all left behind would be ten times as much.
  expect(more(findings, forMs / intervalMs / 10)).toEqual({})
  const [early = 0, end = 0] = findings.liveBytes
  expect(end).toBeLessThan(early * 1.05)
})
