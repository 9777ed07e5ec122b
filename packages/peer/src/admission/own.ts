import { InvalidParametersError, messageOf, peerKey, type PeerKey } from '@shardswap/interface'
import { type BindingRecord, clientKey, type ClientKey, mayUse, ownerKey, type OwnerKey, type RecordOutcome } from '@shardswap/server'
import type { PeerId, PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey, peerIdFromString } from '@libp2p/peer-id'
import type { AdmissionBook } from './book.ts'
import { readClaim, readDelegation, signClaim, signDelegation, type SignedDelegation } from './claim.ts'
import type { RegistryShellLimits } from './limits.ts'
import { mustFit, signBinding, type SignedRecord, signRevocation } from './signed-record.ts'
import type { BindingStat, ClaimOptions, DelegateOptions, OwnRegistration, RegisterOptions, UnregisterOptions } from './types.ts'

export interface OwnBindingsInit {
  readonly book: AdmissionBook
  readonly self: PeerId
  /** Of our identity, where it is known. */
  readonly privateKey: PrivateKey | undefined
  readonly limits: RegistryShellLimits
  /** Resolves once what we made or use is kept, as far as it can be. */
  readonly keep: () => Promise<void>
}

const dayMs = 24 * 60 * 60 * 1000

/** What helps where the registry does not take what we made. */
const advice: Readonly<Partial<Record<RecordOutcome, string>>> = {
  'other-owner': ', for the server has another owner already, who has to unregister it first',
  full: ', for the owner, or the registry, has as many records or servers as it may'
}

/** Who is told of each record that we made; undefined: of another client key. */
export type OwnFollower = (record: SignedRecord | undefined) => void

/** What is remembered of ourselves. */
export interface SavedOwn {
  readonly delegation?: string
  /** For how long each renewed binding holds; left out where none is. */
  readonly renewedForMs?: number
}

/** Who we are in the registry, and what we sign there. Keys that are given are used and forgotten. */
export class OwnBindings {
  readonly #init: OwnBindingsInit
  readonly #book: AdmissionBook
  readonly #limits: RegistryShellLimits
  readonly #followers = new Set<OwnFollower>()
  #delegation: SignedDelegation | undefined
  #renewedForMs: number | undefined
  /** What is made now, and all before it. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(init: OwnBindingsInit) {
    this.#init = init
    this.#book = init.book
    this.#limits = init.limits
    this.#book.follow(() => this.#yieldTo(this.#standing))
  }

  /** Who is told of each record that we made, and when the client key has changed: others should know. */
  follow(follower: OwnFollower): void {
    this.#followers.add(follower)
  }

