import { assert, type PeerKey } from '@shardswap/interface'
import { Calendar } from '@shardswap/reliability'
import { recordFault, type Binding, type BindingRecord, type ClientKey, type OwnerKey, type RecordFault } from './binding.ts'
import type { RegistryLimits } from './limits.ts'

/** [I16] Where it is looked up to whom a client key belongs. Signed records are one implementation, a contract on a chain would be another. */
export interface Registry {
  /** [I3] The server that a client key points to at a moment of the cores' clock; undefined where it is not bound. */
  serverOf(client: ClientKey, nowMs: number): PeerKey | undefined
  /** The owner of a registered server. */
  ownerOf(server: PeerKey): OwnerKey | undefined
  /** The registered servers of an owner. */
  serversOf(owner: OwnerKey): readonly PeerKey[]
  /** Servers that are registered. */
  readonly size: number
}

/** What others must know of: who keeps a client's owner, or an owner's servers, follows these. */
export type RegistryChange =
  | { readonly type: 'bound'; readonly client: ClientKey; readonly server: PeerKey; readonly owner: OwnerKey }
  | { readonly type: 'unbound'; readonly client: ClientKey }
  | { readonly type: 'server'; readonly server: PeerKey; readonly owner: OwnerKey }
  | { readonly type: 'server-gone'; readonly server: PeerKey }

/** What became of a record: taken, known already, or what was wrong with it. */
export type RecordOutcome = 'taken' | 'known' | RecordFault

/** What the registry of signed records is made of. */
export interface RegistryInit<Signed extends BindingRecord> {
  /** The wall's time at `nowMs`. */
  readonly wallMs: number
  /** The same moment on the cores' clock. */
  readonly nowMs: number
  /** As `verifyRegistryLimits` gives them. */
  readonly limits: RegistryLimits
  /**
   * Whether the signatures are right: of a binding the owner's, the client key's and the server's, which says who owns it;
   * of a revocation the owner's. Asked last, and only of records that are else in order.
   */
  readonly verify: (record: Signed) => boolean
  /** Whether a server was verified of late: its records do not make room for others. */
  readonly isProven: (server: PeerKey) => boolean
  /** Whether a record is the node's own: it never makes room for others. None is by default. */
  readonly isOurs?: (record: Signed) => boolean
}

interface Entry<Signed extends BindingRecord> {
  readonly record: Signed
  /** What the record binds; undefined for a revocation, and once it has expired. */
  binding: Binding | undefined
  /** The highest sequence of a binding: a revocation's own holds nobody but its owner, or it could lock the client key. */
  readonly boundSequence: number
  /** So long its sequence is remembered: until nothing that it replaced could come again. In milliseconds since 1970. */
  readonly keptUntilMs: number
}

/** What outlives a process of one client key. */
export interface KeptRecord<Signed extends BindingRecord> {
  readonly record: Signed
  readonly boundSequence: number
  readonly keptUntilMs: number
}

interface RegisteredServer {
  readonly owner: OwnerKey
  /** Client keys that point to it. */
  clients: number
}

interface Holdings {
  records: number
  readonly servers: Set<PeerKey>
}

/**
 * [I3][I16] Bindings by client key, one for each, and what follows from them. Rules, by number where the code applies them:
 * 1. Of one client key the record with the highest sequence holds, and none below it is taken until all that it replaced have
 *    expired. The sequence of a revocation holds for its owner alone.
 * 2. A server has one owner. Another has it only once no client key is bound to it any more.
 * 3. A revocation is taken from the owner of what it revokes.
 * 4. An owner has at most `bindingsPerOwnerMax` records and `serversPerOwnerMax` servers.
 * 5. Where all is full, the oldest record of a server that was not verified of late makes room, or else none does; the node's
 *    own never do.
 */
export class BindingRegistry<Signed extends BindingRecord> implements Registry {
  readonly #init: RegistryInit<Signed>
  readonly #limits: RegistryLimits
  #calendar: Calendar
  /** The oldest first, but for those that were kept when room was looked for. */
  readonly #entries = new Map<ClientKey, Entry<Signed>>()
  readonly #servers = new Map<PeerKey, RegisteredServer>()
  readonly #owners = new Map<OwnerKey, Holdings>()
  readonly #outcomes = new Map<RecordOutcome, number>()

  constructor(init: RegistryInit<Signed>) {
    this.#init = init
    this.#limits = init.limits
    this.#calendar = new Calendar(init.wallMs, init.nowMs)
  }

  get size(): number {
    return this.#servers.size
  }

  /** Records kept, revocations and what has expired but is remembered among them. */
  get recordsKept(): number {
    return this.#entries.size
  }

  serverOf(client: ClientKey, nowMs: number): PeerKey | undefined {
    const binding = this.#entries.get(client)?.binding
    return binding && binding.expiresMs > this.#calendar.wallMs(nowMs) ? binding.server : undefined
  }

