/** Values of options: what is wrong is said before anything is done (exit code 2). */
import { messageOf } from '@shardswap/interface'
import { codecNames, hashNames, parseDurationMs, parseMultiaddr } from '@shardswap/daemon'
import { profileNames } from '@shardswap/repo'
import { InvalidArgumentError, Option } from 'commander'

/** Options that every command has. */
export interface GlobalOptions {
  readonly repo?: string
  readonly api?: string
  readonly apiAuth?: string
  readonly peer?: readonly string[]
  readonly listen?: readonly string[]
  readonly offline?: boolean
  /** Milliseconds. */
  readonly timeout?: number
  readonly json?: boolean
}

/** Runs a parser of ours; what it refuses is a usage error. */
function refused<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error))
  }
}

export function durationMs(text: string): number {
  return refused(() => parseDurationMs(text))
}

/** A duration, or whole days as `30d`. */
export function lifetimeMs(text: string): number {
  const days = /^(\d{1,5})d$/.exec(text)?.[1]
  const ms = days === undefined ? durationMs(text) : Number(days) * 86_400_000
  if (ms > 0) return ms
  throw new InvalidArgumentError('It is above 0, e.g. 12h or 30d.')
}

function multiaddrText(text: string): string {
  return refused(() => parseMultiaddr(text)).toString()
}

function collectMultiaddr(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, multiaddrText(text)]
}

/** An empty text is a variable that was not set in a script, not a wish for the default. */
export function someText(text: string): string {
  if (text === '') throw new InvalidArgumentError('It is empty.')
  return text
}

/** A whole number from `min` to `max`. */
export function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text)
    if (/^\d+$/.test(text) && number >= min && number <= max) return number
    throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`)
  }
}

const sizeUnits: Record<string, number> = {
  '': 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3
}

/** Bytes of `64MiB`, `1.5 GB`, `4096`. */
export function sizeBytes(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim())
  const unit = sizeUnits[(match?.[2] ?? '?').toLowerCase()]
  if (match === null || unit === undefined) throw new InvalidArgumentError('Give a size such as 64MiB, 500kB or 4096.')
  return Math.round(Number(match[1]) * unit)
}

/** The largest chunk: a leaf with its envelope must stay within the 2 MiB that every peer takes. */
const chunkBytesMax = 2 * 1024 * 1024 - 256

export function chunkerName(text: string): string {
  const bytes = Number(/^size-(\d+)$/.exec(text)?.[1] ?? 0)
  if (text === 'default') return 'size-262144'
  if (bytes >= 1 && bytes <= chunkBytesMax) return text
  throw new InvalidArgumentError(`Give size-N, with N from 1 to ${chunkBytesMax} bytes.`)
}

export function codecName(text: string): string {
  if (text === 'v0' || codecNames().includes(text)) return text
  throw new InvalidArgumentError(`Give one of ${codecNames().join(', ')}.`)
}

export function hashName(text: string): string {
  if (hashNames().includes(text)) return text
  throw new InvalidArgumentError(`Give one of ${hashNames().join(', ')}.`)
}

/** What the config of a new repo starts with. */
export function profileOption(flags: string): Option {
  const description = 'what a new config starts with: "public" joins the public network, "local" dials only the peers that are named'
  return new Option(flags, description).choices(profileNames).default('public')
}

/** Options that stand before or after any command. */
export function globalOptions(): Option[] {
  return [
    new Option('--repo <dir>', 'folder of the repo (else SHARDSWAP_PATH, else ~/.shardswap)'),
    new Option('--api <multiaddr>', 'talk to the daemon at this address; for "daemon", where to listen for commands').argParser(
      multiaddrText
    ),
    new Option(
      '--api-auth <token>',
      'token of the daemon\'s API, or @FILE with it (else SHARDSWAP_API_AUTH, else "api.auth" of the config)'
    ),
    new Option('--peer <multiaddr>', 'connect to this peer first; may be given several times').argParser(collectMultiaddr),
    new Option('--listen <multiaddr>', 'listen for peers here; may be given several times').argParser(collectMultiaddr),
    new Option('--offline', 'use what is in the repo and ask no peer'),
    new Option('--timeout <duration>', 'give up after so long, e.g. 10s or 1m30s').argParser(durationMs),
    new Option('--json', 'print JSON, in the shapes of the API')
  ]
}
