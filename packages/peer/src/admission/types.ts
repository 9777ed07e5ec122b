import type { Libp2p, PeerId, PrivateKey } from '@libp2p/interface'
import type {
  AdmissionLimits,
  AdmissionMode,
  AdmissionReason,
  AdmissionView,
  Decision,
  RecordOutcome,
  RegistryLimits,
  TestLimits
} from '@shardswap/server'
import type { RegistryShellLimits } from './limits.ts'
import type { TestsReport } from './tests/types.ts'

/** How requests are admitted, and what is kept of others' bindings. */
export interface AdmissionSettings {
  /** `open` by default; `off` for a peer that does not serve. */
  readonly mode?: AdmissionMode
  readonly limits?: Partial<AdmissionLimits>
  readonly registryLimits?: Partial<RegistryLimits>
  /** Limits of how bindings are made and told. */
  readonly shellLimits?: Partial<RegistryShellLimits>
  /** Whether registered servers are tested (I5), once the node is registered itself; true by default. */
  readonly tests?: boolean
  /**
   * Makes a libp2p node of this identity for a test, not started and with no address to listen on; it is stopped with the test.
   * Needed where the peer runs on a node of the caller's: how that one reaches others we do not know, and nothing is tested
   * without it.
   */
  readonly testNode?: (privateKey: PrivateKey) => Promise<Libp2p>
  /** Limits of these tests. */
  readonly testLimits?: Partial<TestLimits>
}

/** A binding or a revocation, as people see it. */
export interface BindingStat {
  readonly kind: 'binding' | 'revocation'
  readonly client: string
  /** Undefined for a revocation. */
  readonly server?: string
  readonly owner: string
  /** When it ends, in milliseconds since 1970. */
  readonly expiresMs: number
  readonly sequence: number
  /** Whether it is renewed before it ends, while the peer runs. */
  readonly isRenewed: boolean
}

/**
 * Who binds what. With nothing given the node is its own owner: client key, server and owner are its identity, and the
 * binding is renewed while the node runs. All keys must be Ed25519 or secp256k1: others take nothing that is
 * signed with RSA.
 */
export interface RegisterOptions {
  /** Signs as the owner; the node's identity by default. It is not kept. */
  readonly ownerKey?: PrivateKey
  /** The client key, if it is not the node's identity; it is not kept. To make requests under it the node needs a delegation too. */
  readonly clientKey?: PrivateKey
  /** What the server says of whom it belongs to (`serverClaim`); the node's own, for this owner, by default. */
  readonly serverClaim?: string
  /** How long it holds; `bindingLifetimeMs` by default, and never longer than the server's claim. */
  readonly lifetimeMs?: number
}

/** Whose bindings are revoked. */
export interface UnregisterOptions {
  /** Signs as the owner; the node's identity by default. */
  readonly ownerKey?: PrivateKey
  /** The client key, as the text of its PeerId; by default all that this owner bound and that are the node's, or point to it. */
  readonly client?: string
}

/** How a server's claim is to be. */
export interface ClaimOptions {
  /** How long the claim holds; `claimLifetimeMs` by default. No binding that is made with it holds longer. */
  readonly lifetimeMs?: number
}

/** How a delegation is to be. */
export interface DelegateOptions {
  /** The client key; the node's identity by default. */
  readonly clientKey?: PrivateKey
  /** How long the delegation holds; `delegationLifetimeMs` by default. */
  readonly lifetimeMs?: number
}

/** What one peer that is connected is to admission. */
export interface AdmittedPeer {
  readonly peer: string
  /** The key under which it makes its requests, where it has shown one. */
  readonly client?: string
  /** Who stands behind it; left out for a stranger. */
  readonly owner?: string
  /** What a request of its would be told now. */
  readonly decision: Decision
}

/** The registry, as people see it. */
export interface RegistryReport {
  /** Records kept, revocations and what has expired but is remembered among them. */
  readonly records: number
  /** Servers that are registered. */
  readonly servers: number
  /** How many records came to which outcome, since the start. */
  readonly outcomes: Readonly<Partial<Record<RecordOutcome, number>>>
  /** What else came over the registry's protocol and was refused, by its reason. */
  readonly refused: Readonly<Partial<Record<RegistryRefusal, number>>>
  /** Peers that are connected and speak the registry's protocol. */
  readonly speakers: number
  /** Frames of that protocol that are being read, are on their way, or wait for it. */
  readonly frames: number
  /** Those of them that others tell, and that are being read. */
  readonly reading: number
}

/** Why something that came over the registry's protocol was refused, records themselves apart. */
export type RegistryRefusal =
  /** The frame was too long, no JSON, or held what no frame holds; or the stream broke off or stood still. */
  | 'frame'
  /** A frame more than the peer may send. */
  | 'too-often'
  /** A record in it was no envelope, or not what the envelope says it is. */
  | 'unreadable'
  /** A record more than may be checked for this peer, or for all. */
  | 'too-many'
  /** The delegation was forged, expired, for another peer or for another key. */
  | 'delegation'

/** What the node is in the registry. */
export interface OwnRegistration {
  readonly peer: string
  /** The key under which the node makes its requests: its identity, or one that it has a delegation of. */
  readonly client: string
  /** When the delegation ends, in milliseconds since 1970; left out where none is needed. */
  readonly delegationExpiresMs?: number
  /** Bindings of the client key, and those that point to the node. */
  readonly bindings: readonly BindingStat[]
}

/** Who would be admitted now and why, who was, and what is known of owners. */
export interface AdmissionReport extends AdmissionView {
  /** How many decisions had which reason, since the start. */
  readonly decisions: Readonly<Partial<Record<AdmissionReason, number>>>
  readonly registry: RegistryReport
  readonly own: OwnRegistration
  readonly peers: readonly AdmittedPeer[]
  /** Left out where the node does not run. */
  readonly tests?: TestsReport
}

/** What a node can do about who it is to others; a running peer, or one that does not run (`openAdmission`). */
export interface Registering {
  /** Who is served now and why, and who this node is to others. */
  admission(): AdmissionReport
  /** The server's own word that it belongs to an owner, as text to be carried to another machine. */
  serverClaim(owner: PeerId | string, options?: ClaimOptions): Promise<string>
  /** A client key's word that a peer may make requests under it, as text to be carried to another machine. */
  delegate(to: PeerId | string, options?: DelegateOptions): Promise<string>
  /**
   * From now on requests are made under the client key that gave this delegation to us; undefined: under our identity
   * again. Errors: InvalidParametersError where the text is no delegation to us that holds now.
   */
  useDelegation(delegation: string | undefined): Promise<OwnRegistration>
  /**
   * Makes, signs and takes a binding of a client key to a server, and tells it to whoever is connected. Once it
   * resolves it is kept, or a warning says that it could not be. Errors: InvalidParametersError for a claim, a key or a lifetime that cannot be, and where the registry
   * has no room or the server belongs to another owner.
   */
  register(options?: RegisterOptions): Promise<BindingStat>
  /**
   * Revokes bindings and tells it. Returns the revocations; none where the owner has no such binding.
   * Errors: InvalidParametersError for a client that is no PeerId.
   */
  unregister(options?: UnregisterOptions): Promise<readonly BindingStat[]>
}

/** The same over a datastore, of a node that does not run. `close` writes what was changed. Errors of `close`: NotStoredError. */
export interface StoredAdmission extends Registering {
  /** Writes what was changed, and lets the datastore go. */
  close(): Promise<void>
}
