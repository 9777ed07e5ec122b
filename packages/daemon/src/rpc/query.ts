import { type CID, InvalidParametersError } from '@shardswap/interface'
import { parseCid } from '../cid.ts'
import { parseDurationMs } from '../duration.ts'

/** Arguments and options of a call. Options that this node does not have are ignored, as a newer client may send them. */
export class Query {
  readonly #params: URLSearchParams
  readonly #more: readonly string[]

  /** `more`: arguments that stand elsewhere, after those of the parameters. */
  constructor(params: URLSearchParams, more: readonly string[] = []) {
    this.#params = params
    this.#more = more
  }

  /** All arguments; at least one. */
  args(): readonly [string, ...string[]] {
    const [first, ...others] = this.#all()
    if (first === undefined || first === '') throw new InvalidParametersError('argument "arg" is required')
    return [first, ...others]
  }

  /** All arguments, which may be none. */
  argsIfAny(): readonly string[] {
    return this.#all().filter((text) => text !== '')
  }

  /** The only argument. As for Kubo, of those that stand elsewhere no more than one is looked at. */
  arg(): string {
    const given = this.#params.getAll('arg').length
    if (given > 1) throw new InvalidParametersError(`expected 1 argument, got ${given}`)
    return this.args()[0]
  }

  #all(): readonly string[] {
    return [...this.#params.getAll('arg'), ...this.#more]
  }

  cids(): readonly CID[] {
    return this.args().map(parseCid)
  }

  text(name: string): string | undefined {
    const value = this.#params.get(name)
    return value === null || value === '' ? undefined : value
  }

  /** The same where an empty text is no wish for the default, but a variable that was not set. */
  given(name: string): string | undefined {
    if (this.#params.get(name) === '') throw new InvalidParametersError(`option "${name}" is empty`)
    return this.text(name)
  }

  /** Undefined where the option was not given. */
  flag(name: string): boolean | undefined {
    const value = this.#params.get(name)
    if (value === null) return undefined
    if (value === '' || value === 'true' || value === '1') return true
    if (value === 'false' || value === '0') return false
    throw new InvalidParametersError(`option "${name}" is true or false, not "${value}"`)
  }

  integer(name: string): number | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    const number = Number(value)
    if (!/^-?\d+$/.test(value) || !Number.isSafeInteger(number)) {
      throw new InvalidParametersError(`option "${name}" is a whole number, not "${value}"`)
    }
    return number
  }

  /** A whole number that is not negative. */
  count(name: string): number | undefined {
    const number = this.integer(name)
    if (number !== undefined && number < 0) throw new InvalidParametersError(`option "${name}" is not below 0`)
    return number
  }

  timeoutMs(): number | undefined {
    const value = this.text('timeout')
    return value === undefined ? undefined : parseDurationMs(value)
  }
}
