/** Kubo as a node of the tests: a quiet repo in a temporary folder, its daemon, its commands. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CID } from 'multiformats/cid'
import { kuboBinary } from './build-kubo.ts'
import { startChild } from '@shardswap-test/cluster/child'
import { contentOf, digestOfFiles, digestOfNames, filesOf, leafBytes, type DirectorySpec } from './content.ts'
import type { Keeper } from './kubo-keeper.ts'
import type { DirectoryReading, Reading, RunningNode } from './node-api.ts'
import { readingOf, secondsSince } from './reading.ts'

/** Paths that one `ipfs cat` is given: the system bounds a command line's bytes. */
const pathsPerCommandMax = 500

/** Multicodec and multihash names of Kubo's command line, by code. */
const codecNames = new Map([
  [0x55, 'raw'],
  [0x71, 'dag-cbor'],
  [0x0200, 'json']
])
const hashNames = new Map([
  [0x11, 'sha1'],
  [0x12, 'sha2-256'],
  [0x13, 'sha2-512'],
  [0x1b, 'keccak-256'],
  [0x1e, 'blake3'],
  [0xb220, 'blake2b-256']
])

export interface KuboInit {
  /** Peers that this Kubo dials and keeps: their multiaddrs, with their ids. */
  readonly peering?: readonly string[]
  /** Announce no address (behind a relay). */
  readonly announceNothing?: boolean
  /** The text of its `swarm.key`: it is on that private network. */
  readonly swarmKey?: string
}

export interface KuboNode extends RunningNode {
  /** The temporary folder with its repo. */
  readonly folder: string
  /** Runs `ipfs` with these arguments; gives its standard output. Errors: with its standard error, where it fails. */
  run(args: readonly string[], input?: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<Buffer>
  /** As `run`, as a stream; ends early with an error where the command fails. */
  stream(args: readonly string[]): AsyncIterable<Uint8Array>
  /** SIGSTOP to the daemon: it does nothing more, its connections stay open. */
  freeze(): Promise<void>
  /** SIGCONT. */
  thaw(): Promise<void>
}

type Config = Record<string, unknown>

/** What makes a repo of the test profile quiet: TCP on loopback only, no routing, nobody called. */
function quietConfig(config: Config, init: KuboInit): Config {
  const peers = (init.peering ?? []).map((address) => {
    const [addr = '', id = ''] = address.split('/p2p/')
    return { ID: id, Addrs: [addr] }
  })
  const off = { QUIC: false, Relay: false, WebTransport: false, WebRTCDirect: false, Websocket: false }
  return {
    ...config,
    Addresses: {
      ...(config['Addresses'] as Config),
      API: '/ip4/127.0.0.1/tcp/0',
      Gateway: [],
      Swarm: ['/ip4/127.0.0.1/tcp/0'],
      NoAnnounce: init.announceNothing === true ? ['/ip4/127.0.0.0/ipcidr/8'] : []
    },
    Swarm: { ...(config['Swarm'] as Config), Transports: { Network: { ...off, TCP: true }, Security: {}, Multiplexers: {} } },
    Routing: { Type: 'none', DelegatedRouters: [] },
    Ipns: { ...(config['Ipns'] as Config), DelegatedPublishers: [] },
    Bootstrap: [],
    DNS: { Resolvers: {} },
    AutoConf: { Enabled: false },
    AutoTLS: { Enabled: false },
    Peering: { Peers: peers }
  }
}

/** Runs a command, feeds it, yields what it writes; throws its standard error where it fails. */
async function* streamCommand(
  binary: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  input?: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
): AsyncGenerator<Buffer> {
  const child = spawn(binary, args, { env, stdio: ['pipe', 'pipe', 'pipe'] })
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(-10_000)))
  const exited = once(child, 'close')
  // A command that fails early closes its input; its own words are the better error.
  const fed = pipeline(Readable.from(input ?? []), child.stdin).catch(() => undefined)
  try {
    for await (const part of child.stdout) yield part as Buffer
    await fed
    const [code, signal] = (await exited) as [number | null, string | null]
    if (code !== 0) throw new Error(`ipfs ${args.slice(0, 4).join(' ')} failed (${signal ?? code}): ${complaint.trim()}`)
  } finally {
    child.kill('SIGKILL')
  }
}

function environment(folder: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    IPFS_PATH: join(folder, 'repo'),
    IPFS_TELEMETRY: 'off',
    GOLOG_LOG_LEVEL: 'error'
  }
}

async function filesBelow(folder: string): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>()
  for (const name of await readdir(folder)) files.set(name, await readFile(join(folder, name)))
  return files
}

/** Starts a Kubo with a repo of its own. `stop` takes the daemon and the folder away; so does the end of this process. */
export async function startKubo(init: KuboInit = {}): Promise<KuboNode> {
  const binary = await kuboBinary()
  const keeper = await startChild<Keeper>(new URL('./kubo-keeper.ts', import.meta.url), 'Kubo')
  try {
    const folder = await keeper.folder()
    const env = environment(folder)
    const node = new KuboCommands(binary, env, folder, keeper)
    await node.run(['init', '--profile=test'])
    const configPath = join(folder, 'repo', 'config')
    const config = JSON.parse(await readFile(configPath, 'utf8')) as Config
    await writeFile(configPath, JSON.stringify(quietConfig(config, init), null, 2))
    if (init.swarmKey !== undefined) await writeFile(join(folder, 'repo', 'swarm.key'), init.swarmKey)
    await keeper.startDaemon(binary, env)
    return node
  } catch (error) {
    await keeper.stop()
    throw error
  }
}

