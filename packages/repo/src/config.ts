import { messageOf } from '@shardswap/interface'
import { ConfigError } from './errors.ts'
import type { RepoConfig, ServeMode, ShareName } from './types.ts'

/** What a new repo starts with. */
export const defaultConfig: RepoConfig = {
  addresses: {
    swarm: ['/ip4/0.0.0.0/tcp/4001'],
    api: '/ip4/127.0.0.1/tcp/5001'
  },
  reliability: { share: 'proportional', backups: true },
  serve: { mode: 'open', cap: 1024, freeScore: 128, tests: true }
}

const shareNames: readonly ShareName[] = ['proportional', 'equal', 'percentile']

const serveModes: readonly ServeMode[] = ['open', 'registered', 'off']

type Json = Record<string, unknown>

function objectAt(value: unknown, key: string, known: readonly string[]): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ConfigError(`config: ${key} must be an object`)
  const unknown = Object.keys(value).find((name) => !known.includes(name))
  if (unknown !== undefined) {
    const where = key === 'the file' ? unknown : `${key}.${unknown}`
    throw new ConfigError(`config: ${where} is not a key that this version knows (it knows ${known.join(', ')})`)
  }
  return value as Json
}

function multiaddrAt(value: unknown, key: string): string {
  if (typeof value !== 'string' || !/^\/[a-z0-9]+\/\S+$/.test(value)) {
    throw new ConfigError(`config: ${key} must be a multiaddr such as /ip4/127.0.0.1/tcp/4001, not ${JSON.stringify(value)}`)
  }
  return value
}

function swarmOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw new ConfigError('config: addresses.swarm must be a list of multiaddrs')
  return value.map((entry: unknown, at) => multiaddrAt(entry, `addresses.swarm[${at}]`))
}

function apiOf(value: unknown): string {
  const api = multiaddrAt(value, 'addresses.api')
  if (/^\/ip4\/127\.|^\/ip6\/::1\//.test(api)) return api
  throw new ConfigError(
    `config: addresses.api must be on loopback (/ip4/127.0.0.1/… or /ip6/::1/…), not ${api}: whoever reaches it owns the repo`
  )
}

function reliabilityOf({ share, backups }: Json): RepoConfig['reliability'] {
  const named = share === undefined ? defaultConfig.reliability.share : shareNames.find((name) => name === share)
  if (named === undefined) {
    throw new ConfigError(`config: reliability.share must be one of ${shareNames.join(', ')}, not ${JSON.stringify(share)}`)
  }
  if (backups !== undefined && typeof backups !== 'boolean') {
    throw new ConfigError(`config: reliability.backups must be true or false, not ${JSON.stringify(backups)}`)
  }
  return { share: named, backups: backups ?? defaultConfig.reliability.backups }
}

/** Strangers have an eighth of what an owner gets who always answers, where nothing else is said; one request at least. */
function freeScoreFor(cap: number): number {
  return Math.max(1, Math.floor(cap / 8))
}

function serveOf({ mode, cap = defaultConfig.serve.cap, freeScore, tests = defaultConfig.serve.tests }: Json): RepoConfig['serve'] {
  const named = mode === undefined ? defaultConfig.serve.mode : serveModes.find((name) => name === mode)
  if (named === undefined) throw new ConfigError(`config: serve.mode must be one of ${serveModes.join(', ')}, not ${JSON.stringify(mode)}`)
  if (typeof cap !== 'number' || !Number.isSafeInteger(cap) || cap < 1) {
    throw new ConfigError(`config: serve.cap must be a whole number of requests above 0, not ${JSON.stringify(cap)}`)
  }
  const free = freeScore === undefined ? freeScoreFor(cap) : freeScore
  if (typeof free !== 'number' || !(free >= 0 && free <= cap)) {
    throw new ConfigError(`config: serve.freeScore must be a number from 0 to serve.cap, which is ${cap}, not ${JSON.stringify(free)}`)
  }
  if (typeof tests !== 'boolean') throw new ConfigError(`config: serve.tests must be true or false, not ${JSON.stringify(tests)}`)
  return { mode: named, cap, freeScore: free, tests }
}

/** Reads a config file's text; keys left out have their defaults. Errors: ConfigError, which names the key. */
export function parseConfig(path: string, text: string): RepoConfig {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    throw new ConfigError(`config: ${path} is not JSON (${messageOf(cause)})`, { cause })
  }
  const root = objectAt(json, 'the file', ['addresses', 'reliability', 'serve'])
  const addresses = root['addresses'] === undefined ? {} : objectAt(root['addresses'], 'addresses', ['swarm', 'api'])
  const reliability = root['reliability'] === undefined ? {} : objectAt(root['reliability'], 'reliability', ['share', 'backups'])
  const serve = root['serve'] === undefined ? {} : objectAt(root['serve'], 'serve', ['mode', 'cap', 'freeScore', 'tests'])
  const { swarm, api } = addresses
  return {
    addresses: {
      swarm: swarm === undefined ? defaultConfig.addresses.swarm : swarmOf(swarm),
      api: api === undefined ? defaultConfig.addresses.api : apiOf(api)
    },
    reliability: reliabilityOf(reliability),
    serve: serveOf(serve)
  }
}

/** What is written of the config of a new repo: its defaults, without the free score, which follows `serve.cap` unless somebody sets it. */
export function newConfigText(): string {
  const { freeScore: _follows, ...serve } = defaultConfig.serve
  return `${JSON.stringify({ ...defaultConfig, serve }, null, 2)}\n`
}
