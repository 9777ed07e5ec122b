import { messageOf } from '@shardswap/interface'
import { ConfigError } from '../errors.ts'
import type { RepoConfig } from '../types.ts'
import { type ConfigKey, configKeys, configTable, type ConfigValues, type KeySpec } from './table.ts'

/** The config as its file holds it: sections of keys. */
export type ConfigJson = Readonly<Record<string, unknown>>

function objectAt(value: unknown, key: string, known: readonly string[]): ConfigJson {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ConfigError(`config: ${key} must be an object`)
  const unknown = Object.keys(value).find((name) => !known.includes(name))
  if (unknown !== undefined) {
    const where = key === 'the file' ? unknown : `${key}.${unknown}`
    throw new ConfigError(`config: ${where} is not a key that this version knows (it knows ${known.join(', ')})`)
  }
  return value as ConfigJson
}

/** `serve.cap` → `serve` and `cap`. */
function partsOf(key: string): readonly [string, string] {
  const dot = key.indexOf('.')
  return [key.slice(0, dot), key.slice(dot + 1)]
}

/** Names of the sections, each with the names of its keys. */
export function configSections(): ReadonlyMap<string, readonly string[]> {
  const sections = new Map<string, string[]>()
  for (const [section, name] of configKeys.map(partsOf)) sections.set(section, [...(sections.get(section) ?? []), name])
  return sections
}

/** What the file says of a key; undefined where it says nothing. */
export function valueIn(json: ConfigJson, key: ConfigKey): unknown {
  const [section, name] = partsOf(key)
  return (json[section] as ConfigJson | undefined)?.[name]
}

/** The same config with another value for a key; undefined takes the key out, and a section with it that has no other. */
export function withValue(json: ConfigJson, key: ConfigKey, value: unknown): ConfigJson {
  const [section, name] = partsOf(key)
  const before = json[section]
  const all = typeof before === 'object' && before !== null ? Object.entries(before) : []
  const others: ConfigJson = Object.fromEntries(all.filter(([other]) => other !== name))
  const { [section]: _section, ...rest } = json
  if (value !== undefined) return { ...json, [section]: { ...others, [name]: value } }
  return Object.keys(others).length === 0 ? rest : { ...json, [section]: others }
}

/** Values by their keys, as sections. */
export function nested(values: ReadonlyMap<string, unknown>): ConfigJson {
  const sections: Record<string, Record<string, unknown>> = {}
  for (const [key, value] of values) {
    const [section, name] = partsOf(key)
    sections[section] = { ...sections[section], [name]: value }
  }
  return sections
}

/** What no key can say for itself. Errors: ConfigError. */
function checkTogether({ addresses: { api }, api: { auth }, serve: { cap, freeScore } }: RepoConfig): void {
  if (!(freeScore >= 0 && freeScore <= cap)) {
    throw new ConfigError(`config: serve.freeScore must be a number from 0 to serve.cap, which is ${cap}, not ${freeScore}`)
  }
  if (auth === undefined && !/^\/ip4\/127\.|^\/ip6\/::1\//.test(api)) {
    throw new ConfigError(
      `config: addresses.api must be on loopback (/ip4/127.0.0.1/… or /ip6/::1/…), not ${api}: ` +
        'whoever reaches it owns the repo, unless api.auth is set'
    )
  }
}

/** Checks what a config file holds; keys left out have their defaults. Errors: ConfigError, which names the key. */
export function configOf(json: unknown): RepoConfig {
  const sections = configSections()
  const root = objectAt(json, 'the file', [...sections.keys()])
  for (const [section, names] of sections) if (root[section] !== undefined) objectAt(root[section], section, names)
  const values = new Map<string, unknown>()
  for (const key of configKeys) {
    const { check, byDefault }: KeySpec<unknown> = configTable[key]
    const given = valueIn(root, key)
    if (given !== undefined) values.set(key, check.parse(given, key))
    else values.set(key, typeof byDefault === 'function' ? byDefault(Object.fromEntries(values) as ConfigValues) : byDefault)
  }
  // The table's type has a check for every key of RepoConfig.
  const config = nested(values) as unknown as RepoConfig
  checkTogether(config)
  return config
}

/** The JSON of a config file's text. Errors: ConfigError. */
export function jsonOf(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ConfigError(`config: ${path} is not JSON (${messageOf(cause)})`, { cause })
  }
}

/** Reads a config file's text; keys left out have their defaults. Errors: ConfigError, which names the key. */
export function parseConfig(path: string, text: string): RepoConfig {
  return configOf(jsonOf(path, text))
}

/** What a run goes by where there is no config file. Nothing of it makes the node public. */
export const defaultConfig: RepoConfig = configOf({})

/** The text of a config file. */
export function configText(json: ConfigJson): string {
  return `${JSON.stringify(json, null, 2)}\n`
}

/**
 * What a new repo's config says: the usual keys with their defaults, so that each can be changed by itself, and
 * `given` over them. Errors: ConfigError.
 */
export function newConfig(given: ConfigJson = {}): ConfigJson {
  configOf(given)
  const values = new Map<string, unknown>()
  for (const key of configKeys) {
    const { byDefault, isWritten }: KeySpec<unknown> = configTable[key]
    const value = valueIn(given, key) ?? (isWritten ? byDefault : undefined)
    if (value !== undefined) values.set(key, value)
  }
  const json = nested(values)
  configOf(json)
  return json
}