/** A running daemon's commands; each is one call of `ipfs`. */
class KuboCommands implements KuboNode {
  readonly title = 'Kubo'
  readonly #keeper: Keeper & Pick<RunningNode, 'stop'>
  readonly #binary: string
  readonly #env: Readonly<Record<string, string>>
  readonly folder: string

  constructor(binary: string, env: Readonly<Record<string, string>>, folder: string, keeper: Keeper & Pick<RunningNode, 'stop'>) {
    this.#binary = binary
    this.#env = env
    this.folder = folder
    this.#keeper = keeper
  }

  async stop(): Promise<void> {
    await this.#keeper.stop()
  }

  async freeze(): Promise<void> {
    await this.#keeper.freezeDaemon()
  }

  async thaw(): Promise<void> {
    await this.#keeper.thawDaemon()
  }

  stream(args: readonly string[]): AsyncIterable<Uint8Array> {
    return streamCommand(this.#binary, this.#env, args)
  }

  async run(args: readonly string[], input?: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<Buffer> {
    return Buffer.concat(await Array.fromAsync(streamCommand(this.#binary, this.#env, args, input)))
  }

  async #line(args: readonly string[], input?: Iterable<Uint8Array>): Promise<string> {
    return (await this.run(args, input)).toString('utf8').trim()
  }

  async addresses(): Promise<string[]> {
    // What is listened on, whether it is announced or not.
    const [id, listened] = await Promise.all([this.#line(['id', '-f=<id>']), this.#line(['swarm', 'addrs', 'listen'])])
    return listened.split('\n').map((address) => `${address.trim()}/p2p/${id}`)
  }

  async connect(address: string): Promise<void> {
    await this.run(['swarm', 'connect', address])
  }

  async addFile(spec: Parameters<RunningNode['addFile']>[0]): Promise<string> {
    const options = [`--cid-version=${spec.cidVersion}`, `--raw-leaves=${spec.rawLeaves}`, `--chunker=size-${leafBytes}`]
    return await this.#line(['add', '-Q', '--pin=false', ...options], contentOf(spec))
  }

  async addDirectory(spec: DirectorySpec): Promise<string> {
    const folder = join(this.folder, 'to-add')
    await mkdir(folder)
    try {
      for (const { name, content } of filesOf(spec)) await writeFile(join(folder, name), content)
      return await this.#line(['add', '-r', '-Q', '--pin=false', '--cid-version=1', folder])
    } finally {
      await rm(folder, { recursive: true })
    }
  }

  async putBlock(text: string, bytes: Uint8Array, options: { readonly big?: boolean } = {}): Promise<void> {
    const { code, multihash } = CID.parse(text)
    const args = [`--cid-codec=${codecNames.get(code)}`, `--mhtype=${hashNames.get(multihash.code)}`, `--mhlen=${multihash.size}`]
    if (options.big === true) args.push('--allow-big-block')
    const got = await this.#line(['block', 'put', ...args], [bytes])
    if (got !== text) throw new Error(`Kubo names the block ${got}, not ${text}`)
  }

  async getBlock(cid: string, options: { readonly timeoutMs?: number } = {}): Promise<Uint8Array> {
    const timeout = options.timeoutMs === undefined ? [] : [`--timeout=${options.timeoutMs}ms`]
    return await this.run(['block', 'get', ...timeout, cid])
  }

  async readFile(path: string): Promise<Reading> {
    return await readingOf(this.stream(['cat', path]))
  }

  async listNames(path: string): Promise<DirectoryReading> {
    const startMs = performance.now()
    const lines = (await this.#line(['ls', '--size=false', '--resolve-type=false', path])).split('\n')
    const names = lines.map((line) => line.trim().slice(line.trim().indexOf(' ') + 1))
    return { names: names.length, sha256: digestOfNames(names), seconds: secondsSince(startMs) }
  }

  async readNames(path: string, names: readonly string[]): Promise<Reading> {
    return await readingOf(this.#catEach(names.map((name) => `${path}/${name}`)))
  }

  async *#catEach(paths: readonly string[]): AsyncGenerator<Uint8Array> {
    for (let from = 0; from < paths.length; from += pathsPerCommandMax) {
      yield* this.stream(['cat', ...paths.slice(from, from + pathsPerCommandMax)])
    }
  }

  async readDirectory(path: string): Promise<DirectoryReading> {
    const startMs = performance.now()
    const target = join(this.folder, 'got')
    try {
      // Kubo fetches for `get` one block after another, 20 ms for each whoever serves; for a pin, many together.
      await this.run(['pin', 'add', path])
      await this.run(['get', '-o', target, path])
      const files = await filesBelow(target)
      return { names: files.size, sha256: digestOfFiles(files), seconds: secondsSince(startMs) }
    } finally {
      await rm(target, { recursive: true, force: true })
    }
  }
}
