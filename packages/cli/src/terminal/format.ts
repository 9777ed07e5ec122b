/** Numbers as people read them: always with a unit. */

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/** `1536` → `1.5 KiB`. Below 1 KiB the number is exact. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let at = 0
  while (value >= 1024 && at < units.length - 1) {
    value /= 1024
    at++
  }
  return `${at === 0 ? String(value) : value.toFixed(1)} ${units[at] ?? 'B'}`
}

/** `75.2` → `1m 15s`; below a minute with one decimal, `7.5 s`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  const hours = Math.floor(whole / 3600)
  const minutes = Math.floor((whole % 3600) / 60)
  return hours > 0 ? `${hours}h ${minutes}m` : `${minutes}m ${whole % 60}s`
}

/** Bytes a second. */
export function formatRate(bytes: number, seconds: number): string {
  return seconds <= 0 ? '–' : `${formatBytes(Math.round(bytes / seconds))}/s`
}

/** `0.983` → `98.3 %`; a dash where nothing is known. */
export function formatPart(part: number | undefined): string {
  return part === undefined ? '–' : `${(100 * part).toFixed(1)} %`
}

/** Milliseconds, in seconds from ten of them on; a dash where nothing is known. */
export function formatMs(ms: number | undefined): string {
  if (ms === undefined) return '–'
  if (ms >= 10_000) return formatSeconds(ms / 1000)
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`
}

/** Milliseconds since 1970 as `2026-11-30T12:00:00.000Z`; a dash where they are no date, as anybody may state any number. */
export function formatDate(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? '–' : date.toISOString()
}

/** Text as it may go to a terminal: control characters, which could move the cursor or colour the screen, are escaped. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are the characters meant
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)
}
