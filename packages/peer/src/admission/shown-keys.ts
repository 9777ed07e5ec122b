import type { PeerKey } from '@shardswap/interface'
import { type ClientKey, mayUse, type OwnerKey, type RegistryChange } from '@shardswap/server'
import type { AdmissionBook } from './book.ts'
import type { SignedDelegation } from './claim.ts'

interface Shown {
  readonly client: ClientKey
  readonly delegation: SignedDelegation | undefined
  /** For whom the peer counts now. */
  owner: OwnerKey | undefined
}

/**
 * [I3] Under which client keys the peers that are connected make their requests: whom each of them counts for follows from
 * that, from the registry and from the time, and is told to admission.
 */
export class ShownKeys {
  readonly #book: AdmissionBook
  readonly #byPeer = new Map<PeerKey, Shown>()
  readonly #byKey = new Map<ClientKey, Set<PeerKey>>()

  constructor(book: AdmissionBook) {
    this.#book = book
    book.follow((changes) => this.#follow(changes))
  }

  get size(): number {
    return this.#byPeer.size
  }

  /** What a peer has shown last. */
  of(peer: PeerKey): { readonly client: ClientKey; readonly owner: OwnerKey | undefined } | undefined {
    return this.#byPeer.get(peer)
  }

  /** The delegation that a peer has shown last, if it was this one: its signature need not be looked at again. */
  delegationOf(peer: PeerKey, text: string): SignedDelegation | undefined {
    const delegation = this.#byPeer.get(peer)?.delegation
    return delegation?.text === text ? delegation : undefined
  }

  /** A peer that is connected makes its requests under this key. False where it may not; what it has shown before is over then. */
  show(peer: PeerKey, client: ClientKey, delegation: SignedDelegation | undefined): boolean {
    const before = this.#byPeer.get(peer)
    if (!mayUse(client, peer, delegation, this.#book.wallMs())) {
      this.gone(peer)
      return false
    }
    if (before?.client !== client) this.gone(peer)
    const shown: Shown = { client, delegation, owner: this.#byPeer.get(peer)?.owner }
    this.#byPeer.set(peer, shown)
    this.#byKey.set(client, (this.#byKey.get(client) ?? new Set()).add(peer))
    this.#judge(peer, shown)
    return true
  }

  /** A peer is no longer connected, or may no longer use what it has shown. */
  gone(peer: PeerKey): void {
    const shown = this.#byPeer.get(peer)
    if (shown === undefined) return
    this.#byPeer.delete(peer)
    const peers = this.#byKey.get(shown.client)
    peers?.delete(peer)
    if (peers?.size === 0) this.#byKey.delete(shown.client)
    this.#book.admission.left(peer)
  }

  /** What has expired ends; who found no room is tried again. */
  sweep(): void {
    const wallMs = this.#book.wallMs()
    for (const [peer, shown] of this.#byPeer) {
      if (!mayUse(shown.client, peer, shown.delegation, wallMs)) this.gone(peer)
      else if (shown.owner === undefined) this.#judge(peer, shown)
    }
  }

  clear(): void {
    for (const peer of Array.from(this.#byPeer.keys())) this.gone(peer)
  }

  /** Admission follows the same changes before us: what it moved along is only noted, what it does not know is told. */
  #follow(changes: readonly RegistryChange[]): void {
    for (const change of changes) {
      if (change.type !== 'bound' && change.type !== 'unbound') continue
      for (const peer of this.#byKey.get(change.client) ?? []) {
        const shown = this.#byPeer.get(peer)
        if (shown === undefined) continue
        if (change.type === 'unbound') shown.owner = undefined
        this.#judge(peer, shown)
      }
    }
  }

  #judge(peer: PeerKey, shown: Shown): void {
    const nowMs = this.#book.nowMs()
    const { registry, admission } = this.#book
    const server = registry.serverOf(shown.client, nowMs)
    const owner = server === undefined ? undefined : registry.ownerOf(server)
    if (owner === undefined) {
      admission.left(peer)
      shown.owner = undefined
    } else if (shown.owner !== owner) {
      shown.owner = admission.identified(peer, shown.client, owner, nowMs) ? owner : undefined
    }
  }
}
