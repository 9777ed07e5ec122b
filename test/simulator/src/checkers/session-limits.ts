import type { SessionId } from '@shardswap/broker'
import type { BlockKey, PeerKey } from '@shardswap/interface'

/** Want-blocks that a session may have at a peer that has not delivered to it yet (N of B11). */
const start = 8

interface Account {
  inFlight: number
  /** Blocks that came from the peer for this session. */
  blocks: number
}

/** N, 2N after the first block, then twice as many each time the blocks reach half of the limit (B11–B13). */
function limitAfter(blocks: number): number {
  if (blocks === 0) return start
  let limit = 2 * start
  while (blocks >= limit / 2) limit *= 2
  return limit
}

/** What each session has in flight at each peer; of wants that several sessions share, nothing. */
export class SessionLimits {
  readonly #accounts = new Map<SessionId, Map<PeerKey, Account>>()
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
  sent(session: SessionId, peer: PeerKey, key: BlockKey): string | undefined {
    const account = this.#account(session, peer)
    account.inFlight += 1
    const owners = this.#owners.get(peer)
    if (owners === undefined) this.#owners.set(peer, new Map([[key, session]]))
    else owners.set(key, session)
    const limit = limitAfter(account.blocks)
    if (account.inFlight <= limit) return undefined
    return `session ${session} has ${account.inFlight} want-blocks in flight at ${peer}, and ${limit} are its limit after ${account.blocks} blocks`
  }

  /** It was answered or cancelled, its time is over, or the peer went. */
  closed(peer: PeerKey, key: BlockKey): void {
    const owners = this.#owners.get(peer)
    const session = owners?.get(key)
    if (owners === undefined || session === undefined) return
    owners.delete(key)
    if (owners.size === 0) this.#owners.delete(peer)
    const account = this.#accounts.get(session)?.get(peer)
    if (account !== undefined) account.inFlight -= 1
  }

  /** A block came, be it the first copy or a later one: whoever waits for it or had it asked of this peer knows that the peer delivers. */
  delivered(peer: PeerKey, key: BlockKey, waiting: readonly SessionId[]): void {
    const asked = this.#askedFor.get(peer)?.get(key) ?? []
    for (const session of new Set([...asked, ...waiting])) this.#account(session, peer).blocks += 1
  }

  #account(session: SessionId, peer: PeerKey): Account {
    let accounts = this.#accounts.get(session)
    if (accounts === undefined) {
      accounts = new Map()
      this.#accounts.set(session, accounts)
    }
    let account = accounts.get(peer)
    if (account === undefined) {
      account = { inFlight: 0, blocks: 0 }
      accounts.set(peer, account)
    }
    return account
  }
}