  /** The key under which we make our requests now, and the delegation that lets us. */
  shown(): { readonly client: ClientKey; readonly delegation: SignedDelegation | undefined } {
    const delegation = this.#delegation
    const isUsed = delegation !== undefined && mayUse(delegation.client, this.#self, delegation, this.#book.wallMs())
    return isUsed ? { client: delegation.client, delegation } : { client: clientKey(this.#self), delegation: undefined }
  }

  stat(): OwnRegistration {
    const { client, delegation } = this.shown()
    const bindings = [...this.#book.registry.records(this.#book.nowMs())].filter(
      (record) => record.kind === 'binding' && (record.client === client || record.server === this.#self)
    )
    return {
      peer: this.#self,
      client,
      ...(delegation === undefined ? {} : { delegationExpiresMs: delegation.expiresMs }),
      bindings: bindings.map((binding) => this.#statOf(binding))
    }
  }

  saved(): SavedOwn {
    return {
      ...(this.#delegation === undefined ? {} : { delegation: this.#delegation.text }),
      ...(this.#renewedForMs === undefined ? {} : { renewedForMs: this.#renewedForMs })
    }
  }

  /** Takes back what `saved` gave. A delegation that no longer holds is left out. */
  async recall({ delegation, renewedForMs }: SavedOwn): Promise<void> {
    if (typeof renewedForMs === 'number' && renewedForMs > 0) this.#renewedForMs = renewedForMs
    if (typeof delegation !== 'string') return
    this.#delegation = await this.#ownDelegation(delegation).catch(() => undefined)
  }

  async serverClaim(owner: PeerId | string, { lifetimeMs = this.#limits.claimLifetimeMs }: ClaimOptions = {}): Promise<string> {
    const id = idOf(owner, 'owner')
    if (id.type === 'RSA')
      throw new InvalidParametersError(`nothing that ${id.toString()} signs is taken: bindings are not made with RSA keys`)
    return await signClaim(this.#identityKey(), ownerKey(id), this.#endOf(lifetimeMs))
  }

  async delegate(to: PeerId | string, options: DelegateOptions = {}): Promise<string> {
    const { clientKey: key = this.#identityKey(), lifetimeMs = this.#limits.delegationLifetimeMs } = options
    return await signDelegation(key, peerKey(idOf(to, 'peer')), this.#endOf(lifetimeMs))
  }

  async useDelegation(text: string | undefined): Promise<OwnRegistration> {
    try {
      this.#delegation = text === undefined ? undefined : await this.#ownDelegation(text)
    } catch (cause) {
      throw new InvalidParametersError(`this is no delegation that lets us use a client key: ${messageOf(cause)}`, { cause })
    }
    this.#tell(undefined)
    await this.#init.keep()
    return this.stat()
  }

  async register(options: RegisterOptions = {}): Promise<BindingStat> {
    return await this.#inTurn(async () => await this.#register(options))
  }

  async #register(options: RegisterOptions): Promise<BindingStat> {
    const { ownerKey: owner = this.#identityKey(), clientKey: client = this.#identityKey(), serverClaim } = options
    const [ownerId, clientId] = [ownerKey(peerIdFromPrivateKey(owner)), clientKey(peerIdFromPrivateKey(client))]
    const isSelfOwned = sameKey(ownerId, this.#self) && sameKey(clientId, this.#self) && serverClaim === undefined
    const lifetimeMs = options.lifetimeMs ?? this.#limits.bindingLifetimeMs
    const { server, claim, expiresMs } = await this.#serverFor(ownerId, this.#endOf(lifetimeMs), serverClaim)
    const sequence = this.#sequence(clientId, ownerId)
    const binding = await signBinding({ owner, client, server, claim, expiresMs, sequence })
    await this.#take(binding)
    if (isSelfOwned) this.#renewedForMs = lifetimeMs
    await this.#init.keep()
    return this.#statOf(binding)
  }

  async unregister(options: UnregisterOptions = {}): Promise<readonly BindingStat[]> {
    return await this.#inTurn(async () => await this.#unregister(options))
  }

  async #unregister({ ownerKey: owner = this.#identityKey(), client }: UnregisterOptions): Promise<readonly BindingStat[]> {
    const ownerId = ownerKey(peerIdFromPrivateKey(owner))
    const named = client === undefined ? undefined : clientKey(idOf(client, 'client'))
    const { client: used } = this.shown()
    const isMeant = (record: BindingRecord): boolean => {
      if (record.kind !== 'binding' || record.owner !== ownerId) return false
      if (named !== undefined) return record.client === named
      return record.client === used || sameKey(record.client, this.#self) || record.server === this.#self
    }
    const revoked: BindingStat[] = []
    for (const record of [...this.#book.registry.records(this.#book.nowMs())].filter(isMeant)) {
      if (sameKey(record.client, this.#self) && sameKey(ownerId, this.#self)) this.#renewedForMs = undefined
      // It is remembered for as long as anything that it replaces might come again, longer terms of before among it.
      const expiresMs = this.#endOf(this.#book.registryLimits.bindingLifetimeMaxMs)
      const said = { client: record.client, expiresMs, sequence: this.#sequence(record.client, ownerId) }
      revoked.push(await this.#take(await signRevocation(owner, said)))
    }
    // Once for all of them: they may be many, and what is kept is written whole.
    await this.#init.keep()
    return revoked
  }

  /** Renews what is to be renewed, once half of its term is over. */
  async renew(): Promise<void> {
    if (this.#renewedForMs === undefined || this.#init.privateKey === undefined) return
    const standing = this.#standing
    this.#yieldTo(standing)
    if (this.#renewedForMs === undefined) return
    const leftMs = standing === undefined ? 0 : standing.expiresMs - this.#book.wallMs()
    // One that was made while the clock was far ahead is too long for everybody.
    if (leftMs > this.#renewedForMs / 2 && leftMs <= this.#book.registryLimits.bindingLifetimeMaxMs) return
    await this.register({ lifetimeMs: this.#renewedForMs })
  }

  /** Whoever else can sign as we do, or whom we let do it, has the last word: what was bound or taken back there is not made again. */
  #yieldTo(standing: SignedRecord | undefined): void {
    if (standing === undefined) return
    if (standing.kind === 'revocation' || !sameKey(standing.owner, this.#self)) this.#renewedForMs = undefined
  }

  /** What holds of our identity as a client key. */
  get #standing(): SignedRecord | undefined {
    return this.#book.registry.recordOf(clientKey(this.#self), this.#book.nowMs())
  }

  /** One after another: the sequence of what is made follows that of what was made before. */
  async #inTurn<T>(make: () => Promise<T>): Promise<T> {
    const making = this.#last.then(make)
    this.#last = making.catch(() => undefined)
    return await making
  }

  get #self(): PeerKey {
    return peerKey(this.#init.self)
  }

  #identityKey(): PrivateKey {
    const { privateKey } = this.#init
    if (privateKey === undefined) throw new InvalidParametersError('the private key of the node is not known: give it as privateKey')
    return privateKey
  }

  async #ownDelegation(text: string): Promise<SignedDelegation> {
    const delegation = await readDelegation(text)
    if (delegation.peer !== this.#self) throw new Error(`it is for ${delegation.peer}, and we are ${this.#self}`)
    if (!mayUse(delegation.client, this.#self, delegation, this.#book.wallMs())) throw new Error('it has expired')
    return delegation
  }

  /** The server that a binding is to point to, its claim where one is needed, and until when all of it holds. */
  async #serverFor(
    owner: OwnerKey,
    endMs: number,
    text: string | undefined
  ): Promise<{ readonly server: PeerKey; readonly claim: Uint8Array | undefined; readonly expiresMs: number }> {
    if (text === undefined && sameKey(owner, this.#self)) return { server: this.#self, claim: undefined, expiresMs: endMs }
    const claim = await readClaim(text ?? (await signClaim(this.#identityKey(), owner, endMs)), this.#book.wallMs())
    if (claim.owner !== owner) throw new InvalidParametersError(`the server says that it belongs to ${claim.owner}, not to ${owner}`)
    return { server: claim.server, claim: claim.bytes, expiresMs: Math.min(endMs, claim.expiresMs) }
  }

  /** By the time, so that what was forgotten here is not below what others know. */
  #sequence(client: ClientKey, owner: OwnerKey): number {
    return Math.max(Math.round(this.#book.wallMs()), this.#book.registry.nextSequence(client, owner))
  }

  #endOf(lifetimeMs: number): number {
    const { bindingLifetimeMaxMs } = this.#book.registryLimits
    if (!Number.isFinite(lifetimeMs) || lifetimeMs <= 0 || lifetimeMs > bindingLifetimeMaxMs) {
      throw new InvalidParametersError(
        `a lifetime must be above 0 and at most ${bindingLifetimeMaxMs} ms (${bindingLifetimeMaxMs / dayMs} days), not ${lifetimeMs}`
      )
    }
    // Others' clocks may be behind ours: what holds for the longest time that may be would be too long there.
    const longestMs = Math.max(bindingLifetimeMaxMs - this.#limits.clockSkewMs, bindingLifetimeMaxMs / 2)
    return Math.round(this.#book.wallMs() + Math.min(lifetimeMs, longestMs))
  }

  async #take(record: SignedRecord): Promise<BindingStat> {
    mustFit(record, this.#book.registryLimits.bindingBytesMax)
    const outcome = await this.#book.take(record)
    if (outcome !== 'taken') {
      throw new InvalidParametersError(`the registry does not take the ${record.kind}: ${outcome}${advice[outcome] ?? ''}`)
    }
    this.#tell(record)
    return this.#statOf(record)
  }

  #tell(record: SignedRecord | undefined): void {
    for (const follower of this.#followers) follower(record)
  }

  #statOf(record: SignedRecord): BindingStat {
    const { kind, client, owner, expiresMs, sequence } = record
    const isOwn = kind === 'binding' && [client, owner, record.server].every((key) => sameKey(key, this.#self))
    return {
      kind,
      client,
      ...(kind === 'binding' ? { server: record.server } : {}),
      owner,
      expiresMs,
      sequence,
      isRenewed: isOwn && this.#renewedForMs !== undefined
    }
  }
}

function sameKey(one: string, other: string): boolean {
  return one === other
}

function idOf(peer: PeerId | string, name: string): PeerId {
  if (typeof peer !== 'string') return peer
  try {
    return peerIdFromString(peer)
  } catch (cause) {
    throw new InvalidParametersError(`"${peer}" is no peer id of an ${name}`, { cause })
  }
}
