/** A clock that never jumps: milliseconds since the process began. */
export function nowMs(): number {
  return performance.now()
}
