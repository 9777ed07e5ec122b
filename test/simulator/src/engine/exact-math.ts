/**
 * ln and exp from additions, multiplications and divisions alone. Those and the
 * square root are rounded alike by every machine; Math.log, Math.exp and
 * Math.cos may differ in their last bit, and one bit is another run.
 */

const termsMax = 40

/** The natural logarithm of a finite number above 0. */
export function ln(value: number): number {
  let mantissa = value
  let exponent = 0
  while (mantissa > 1.5) {
    mantissa /= 2
    exponent += 1
  }
  while (mantissa < 0.75) {
    mantissa *= 2
    exponent -= 1
  }
  // ln m = 2 artanh((m − 1) / (m + 1)), a series that converges fast near 1.
  const ratio = (mantissa - 1) / (mantissa + 1)
  const square = ratio * ratio
  let power = ratio
  let sum = 0
  for (let term = 1; term < termsMax; term += 2) {
    sum += power / term
    power *= square
  }
  return 2 * sum + exponent * Math.LN2
}

/** e to the power of a number between −700 and 700. */
export function exp(value: number): number {
  const halvings = Math.round(value / Math.LN2)
  const rest = value - halvings * Math.LN2
  let term = 1
  let sum = 1
  for (let n = 1; n < termsMax; n++) {
    term *= rest / n
    sum += term
  }
  for (let n = 0; n < halvings; n++) sum *= 2
  for (let n = 0; n > halvings; n--) sum /= 2
  return sum
}
