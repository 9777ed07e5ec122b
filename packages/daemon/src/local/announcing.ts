/** What a running node announces by itself: what is to be announced in all, and what is new. */
import { refs } from '@shardswap/content'
import type { AbortOptions, BlockSource, CID } from '@shardswap/interface'
import type { Peer, ProvideInit } from '@shardswap/peer'
import type { Repo } from '@shardswap/repo'
import type { NodePins } from '../api/pins.ts'
import type { Pin } from '../pins/pin-store.ts'

/** What of the node is announced. */
export interface AnnouncingInit {
  readonly repo: Repo
  readonly pins: Pick<NodePins, 'ls'>
  /** The blocks of the repo. */
  readonly local: BlockSource
}

/** Goes by `routing.provide` of the config. Nothing is announced before `begin`, and nothing new where no peer runs. */
export class Announcing {
  readonly #init: AnnouncingInit
  readonly #ending = new AbortController()
  #peer: Peer | undefined

  constructor(init: AnnouncingInit) {
    this.#init = init
  }

  /** For a peer that is to run. */
  provide(): ProvideInit | undefined {
    const { provide, provideEveryMs } = this.#init.repo.config.routing
    if (provide === 'off') return undefined
    return { everyMs: provideEveryMs, keys: (options) => (provide === 'all' ? this.#all(options) : this.#pinned(provide, options)) }
  }

  begin(peer: Peer): void {
    this.#peer = peer
  }

  end(): void {
    this.#ending.abort()
    this.#peer = undefined
  }

  /** A block was written into the repo. */
  stored(cid: CID): void {
    if (this.#init.repo.config.routing.provide === 'all') this.#peer?.routing.announce(cid)
  }

  /** These were pinned. */
  readonly pinned = (pins: readonly Pin[]): void => {
    const { provide } = this.#init.repo.config.routing
    if (provide !== 'roots' && provide !== 'pinned') return
    for (const { cid, isRecursive } of pins) {
      this.#peer?.routing.announce(cid)
      if (isRecursive && provide === 'pinned') void this.#below(cid)
    }
  }

  /** Never rejects: what cannot be gone through now, the next round of announcing meets. */
  async #below(root: CID): Promise<void> {
    const { signal } = this.#ending
    try {
      for await (const { to } of refs(this.#init.local, [root.toString()], { recursive: true, unique: true, signal })) {
        this.#peer?.routing.announce(to)
      }
    } catch {
      // The pin was taken away meanwhile, or the node stops.
    }
  }

  async *#all(options: AbortOptions): AsyncGenerator<CID> {
    for await (const { cid } of this.#init.repo.blocks.entries(options)) yield cid
  }

  async *#pinned(which: 'roots' | 'pinned', options: AbortOptions): AsyncGenerator<CID> {
    for (const type of which === 'roots' ? (['recursive', 'direct'] as const) : (['all'] as const)) {
      for await (const { cid } of this.#init.pins.ls({ ...options, type })) yield cid
    }
  }
}
