import { type CID, InvalidParametersError } from '@shardswap/interface'
import { parseCid } from '../cid.ts'
import { parseDurationMs } from '../duration.ts'

/** Arguments and options of a call. Options that this node does not have are ignored, as a newer client may send them. */
export class Query {
  readonly #params: URLSearchParams

  constructor(params: URLSearchParams) {
    this.#params = params
  }

  /** All arguments; at least one. */
  args(): readonly [string, ...string[]] {
    const [first, ...others] = this.#params.getAll('arg')
    if (first === undefined || first === '') throw new InvalidParametersError('argument "arg" is required')
    return [first, ...others]
  }

  /** All arguments, which may be none. */
  argsIfAny(): readonly string[] {
    return this.#params.getAll('arg').filter((text) => text !== '')
  }

  /** The only argument. */
  arg(): string {
    const args = this.args()
    if (args.length > 1) throw new InvalidParametersError(`expected 1 argument, got ${args.length}`)
    return args[0]
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
