import { newCounters } from '@shardswap/broker'
import { type AbortOptions, type Block, type CID, type PeerKey, StoppedError } from '@shardswap/interface'
import type { PeerLimits } from '../limits.ts'
import type { GetManyOptions, GetOptions, Session, SessionStat } from '../types.ts'
import { onAbort } from './abort.ts'
import type { Fetcher } from './fetcher.ts'
import { getMany } from './get-many.ts'
import { fetchStat } from './stat.ts'

/** Connects to a peer, and tells once it is known what it speaks. */
export type Reach = (peer: Parameters<Session['addPeer']>[0], options: AbortOptions | undefined) => Promise<PeerKey>

/** One DAG's wants, as the public interface shows it. */
export class PeerSession implements Session {
  readonly #fetcher: Fetcher
  readonly #limits: PeerLimits
  readonly #reach: Reach
  readonly #id: number
  readonly #onEnd: (session: PeerSession) => void
  /** Fires once the session is over: streams that wait for CIDs have nothing else to wake them. */
  readonly #ending = new AbortController()
  #offAbort: (() => void) | undefined
  #last: SessionStat = { ...fetchStat(newCounters()), potential: 0, wants: 0, inFlight: 0 }

  constructor(
    fetcher: Fetcher,
    limits: PeerLimits,
    reach: Reach,
    fixed: ReadonlySet<PeerKey> | undefined,
    signal: AbortSignal | undefined,
    onEnd: (session: PeerSession) => void
  ) {
    this.#fetcher = fetcher
    this.#limits = limits
    this.#reach = reach
    this.#onEnd = onEnd
    this.#id = fetcher.openSession(fixed)
    if (signal === undefined) return
    if (signal.aborted) this.close()
    else this.#offAbort = onAbort(signal, () => this.close())
  }

  get(cid: CID, options?: GetOptions): Promise<Uint8Array> {
    return this.#fetcher.get(this.#id, cid, options)
  }

  getMany(cids: Iterable<CID> | AsyncIterable<CID>, options: GetManyOptions = {}): AsyncGenerator<Block> {
    const { timeoutMs, maxBytes, onProgress } = options
    const rest: GetOptions = {
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(maxBytes === undefined ? {} : { maxBytes }),
      ...(onProgress === undefined ? {} : { onProgress })
    }
    // A signal of the caller's ends the stream; blocks within it have no patience of their own beyond it.
    const patient = options.patient ?? options.signal !== undefined
    const get = async (cid: CID, signal: AbortSignal): Promise<Uint8Array> =>
      await this.#fetcher.get(this.#id, cid, { ...rest, signal, patient })
    return getMany(get, cids, options, this.#limits, this.#ending.signal)
  }

  async addPeer(peer: Parameters<Session['addPeer']>[0], options?: AbortOptions): Promise<void> {
    const key = await this.#reach(peer, options)
    this.#fetcher.providerFound(this.#id, key)
  }

  stat(): SessionStat {
    const stat = this.#fetcher.core.session(this.#id)
    if (stat === undefined) return { ...this.#last }
    const { potential, wants, inFlight, figures } = stat
    return { ...fetchStat(figures), potential, wants, inFlight }
  }

  /** Peers that it keeps in mind, which may serve its next want. */
  get knownPeers(): number {
    return this.#fetcher.core.session(this.#id)?.knownPeers ?? 0
  }

  close(): void {
    this.end('the session was closed')
    this.#fetcher.closeSession(this.#id)
    this.#onEnd(this)
  }

  /** Keeps the figures and lets go of signals and streams; the fetcher still has to close it. */
  end(why: string): void {
    this.#last = this.stat()
    this.#offAbort?.()
    this.#ending.abort(new StoppedError(why))
  }
}
