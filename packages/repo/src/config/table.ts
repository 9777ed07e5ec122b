/**
 * Every key of the config: what it may be, what it is where it is left out, and
 * what it is for. Parser, commands and docs/config.md follow from this table.
 */
import { apiTokenLettersMax, apiTokenLettersMin } from '../limits.ts'
import type { DhtMode, ProvideMode, RepoConfig, ServeMode, ShareName } from '../types.ts'
import {
  type Check,
  flag,
  httpUrl,
  listOf,
  multiaddrText,
  number,
  oneOf,
  optional,
  origin,
  peerMultiaddr,
  text,
  wholeNumber
} from './checks.ts'

/** `section.name` of every key. */
export type ConfigKey = { [S in keyof RepoConfig]: `${S}.${keyof RepoConfig[S] & string}` }[keyof RepoConfig]

type ValueAt<K> = K extends `${infer S extends keyof RepoConfig}.${infer N}`
  ? N extends keyof RepoConfig[S]
    ? RepoConfig[S][N]
    : never
  : never

/** The values by their keys. */
export type ConfigValues = { readonly [K in ConfigKey]: ValueAt<K> }

/** What is to be known of one key. */
export interface KeySpec<T> {
  readonly check: Check<T>
  /** What it is where it is left out. A function of the keys that stand before it in the table. */
  readonly byDefault: T | ((values: ConfigValues) => T)
  /** Whether a new repo's file has it, with its default. */
  readonly isWritten: boolean
  /** One sentence for people. */
  readonly purpose: string
}

const shareNames: readonly ShareName[] = ['proportional', 'equal', 'percentile']
const serveModes: readonly ServeMode[] = ['open', 'registered', 'off']
const dhtModes: readonly DhtMode[] = ['off', 'client', 'server']
const provideModes: readonly ProvideMode[] = ['off', 'all', 'pinned', 'roots']
const hourMs = 3_600_000

const multiaddrs = listOf(multiaddrText, 'multiaddrs')
const peerMultiaddrs = listOf(peerMultiaddr, 'multiaddrs of peers, each with /p2p/ and an id at its end')

/** Long enough not to be guessed, and of letters that a header takes as they are. */
const apiToken = text(
  `a token of ${apiTokenLettersMin} to ${apiTokenLettersMax} letters, digits and signs without spaces`,
  new RegExp(`^[\\x21-\\x7e]{${apiTokenLettersMin},${apiTokenLettersMax}}$`)
)

/** Strangers have an eighth of what an owner gets who always answers, where nothing else is said; one request at least. */
function freeScoreFor(cap: number): number {
  return Math.max(1, Math.floor(cap / 8))
}

const written = { isWritten: true } as const
const unwritten = { isWritten: false } as const

