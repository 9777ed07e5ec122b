/** The config as commands show and change it. */
import { ConfigError } from '../errors.ts'
import { readOptional, repoFiles, writeAtomic } from '../files.ts'
import { alone } from './alone.ts'
import { type ConfigJson, configOf, configSections, configText, jsonOf, nested, valueIn, withValue } from './parse.ts'
import { type ConfigKey, configKeyNamed, configKeys, configTable, type KeySpec } from './table.ts'

/** Where the text of a config is kept. */
export interface ConfigText {
  /** Its name, for errors. */
  readonly path: string
  /** The text; undefined where there is none. */
  read(): Promise<string | undefined>
  /** Puts a text in place of the one that is there, in one step. */
  write(text: string): Promise<void>
  /** Runs a change, which reads and writes, while nobody else makes one; left out where this process alone can. */
  alone?<T>(change: () => Promise<T>): Promise<T>
}

/** Keys that are kept from `show`, as a screen or a report of a fault is no place for them. */
const secretKeys: readonly ConfigKey[] = ['api.auth']

function unknownKey(name: string): ConfigError {
  const section = configSections().get(name.split('.')[0] ?? '')
  const known = section === undefined ? [...configSections().keys()] : configKeys.filter((key) => key.startsWith(`${name.split('.')[0]}.`))
  return new ConfigError(`config: ${name} is not a key that this version knows (it knows ${known.join(', ')})`)
}

/** The key of a text. Errors: ConfigError with the names that there are. */
function keyOf(name: string): ConfigKey {
  const key = configKeyNamed(name)
  if (key === undefined) throw unknownKey(name)
  return key
}

/**
 * The value that words of a command line give a key: a text as it is, a list of words, else JSON. A single word that
 * begins with `[` is a list in JSON. Errors: ConfigError.
 */
export function configValueOf(name: string, words: readonly string[]): unknown {
  const { check }: KeySpec<unknown> = configTable[keyOf(name)]
  const [first = '', ...others] = words
  if (check.isList && !(others.length === 0 && first.startsWith('['))) return words
  if (others.length > 0) throw new ConfigError(`config: ${name} must be ${check.words}, not ${words.length} of them`)
  if (check.isText && !check.isList) return first
  try {
    return JSON.parse(first) as unknown
  } catch {
    throw new ConfigError(`config: ${name} must be ${check.words}, not ${JSON.stringify(first)}`)
  }
}

/** Reads and writes one config. Writers take turns; what was written is read again at the next start of a node. */
export class ConfigFile {
  readonly #text: ConfigText
  #last: Promise<unknown> = Promise.resolve()

  constructor(text: ConfigText) {
    this.#text = text
  }

  /** All values that are in effect once a node starts anew, without what is secret. Errors: ConfigError. */
  async show(): Promise<ConfigJson> {
    const config = configOf(await this.#read())
    const values = new Map<string, unknown>()
    for (const key of configKeys) {
      const value = valueIn(config as unknown as ConfigJson, key)
      if (value !== undefined && !secretKeys.includes(key)) values.set(key, value)
    }
    return nested(values)
  }

  /** The value of a key, or the values of a section; undefined where it is none. Errors: ConfigError. */
  async get(name: string): Promise<unknown> {
    if (configSections().has(name)) return (await this.show())[name] ?? {}
    const key = keyOf(name)
    return valueIn(configOf(await this.#read()) as unknown as ConfigJson, key)
  }

  /** Changes one key; null takes it out of the file, so that it has its default. Errors: ConfigError, and then nothing is changed. */
  async set(name: string, value: unknown): Promise<void> {
    const key = keyOf(name)
    await this.#change((json) => withValue(json, key, value ?? undefined))
  }

  /** Puts another config in its place; what is secret stays where the new one says nothing of it. Errors: ConfigError. */
  async replace(json: ConfigJson): Promise<void> {
    configOf(json)
    await this.#change((before) => {
      return secretKeys.reduce((next, key) => (valueIn(next, key) === undefined ? withValue(next, key, valueIn(before, key)) : next), json)
    })
  }

  async #change(change: (json: ConfigJson) => ConfigJson): Promise<void> {
    const make = async (): Promise<void> => {
      const next = change(await this.#read())
      configOf(next)
      await this.#text.write(configText(next))
    }
    const run = async (): Promise<void> => await (this.#text.alone?.(make) ?? make())
    const turn = this.#last.then(run, run)
    this.#last = turn.catch(() => undefined)
    await turn
  }

  /** What the file says, whether it can be or not, so that one bad value can be changed; a file that is no object cannot. */
  async #read(): Promise<ConfigJson> {
    const text = await this.#text.read()
    const json = text === undefined ? {} : jsonOf(this.#text.path, text)
    if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new ConfigError('config: the file must be an object')
    return json as ConfigJson
  }
}

/** The config of the repo at `path`, which need not be open: its file is written in one go. */
export function configFile(path: string): ConfigFile {
  const { config, configLock } = repoFiles(path)
  return new ConfigFile({
    path: config,
    read: async () => (await readOptional(config))?.toString('utf8'),
    write: async (text) => await writeAtomic(config, text),
    alone: async (change) => await alone(configLock, change)
  })
}

/** A config that is nowhere on disk. */
export function memoryConfig(): ConfigFile {
  let text: string | undefined
  return new ConfigFile({
    path: 'the config in memory',
    read: async () => text,
    write: async (next) => {
      text = next
    }
  })
}
