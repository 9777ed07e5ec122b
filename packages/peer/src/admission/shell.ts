import type { PeerKey } from '@shardswap/interface'
import type { Admission } from '@shardswap/server'
import type { PeerId, PrivateKey } from '@libp2p/interface'
import { AdmissionBook } from './book.ts'
import { verifyRegistryShellLimits } from './limits.ts'
import { OwnBindings } from './own.ts'
import type {
  AdmissionReport,
  AdmissionSettings,
  BindingStat,
  ClaimOptions,
  DelegateOptions,
  OwnRegistration,
  Registering,
  RegisterOptions,
  UnregisterOptions
} from './types.ts'

export interface AdmissionShellInit {
  readonly self: PeerId
  readonly privateKey: PrivateKey | undefined
  readonly settings: AdmissionSettings
  readonly isServing: boolean
  readonly nowMs: () => number
}

/** Admission with what feeds it: the registry, and what we are in it. */
export class AdmissionShell implements Registering {
  readonly #book: AdmissionBook
  readonly #own: OwnBindings
  /** Peers that are connected. */
  readonly #peers = new Set<PeerKey>()

  /** Errors: InvalidParametersError for settings that cannot be. */
  constructor({ self, privateKey, settings, isServing, nowMs }: AdmissionShellInit) {
    const limits = verifyRegistryShellLimits(settings.shellLimits)
    this.#book = new AdmissionBook({ settings, isServing, nowMs })
    this.#own = new OwnBindings({ book: this.#book, self, privateKey, limits, onMade: () => undefined })
  }

  /** Asked by the serving half. */
  get core(): Admission {
    return this.#book.admission
  }

  connected(peer: PeerKey): void {
    this.#peers.add(peer)
  }

  disconnected(peer: PeerKey): void {
    this.#peers.delete(peer)
    this.core.left(peer)
  }

  admission(): AdmissionReport {
    const { registry } = this.#book
    const nowMs = this.#book.nowMs()
    return {
      ...this.core.view(nowMs),
      decisions: Object.fromEntries(this.core.counts()),
      registry: { records: registry.recordsKept, servers: registry.size, outcomes: Object.fromEntries(registry.outcomes()), refused: {} },
      own: this.#own.stat(),
      peers: Array.from(this.#peers, (peer) => ({ peer, decision: this.core.judge(peer, nowMs) }))
    }
  }

  async serverClaim(owner: PeerId | string, options?: ClaimOptions): Promise<string> {
    return await this.#own.serverClaim(owner, options)
  }

  async delegate(to: PeerId | string, options?: DelegateOptions): Promise<string> {
    return await this.#own.delegate(to, options)
  }

  async useDelegation(delegation: string | undefined): Promise<OwnRegistration> {
    return await this.#own.useDelegation(delegation)
  }

  async register(options?: RegisterOptions): Promise<BindingStat> {
    return await this.#own.register(options)
  }

  async unregister(options?: UnregisterOptions): Promise<readonly BindingStat[]> {
    return await this.#own.unregister(options)
  }
}
