const dayMs = 86_400_000
const daysPerEra = 146_097

/** When the period begins that `wallMs` lies in, in milliseconds since 1970 in UTC. */
export function periodStartMs(wallMs: number, periodMs: number): number {
  return Math.floor(wallMs / periodMs) * periodMs
}

/** What a period is called: its day, or its first minute or millisecond where days are too coarse. All in UTC. */
export function periodName(startMs: number, periodMs: number): string {
  const days = Math.floor(startMs / dayMs)
  const date = dateOf(days)
  if (periodMs % dayMs === 0) return date
  const ms = startMs - days * dayMs
  const minutes = Math.floor(ms / 60_000)
  const time = `${date}T${digits(Math.floor(minutes / 60), 2)}:${digits(minutes % 60, 2)}`
  return periodMs % 60_000 === 0 ? time : `${time}:${digits((ms % 60_000) / 1000, 2)}`
}

/** The date of a day counted from 1970-01-01, in the Gregorian calendar. */
function dateOf(days: number): string {
  // Counted from 0000-03-01 a leap day is the last of its year, and 400 years always have as many days.
  const sinceMarch = days + 719_468
  const era = Math.floor(sinceMarch / daysPerEra)
  const day = sinceMarch - era * daysPerEra
  const yearOfEra = Math.floor((day - Math.floor(day / 1460) + Math.floor(day / 36_524) - Math.floor(day / 146_096)) / 365)
  const dayOfYear = day - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const dayOfMonth = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return `${digits(year, 4)}-${digits(month, 2)}-${digits(dayOfMonth, 2)}`
}

function digits(value: number, count: number): string {
  return value < 0 ? `-${digits(-value, count)}` : String(value).padStart(count, '0')
}
