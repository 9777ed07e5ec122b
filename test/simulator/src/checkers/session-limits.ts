import type { SessionId } from '@shardswap/broker'
import type { BlockKey, PeerKey } from '@shardswap/interface'
import { defaultLimits } from '@shardswap/peer'

/** Want-blocks that a session may have at a peer that has not delivered to it yet (N of B11), and at any. */
const start = 8
const most = 1024

interface Account {
  inFlight: number
  limit: number
  /** Blocks that came from the peer for this session, since the limit was halved last. */
  blocks: number
  /** The limit as it was before it was halved: lines that were decided then may wait in their message until this time. */
  before: { limit: number; untilMs: number }
}

/** What each session has in flight at each peer; of wants that several sessions share, nothing. */
export class SessionLimits {
  readonly #accounts = new Map<PeerKey, Map<SessionId, Account>>()
  /** Whose want-block of a key is open at a peer. */
  readonly #owners = new Map<PeerKey, Map<BlockKey, SessionId>>()
  /** For whom a key was ever asked of a peer. */
  readonly #askedFor = new Map<PeerKey, Map<BlockKey, readonly SessionId[]>>()

  /** A want of either type was sent for these sessions. */
  asked(sessions: readonly SessionId[], peer: PeerKey, key: BlockKey): void {
    const asked = this.#askedFor.get(peer)
    if (asked === undefined) this.#askedFor.set(peer, new Map([[key, sessions]]))
    else asked.set(key, sessions)
  }

  /** A want-block for this session alone was sent. Returns what is wrong with that, if anything. */
  sent(session: SessionId, peer: PeerKey, key: BlockKey, nowMs: number): string | undefined {
    const account = this.#account(session, peer)
    account.inFlight += 1
    const owners = this.#owners.get(peer)
    if (owners === undefined) this.#owners.set(peer, new Map([[key, session]]))
    else owners.set(key, session)
    const { before } = account
    const limit = nowMs <= before.untilMs ? Math.max(before.limit, account.limit) : account.limit
    if (account.inFlight <= limit) return undefined
    return `session ${session} has ${account.inFlight} want-blocks in flight at ${peer}, and ${limit} are its limit after ${account.blocks} blocks`
  }

  /** The core said that the time of a want-block is over: the limit halves, floor 1 (B15), and grows by blocks from then on. */
  late(peer: PeerKey, key: BlockKey, nowMs: number): void {
    const session = this.#owners.get(peer)?.get(key)
    const account = session === undefined ? undefined : this.#accounts.get(peer)?.get(session)
    if (account === undefined) return
    const { before } = account
    const limit = nowMs <= before.untilMs ? Math.max(before.limit, account.limit) : account.limit
    account.before = { limit, untilMs: nowMs + defaultLimits.holdMs }
    account.limit = Math.max(1, account.limit >> 1)
    account.blocks = 0
  }

  /** It was answered or cancelled, its time is over, or the peer went. */
  closed(peer: PeerKey, key: BlockKey): void {
    const owners = this.#owners.get(peer)
    const session = owners?.get(key)
    if (owners === undefined || session === undefined) return
    owners.delete(key)
    if (owners.size === 0) this.#owners.delete(peer)
    const account = this.#accounts.get(peer)?.get(session)
    if (account !== undefined) account.inFlight -= 1
  }

  /** A block came, be it the first copy or a later one: whoever waits for it or had it asked of this peer knows that the peer delivers. */
  delivered(peer: PeerKey, key: BlockKey, waiting: readonly SessionId[]): void {
    const asked = this.#askedFor.get(peer)?.get(key) ?? []
    for (const session of new Set([...asked, ...waiting])) grow(this.#account(session, peer))
  }

  /** The peer went: should it come back, it begins as a new one. */
  disconnected(peer: PeerKey): void {
    this.#accounts.delete(peer)
  }

  #account(session: SessionId, peer: PeerKey): Account {
    let accounts = this.#accounts.get(peer)
    if (accounts === undefined) {
      accounts = new Map()
      this.#accounts.set(peer, accounts)
    }
    let account = accounts.get(session)
    if (account === undefined) {
      account = { inFlight: 0, limit: start, blocks: 0, before: { limit: start, untilMs: Number.NEGATIVE_INFINITY } }
      accounts.set(session, account)
    }
    return account
  }
}

/** Twice as many after the first block, then each time the blocks reach half of the limit (B12, B13). */
function grow(account: Account): void {
  account.blocks += 1
  const isDue = account.limit <= start || 2 * account.blocks >= account.limit
  if (isDue) account.limit = Math.min(most, 2 * account.limit)
}
