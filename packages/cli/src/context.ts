/** What a command runs with: its node, its output, and the ways in which it can be given up. */
import { connectDaemon, findDaemon, openLocalNode, type RemoteNode, startDeadline, type SwapNode } from '@shardswap/daemon'
import { AbortError, messageOf } from '@shardswap/interface'
import { openRepo, repoPath } from '@shardswap/repo'
import { checkApi, givenToken } from './api-auth.ts'
import { UsageError } from './errors.ts'
import type { GlobalOptions } from './options.ts'
import { Output } from './terminal/output.ts'
import { printable } from './terminal/format.ts'

export class Context {
  readonly options: GlobalOptions
  readonly out: Output
  /** Ends at Ctrl-C, at `--timeout`, and when nobody reads the output any more. */
  readonly signal: AbortSignal
  /** Where the repo is, or would be. */
  readonly repoPath: string
  /** Whether the node has the repo alone to look for blocks in. */
  offline = false
  readonly #deadline: ReturnType<typeof startDeadline>
  readonly #interrupted = new AbortController()
  readonly #onSignal: () => void

  constructor(options: GlobalOptions) {
    if (options.offline === true && options.peer !== undefined) throw new UsageError('--offline and --peer exclude each other')
    this.options = options
    this.repoPath = options.repo ?? repoPath()
    this.#deadline = startDeadline(this.#interrupted.signal, options.timeout)
    this.signal = this.#deadline.signal
    this.out = new Output(process.stdout, this.signal, (reason) => this.#deadline.abort(reason))
    this.#onSignal = () => {
      if (this.#interrupted.signal.aborted) process.exit(130)
      this.#interrupted.abort(new AbortError('interrupted'))
    }
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, this.#onSignal)
  }

  get interrupted(): boolean {
    return this.#interrupted.signal.aborted
  }

  /** How a command looks for blocks. Whoever names a timeout means to wait that long. */
  get fetch(): { signal: AbortSignal; offline: boolean; patient: boolean } {
    return { signal: this.signal, offline: this.offline, patient: this.options.timeout !== undefined }
  }

  /** A remark for the user, on standard error. */
  note(text: string): void {
    process.stderr.write(`${printable(text)}\n`)
  }

  /**
   * Runs with the daemon of this repo where there is one, else with the repo itself. `needsPeers`: the command is
   * going to connect to some, though none are named by `--peer`.
   */
  async withNode<T>(use: (node: SwapNode) => Promise<T>, needsPeers = false): Promise<T> {
    const node = await this.#open(needsPeers)
    try {
      await this.#connectPeers(node)
      return await use(node)
    } finally {
      await node.close()
    }
  }

  dispose(): void {
    this.#deadline.clear()
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(name, this.#onSignal)
  }

  /** The daemon that `--api` names, or that serves the repo; undefined where none does. Errors: DaemonUnreachableError. */
  async findDaemon(): Promise<RemoteNode | undefined> {
    const { api } = this.options
    const token = await givenToken(this.options)
    checkApi(api, token)
    return api === undefined ? await findDaemon(this.repoPath, this.signal, token) : await connectDaemon(api, this.signal, token)
  }

  async #open(needsPeers: boolean): Promise<SwapNode> {
    const { peer = [], listen = [], offline } = this.options
    const daemon = await this.findDaemon()
    if (daemon !== undefined) {
      if (listen.length > 0) this.note('--listen has no effect: a daemon serves this repo, and it listens already')
      this.offline = offline === true
      return daemon
    }
    const online = offline !== true && (needsPeers || peer.length > 0 || listen.length > 0)
    this.offline = !online
    return await openLocalNode({
      repo: await openRepo(this.repoPath),
      online,
      listen,
      onWarning: (message) => this.note(`Warning: ${message}`)
    })
  }

  /** One peer that answers is enough to go on. */
  async #connectPeers(node: SwapNode): Promise<void> {
    const { signal } = this
    const { peer = [] } = this.options
    const results = await Promise.allSettled(peer.map(async (address) => await node.swarmConnect(address, { signal })))
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
    if (failures.length > 0 && failures.length === results.length) throw failures[0]
    for (const failure of failures) this.note(`Warning: ${messageOf(failure)}`)
  }
}
