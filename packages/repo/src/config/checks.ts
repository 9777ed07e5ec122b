/** What values of the config may be. A check throws ConfigError, which names the key. */
import { ConfigError } from '../errors.ts'

export interface Check<T> {
  /** What the value is, in words for documents: `a multiaddr`. */
  readonly words: string
  /** Whether a word of the command line stands for the value as it is, or is read as JSON. */
  readonly isText: boolean
  /** Whether the value is a list, of which each word of the command line is an entry. */
  readonly isList: boolean
  parse(value: unknown, key: string): T
}

function refuse(key: string, must: string, value: unknown): never {
  throw new ConfigError(`config: ${key} must be ${must}, not ${JSON.stringify(value)}`)
}

function scalar<T>(words: string, isText: boolean, parse: (value: unknown, key: string) => T): Check<T> {
  return { words, isText, isList: false, parse }
}

/** A text that `pattern` matches; `words` say what it is. */
export function text(words: string, pattern: RegExp): Check<string> {
  return scalar(words, true, (value, key) => (typeof value === 'string' && pattern.test(value) ? value : refuse(key, words, value)))
}

export const multiaddrText = text('a multiaddr such as /ip4/127.0.0.1/tcp/4001', /^\/[a-z0-9]+\/\S+$/)

/** The multiaddr of a peer, with its id at the end: in base58, or as a CID in base32 or base36. */
export const peerMultiaddr = text(
  'the multiaddr of a peer, such as /ip4/192.0.2.1/tcp/4001/p2p/12D3…',
  /^\/[a-z0-9]+\/\S+\/p2p\/(?:(?:1|Qm)[1-9A-HJ-NP-Za-km-z]{40,}|[bk][a-z0-9]{40,})$/
)

export const httpUrl = scalar('a URL such as https://example.com', true, (value, key): string => {
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (typeof value !== 'string' || url === null || !/^https?:$/.test(url.protocol)) return refuse(key, httpUrl.words, value)
  return value
})

/** A web page's origin, as a browser writes it: no path, no slash at the end. */
export const origin = scalar('an origin such as http://localhost:3000', true, (value, key): string => {
  if (typeof value !== 'string' || URL.parse(value)?.origin !== value) return refuse(key, origin.words, value)
  return value
})

export const flag = scalar('true or false', false, (value, key) =>
  typeof value === 'boolean' ? value : refuse(key, 'true or false', value)
)

export function oneOf<T extends string>(names: readonly T[]): Check<T> {
  const words = `one of ${names.join(', ')}`
  return scalar(words, true, (value, key) => names.find((name) => name === value) ?? refuse(key, words, value))
}

/** A whole number of `unit` from `min` on, which is 1 where nothing is said. */
export function wholeNumber(unit: string, min = 1, max = Number.MAX_SAFE_INTEGER): Check<number> {
  const above = max === Number.MAX_SAFE_INTEGER ? `above ${min - 1}` : `from ${min} to ${max}`
  const words = `a whole number of ${unit} ${above}`
  return scalar(words, false, (value, key) => {
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max ? value : refuse(key, words, value)
  })
}

/** Any finite number; `words` say more, and `accepts` holds them. */
export function number(words: string, accepts: (value: number) => boolean = () => true): Check<number> {
  return scalar(words, false, (value, key) => {
    return typeof value === 'number' && Number.isFinite(value) && accepts(value) ? value : refuse(key, words, value)
  })
}

/** A list of what `check` takes; `plural` names them. */
export function listOf<T>(check: Check<T>, plural: string): Check<readonly T[]> {
  return {
    words: `a list of ${plural}`,
    isText: check.isText,
    isList: true,
    parse: (value, key) => {
      if (!Array.isArray(value)) throw new ConfigError(`config: ${key} must be a list of ${plural}`)
      return value.map((entry: unknown, at) => check.parse(entry, `${key}[${at}]`))
    }
  }
}

/** What may be left out and then is nothing. */
export function optional<T>(check: Check<T>): Check<T | undefined> {
  return check
}
