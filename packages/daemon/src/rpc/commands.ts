/** `commands`: what this node serves; and what is said of calls that it does not. */
import type { Handlers } from './call.ts'
import { kuboCommands } from './kubo-commands.ts'
import { commonOptions, optionsOf } from './options.ts'

interface CommandShape {
  readonly Name: string
  readonly Subcommands: CommandShape[]
  readonly Options: readonly { readonly Names: readonly string[] }[]
}

/** The calls as a tree of words, in Kubo's shape. */
function commandTree(names: readonly string[], withOptions: boolean): CommandShape {
  const root: CommandShape = { Name: 'shardswap', Subcommands: [], Options: commonOptions.map((name) => ({ Names: [name] })) }
  for (const name of names.toSorted()) {
    let here = root
    const words = name.split('/')
    for (const [at, word] of words.entries()) {
      let below = here.Subcommands.find((command) => command.Name === word)
      if (below === undefined) {
        const options = withOptions ? optionsOf(words.slice(0, at + 1).join('/')) : []
        below = { Name: word, Subcommands: [], Options: options.map((each) => ({ Names: each })) }
        here.Subcommands.push(below)
      }
      here = below
    }
  }
  return root
}

/** `served` is asked when a call comes, for the table holds this handler too. */
export function commandHandlers(served: () => readonly string[]): Handlers {
  return {
    commands: ({ query }) => ({ kind: 'json', value: commandTree(served(), query.flag('flags') ?? true) })
  }
}

/** What to use in place of some of Kubo's calls and commands. */
const instead: readonly (readonly [prefix: string, words: string])[] = [
  ['cid', 'a client can do that alone'],
  ['commands', 'the help lists those that there are'],
  ['dht', 'use routing/findprovs and its like'],
  ['files', 'there is no mutable file system: use add, and keep the CID'],
  ['key', 'a node has one identity, the file "identity.key" of its repo'],
  ['log', 'the environment variable DEBUG, as in "DEBUG=shardswap*", shows the log'],
  ['name', 'IPNS is not served'],
  ['object', 'use dag/get, dag/put and block/get'],
  ['provide', 'use routing/provide'],
  ['pubsub', 'it is no part of exchanging blocks'],
  ['resolve', 'use dag/resolve']
]

/** Why there is nothing at a path; `name` is what stands behind `/api/v0/`, where that is how it begins. */
export function missingText(path: string, name: string | undefined, served: readonly string[]): string {
  if (name === undefined || !kuboCommands.has(name)) return `no call at ${path}: this node serves ${served.join(', ')}`
  const below = served.filter((each) => each.startsWith(`${name}/`))
  if (below.length > 0) return `"${name}" alone is no call: there are ${below.join(', ')}`
  return `${missingCommand(name)}. "commands" lists those that it has`
}

function missingCommand(name: string): string {
  const hint = instead.find(([prefix]) => name === prefix || name.startsWith(`${prefix}/`))?.[1]
  return `"${name}" is a command of Kubo that this node does not have${hint === undefined ? '' : `: ${hint}`}`
}

/** What is said on a command line of a first word that is Kubo's and not ours; undefined for all other words. */
export function missingWord(word: string): string | undefined {
  // A call is a path, a command is words.
  return kuboCommands.has(word) ? missingCommand(word).replace(/\b([a-z]+)\/([a-z]+)\b/g, '$1 $2') : undefined
}
