/** Modes and times of files as Go writes them into JSON, and so Kubo's `ls`. */
import type { EntryType, UnixTime } from '@shardswap/content'

/** Go's bits beyond the permissions, each beside Unix's. */
const specialBits: readonly (readonly [go: number, unix: number])[] = [
  [2 ** 23, 0o4000],
  [2 ** 22, 0o2000],
  [2 ** 20, 0o1000]
]
const kindBits: Partial<Record<EntryType, number>> = { directory: 2 ** 31, symlink: 2 ** 27 }

/** A mode as Go numbers it; 0 where none is known. */
export function goMode(mode: number | undefined, type: EntryType): number {
  if (mode === undefined) return 0
  return specialBits.reduce((sum, [go, unix]) => sum + ((mode & unix) === 0 ? 0 : go), (mode & 0o777) + (kindBits[type] ?? 0))
}

/** The mode that Go's number says; undefined for 0. */
export function modeOfGo(number: number): number | undefined {
  if (number === 0) return undefined
  return specialBits.reduce((mode, [go, unix]) => mode | (Math.floor(number / go) % 2 === 0 ? 0 : unix), number % 0o1000)
}

/** The time that Go prints where it has none. */
const noTime = '0001-01-01T00:00:00Z'

/** A time as RFC 3339 with as many decimals as it has; Go's zero where none is known, or where it is beyond four-digit years. */
export function goTime(mtime: UnixTime | undefined): string {
  const date = new Date(Number(mtime?.secs ?? NaN) * 1000)
  const year = date.getUTCFullYear()
  if (mtime === undefined || Number.isNaN(year) || year < 0 || year > 9999) return noTime
  const decimals = String(mtime.nsecs ?? 0)
    .padStart(9, '0')
    .replace(/0+$/, '')
  return `${date.toISOString().slice(0, 19)}${decimals === '' ? '' : `.${decimals}`}Z`
}
