import { InvalidParametersError } from '@shardswap/interface'

const unitMs: Record<string, number> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/**
 * Milliseconds of a duration as Go writes it: `10s`, `1m30s`, `500ms`, `1.5h`. It may be longer than a timer takes.
 * Errors: InvalidParametersError.
 */
export function parseDurationMs(text: string): number {
  // As for Go: the one duration that needs no unit.
  if (text === '0') return 0
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/gy)]
  const read = parts.reduce((length, part) => length + part[0].length, 0)
  if (parts.length === 0 || read !== text.length) {
    throw new InvalidParametersError(`"${text}" is not a duration: write a number and a unit, such as 10s, 1m30s or 500ms`)
  }
  const ms = parts.reduce((sum, part) => sum + Number(part[1]) * (unitMs[part[2] ?? ''] ?? 0), 0)
  return Math.ceil(ms)
}
