import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ChildControl, startChild } from './child.ts'
import type { AttackCommands } from './attack/api.ts'
import type { PeerCommands, PeerOptions } from './peer-api.ts'
import { startRelay, type RelayProcess } from './start-relay.ts'
import type { WitnessCommands } from './witness-api.ts'

/** What every peer of a cluster is known by. */
interface Known {
  /** The peer's id. */
  readonly peer: string
  /** Where it listens, with its id. */
  readonly address: string
}

/** One of our peers in a process of its own. */
export type PeerProcess = PeerCommands & ChildControl & Known

/** A hand-made peer in a process of its own. */
export type WitnessProcess = WitnessCommands & ChildControl & Known

/**
 * Peers as processes, ended together: by `stop`, or with the process that
 * started them, however that ends. In a test, hand `stop` to
 * `onTestFinished` before anything is started.
 */
export class Cluster {
  readonly #children: Pick<ChildControl, 'stop'>[] = []
  readonly #folders: string[] = []
  #relay: Promise<RelayProcess> | undefined
  #stopped = false

  /** Starts one of our peers. With `onDisk` it has a repo in a folder that goes with the cluster. */
  async peer({ onDisk = false, ...options }: PeerOptions & { readonly onDisk?: boolean } = {}): Promise<PeerProcess> {
    const folder = onDisk ? { folder: await this.folder() } : {}
    const title = `peer ${this.#children.length + 1}`
    const args = [JSON.stringify({ ...folder, ...options })]
    return await this.#known(await this.keep(startChild<PeerCommands>(script('peer'), title, args)))
  }

  /** Starts `count` peers that are made alike. */
  async peers(count: number, options: PeerOptions & { readonly onDisk?: boolean } = {}): Promise<PeerProcess[]> {
    return await Promise.all(Array.from({ length: count }, async () => await this.peer(options)))
  }

  /** Starts a hand-made peer. */
  async witness(): Promise<WitnessProcess> {
    const title = `witness ${this.#children.length + 1}`
    return await this.#known(await this.keep(startChild<WitnessCommands>(script('witness'), title)))
  }

  /** Starts a process of hostile peers. */
  async attackers(): Promise<AttackCommands & ChildControl> {
    const url = new URL('./attack/process.ts', import.meta.url)
    return await this.keep(startChild<AttackCommands>(url, `attackers ${this.#children.length + 1}`))
  }

  /**
   * The cluster's relay, in a process of its own from the first call on. Dial the address that `open` gives in place of
   * a peer's own, and let peers behind it announce nothing.
   */
  async relay(): Promise<RelayProcess> {
    this.#relay ??= this.keep(startRelay())
    return await this.#relay
  }

  /** A folder for a repo, not there yet, which goes with the cluster; for a peer that is started in it again. */
  async folder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'shardswap-cluster-'))
    this.#folders.push(folder)
    return join(folder, 'repo')
  }

  /** Makes another process or resource end with this cluster. */
  async keep<C extends Pick<ChildControl, 'stop'>>(starting: Promise<C> | C): Promise<C> {
    const child = await starting
    this.#children.push(child)
    if (this.#stopped) {
      await child.stop()
      throw new Error('the cluster was stopped while a process of it started')
    }
    return child
  }

  /** Ends all processes and removes their folders. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#children.splice(0).map(async (child) => await child.stop()))
    await Promise.all(this.#folders.splice(0).map(async (folder) => await rm(folder, { recursive: true, force: true, maxRetries: 5 })))
  }

  // The process is asked once; afterwards its id and address are there without waiting.
  async #known<C extends Pick<PeerCommands, 'id' | 'addresses'>>(child: C): Promise<C & Known> {
    const [peer, [address = '']] = await Promise.all([child.id(), child.addresses()])
    const known: Known = { peer, address }
    return new Proxy(child, {
      get: (target, name) => (name in known ? known[name as keyof Known] : target[name as keyof C])
    }) as C & Known
  }
}

function script(name: string): URL {
  return new URL(`./${name}-process.ts`, import.meta.url)
}