  ownerOf(server: PeerKey): OwnerKey | undefined {
    return this.#servers.get(server)?.owner
  }

  serversOf(owner: OwnerKey): readonly PeerKey[] {
    return [...(this.#owners.get(owner)?.servers ?? [])]
  }

  /** Records that hold, bindings and revocations, to give to others. */
  *records(nowMs: number): Generator<Signed> {
    const wallMs = this.#calendar.wallMs(nowMs)
    for (const { record } of this.#entries.values()) if (record.expiresMs > wallMs) yield record
  }

  /** What to remember over a restart: what has expired too, as long as its sequence counts. */
  *kept(): Generator<KeptRecord<Signed>> {
    for (const { record, boundSequence, keptUntilMs } of this.#entries.values()) yield { record, boundSequence, keptUntilMs }
  }

  /** Takes back what `kept` gave, as far as there is room; it was checked before it was kept. Nothing may be registered yet. */
  restore(kept: Iterable<KeptRecord<Signed>>, nowMs: number): RegistryChange[] {
    assert(this.#entries.size === 0, 'what was kept comes back first')
    const wallMs = this.#calendar.wallMs(nowMs)
    const changes: RegistryChange[] = []
    for (const { record, boundSequence, keptUntilMs } of kept) {
      if (this.#entries.size >= this.#limits.bindingsMax || keptUntilMs <= wallMs || this.#entries.has(record.client)) continue
      const binding = record.expiresMs > wallMs ? bindingIn(record) : undefined
      if (binding && this.#checkBinding(binding, undefined)) continue
      this.#replace(undefined, { record, binding, boundSequence, keptUntilMs }, changes)
    }
    return changes
  }

  /** The record that holds of a client key. */
  recordOf(client: ClientKey, nowMs: number): Signed | undefined {
    const record = this.#entries.get(client)?.record
    return record && record.expiresMs > this.#calendar.wallMs(nowMs) ? record : undefined
  }

  /** The lowest sequence that a new record of this client key, by this owner, may have. */
  nextSequence(client: ClientKey, owner: OwnerKey): number {
    const entry = this.#entries.get(client)
    return entry ? this.#sequenceFor(owner, entry) + 1 : 0
  }

  /** How many records came to which outcome. */
  outcomes(): ReadonlyMap<RecordOutcome, number> {
    return this.#outcomes
  }

  /** What is to be said of a record before its signatures are looked at; undefined: nothing. Changes nothing. */
  check(record: Signed, bytes: number, nowMs: number): Exclude<RecordOutcome, 'taken'> | undefined {
    const fault = recordFault(record, bytes, this.#calendar.wallMs(nowMs), this.#limits)
    if (fault) return fault
    const entry = this.#entries.get(record.client)
    const standing = entry?.record
    if (standing?.sequence === record.sequence && isSame(standing, record)) return 'known'
    // (1)
    if (entry && record.sequence <= this.#sequenceFor(record.owner, entry)) return 'replayed'
    if (record.kind === 'revocation') {
      // (3)
      return standing?.owner === record.owner ? undefined : 'other-owner'
    }
    return this.#checkBinding(record, standing)
  }

  /** Takes a record that came from anywhere, or says why not. `changes` are what followed, in order. */
  accept(record: Signed, bytes: number, nowMs: number): { outcome: RecordOutcome; changes: RegistryChange[] } {
    const changes: RegistryChange[] = []
    const outcome = this.#accept(record, bytes, nowMs, changes)
    this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1)
    return { outcome, changes }
  }

  /** The wall's time as it is now. It is not taken once for all, as a clock may have been wrong, and one that never jumps may stand still while the machine sleeps. */
  setClock(wallMs: number, nowMs: number): void {
    this.#calendar = new Calendar(wallMs, nowMs)
  }

  /** Lets go of what has expired. To be called about once a minute; the cost is linear in the records. */
  expire(nowMs: number): RegistryChange[] {
    const wallMs = this.#calendar.wallMs(nowMs)
    const changes: RegistryChange[] = []
    for (const entry of this.#entries.values()) {
      if (entry.record.expiresMs <= wallMs) this.#end(entry, changes)
      if (entry.keptUntilMs <= wallMs) this.#drop(entry, changes)
    }
    return changes
  }

  #checkBinding(binding: Binding, standing: Signed | undefined): RecordFault | undefined {
    const { client, server, owner } = binding
    const known = this.#servers.get(server)
    const isOwn = this.#entries.get(client)?.binding?.server === server
    // (2) The last client key of a server may take it along.
    if (known && known.owner !== owner && !(isOwn && known.clients === 1)) return 'other-owner'
    // (4)
    const holdings = this.#owners.get(owner)
    if (!holdings) return undefined
    if (standing?.owner !== owner && holdings.records >= this.#limits.bindingsPerOwnerMax) return 'full'
    return !holdings.servers.has(server) && holdings.servers.size >= this.#limits.serversPerOwnerMax ? 'full' : undefined
  }

  #accept(record: Signed, bytes: number, nowMs: number, changes: RegistryChange[]): RecordOutcome {
    const fault = this.check(record, bytes, nowMs)
    if (fault) return fault
    if (!this.#init.verify(record)) return 'forged'
    const before = this.#entries.get(record.client)
    if (!before && !this.#makeRoom(nowMs, changes)) return 'full'
    // (1)
    const keptUntilMs = Math.max(record.expiresMs, before?.keptUntilMs ?? 0)
    const binding = bindingIn(record)
    const boundSequence = binding ? binding.sequence : (before?.boundSequence ?? -1)
    this.#replace(before, { record, binding, boundSequence, keptUntilMs }, changes)
    return 'taken'
  }

  #sequenceFor(owner: OwnerKey, { record: standing, boundSequence }: Entry<Signed>): number {
    return standing.kind === 'revocation' && standing.owner !== owner ? boundSequence : standing.sequence
  }

  /** (5) Records that stay go to the end, so that the next search goes on behind them. */
  #makeRoom(nowMs: number, changes: RegistryChange[]): boolean {
    const wallMs = this.#calendar.wallMs(nowMs)
    for (let look = 0; this.#entries.size >= this.#limits.bindingsMax; look++) {
      const [entry] = this.#entries.values()
      if (entry === undefined || look >= this.#limits.roomLooksMax) return false
      const { record, binding } = entry
      const isProven = binding !== undefined && binding.expiresMs > wallMs && this.#init.isProven(binding.server)
      if (isProven || this.#init.isOurs?.(record) === true) {
        this.#entries.delete(record.client)
        this.#entries.set(record.client, entry)
      } else this.#drop(entry, changes)
    }
    return true
  }

  #replace(before: Entry<Signed> | undefined, after: Entry<Signed>, changes: RegistryChange[]): void {
    const { client, owner } = after.record
    const [was, is] = [before?.binding, after.binding]
    if (was) this.#unbind(was)
    if (before) this.#letGo(before.record.owner)
    this.#entries.set(client, after)
    this.#holdingsOf(owner).records++
    if (is) this.#bind(is)
    if (was && !this.#servers.has(was.server)) changes.push({ type: 'server-gone', server: was.server })
    // Only its term is another: nobody need know.
    if (is && was?.server === is.server && was.owner === owner) return
    if (is && this.#servers.get(is.server)?.clients === 1) changes.push({ type: 'server', server: is.server, owner })
    if (is) changes.push({ type: 'bound', client, server: is.server, owner })
    else if (was) changes.push({ type: 'unbound', client })
  }

  /** What an entry binds ends; its sequence is remembered. */
  #end(entry: Entry<Signed>, changes: RegistryChange[]): void {
    const { binding } = entry
    if (!binding) return
    entry.binding = undefined
    this.#unbind(binding)
    changes.push({ type: 'unbound', client: binding.client })
    if (!this.#servers.has(binding.server)) changes.push({ type: 'server-gone', server: binding.server })
  }

  #drop(entry: Entry<Signed>, changes: RegistryChange[]): void {
    this.#end(entry, changes)
    this.#entries.delete(entry.record.client)
    this.#letGo(entry.record.owner)
  }

  #bind({ server, owner }: Binding): void {
    const known = this.#servers.get(server)
    if (known) known.clients++
    else this.#servers.set(server, { owner, clients: 1 })
    this.#holdingsOf(owner).servers.add(server)
  }

  #unbind({ server, owner }: Binding): void {
    const known = this.#servers.get(server)
    assert(known?.owner === owner, 'what is bound is known under its owner')
    known.clients--
    if (known.clients > 0) return
    this.#servers.delete(server)
    this.#owners.get(owner)?.servers.delete(server)
  }

  #holdingsOf(owner: OwnerKey): Holdings {
    const known = this.#owners.get(owner)
    if (known) return known
    const holdings = { records: 0, servers: new Set<PeerKey>() }
    this.#owners.set(owner, holdings)
    return holdings
  }

  #letGo(owner: OwnerKey): void {
    const holdings = this.#owners.get(owner)
    assert(holdings !== undefined && holdings.records > 0, 'no more records of an owner end than were kept')
    holdings.records--
    if (holdings.records === 0) this.#owners.delete(owner)
  }
}

function bindingIn(record: BindingRecord): Binding | undefined {
  return record.kind === 'binding' ? record : undefined
}

function isSame(one: BindingRecord, other: BindingRecord): boolean {
  const isAlike = one.owner === other.owner && one.expiresMs === other.expiresMs
  if (one.kind === 'binding') return isAlike && other.kind === 'binding' && one.server === other.server
  return isAlike && other.kind === 'revocation'
}
