/** Checks of plain data that somebody else wrote: everything in it may be wrong. */

/** Whether this is an object, and no list, whose fields may be looked at; each of them may be anything. */
export function isObject<T>(value: unknown): value is Partial<Record<keyof T, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether this is a number of things: whole, not below 0, and exact. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