/** The keys, in the order in which they are shown. An absent key never makes the node public. */
export const configTable: { readonly [K in ConfigKey]: KeySpec<ValueAt<K>> } = {
  'addresses.swarm': {
    ...written,
    check: multiaddrs,
    byDefault: ['/ip4/0.0.0.0/tcp/4001'],
    purpose: 'Where the daemon listens for peers.'
  },
  'addresses.api': {
    ...written,
    check: multiaddrText,
    byDefault: '/ip4/127.0.0.1/tcp/5001',
    purpose:
      'Where the daemon listens for commands: on loopback, unless `api.auth` is set. Port 0 takes a free one; the file `api` of the repo tells which.'
  },
  'addresses.announce': {
    ...unwritten,
    check: multiaddrs,
    byDefault: [],
    purpose: 'Addresses told to peers instead of those found; none: those found.'
  },
  'addresses.noAnnounce': {
    ...unwritten,
    check: multiaddrs,
    byDefault: [],
    purpose: 'Addresses, or ranges such as `/ip4/10.0.0.0/ipcidr/8`, that peers are never told.'
  },
  'api.auth': {
    ...unwritten,
    check: optional(apiToken),
    byDefault: undefined,
    purpose:
      'The token that callers of the API must show (`Authorization: Bearer …`); none: whoever reaches the API may use it. `config show` leaves it out.'
  },
  'api.origins': {
    ...unwritten,
    check: listOf(origin, 'origins'),
    byDefault: [],
    purpose: 'Web pages of these origins may call the API from a browser.'
  },
  'routing.bootstrap': {
    ...unwritten,
    check: peerMultiaddrs,
    byDefault: [],
    purpose: 'Peers to connect to at the start, so that others are found through them.'
  },
  'routing.peering': {
    ...unwritten,
    check: peerMultiaddrs,
    byDefault: [],
    purpose: 'Peers to stay connected with.'
  },
  'routing.mdns': {
    ...unwritten,
    check: flag,
    byDefault: false,
    purpose: 'Whether peers of the local network are looked for, and told of this node.'
  },
  'routing.dht': {
    ...unwritten,
    check: oneOf(dhtModes),
    byDefault: 'off',
    purpose: 'Whether providers are looked up in the DHT (`client`), and lookups of others answered too (`server`).'
  },
  'routing.delegated': {
    ...unwritten,
    check: listOf(httpUrl, 'URLs'),
    byDefault: [],
    purpose: 'HTTP servers (`/routing/v1`) that are asked for providers.'
  },
  'routing.provide': {
    ...unwritten,
    check: oneOf(provideModes),
    byDefault: 'off',
    purpose: 'What routing is told that this node has: nothing, every block, what is pinned, or the roots of what is pinned.'
  },
  'routing.provideEveryMs': {
    ...unwritten,
    check: wholeNumber('milliseconds', 60_000, 2 ** 31 - 1),
    byDefault: 22 * hourMs,
    purpose: 'How often routing is told again; records in the DHT end after 48 hours.'
  },
  'repo.maxBytes': {
    ...unwritten,
    check: optional(wholeNumber('bytes')),
    byDefault: undefined,
    purpose: 'How much the blocks may take; none: as much as the disk has.'
  },
  'repo.gcAtShare': {
    ...unwritten,
    check: number('a number above 0 and up to 1', (share) => share > 0 && share <= 1),
    byDefault: 0.9,
    purpose: 'The part of `repo.maxBytes` from which on the daemon collects garbage.'
  },
  'reliability.share': {
    ...written,
    check: oneOf(shareNames),
    byDefault: 'proportional',
    purpose:
      'How scores of peers become shares of what is asked of them: by score, `equal` (as round robin), or by `percentile` ([reliability.md](reliability.md#the-share-p2-p3-p21)).'
  },
  'reliability.backups': {
    ...written,
    check: flag,
    byDefault: true,
    purpose: 'Whether a second peer is asked, on a budget, where the first is likely to fail.'
  },
  'serve.mode': {
    ...written,
    check: oneOf(serveModes),
    byDefault: 'open',
    purpose:
      'What becomes of requests that are not admitted: they wait (`open`), or are refused (`registered`); `off` serves nobody ([admission.md](admission.md)).'
  },
  'serve.cap': {
    ...written,
    check: wholeNumber('requests'),
    byDefault: 1024,
    purpose: 'So many requests are open at a time, over all clients (Cap_max).'
  },
  'serve.freeScore': {
    ...unwritten,
    check: number('a number from 0 to serve.cap'),
    byDefault: (values) => freeScoreFor(values['serve.cap']),
    purpose:
      'The score of clients that no registered server stands behind, in open requests: they are served while fewer are open, with 0 not at all. An eighth of `serve.cap` where it is left out.'
  },
  'serve.tests': {
    ...written,
    check: flag,
    byDefault: true,
    purpose: 'Whether servers that are registered are tested, once the node is registered itself.'
  }
}

/** The names of all keys, in the order of the table. */
export const configKeys = Object.keys(configTable) as readonly ConfigKey[]

/** The key of a text, or undefined where there is none of that name. */
export function configKeyNamed(name: string): ConfigKey | undefined {
  return configKeys.find((key) => key === name)
}
