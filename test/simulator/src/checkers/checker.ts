import type { Arrival, Command, ExchangeCore, SessionId, WantEntry } from '@shardswap/broker'
import { type BlockKey, type PeerKey, wantsPerPeerMax } from '@shardswap/interface'
import type { Role } from '@shardswap/reliability'
import type { Watch } from '../nodes/watch.ts'
import type { Rule } from '../policy.ts'
import { type BackupBudget, noBackups, PaidBackups } from './paid.ts'
import { QueueLimits } from './queue-limits.ts'
import { SessionLimits } from './session-limits.ts'
import { Stands } from './stands.ts'
import { Turns } from './turns.ts'
import { Violation } from './violation.ts'

/** With more peers than this, the core is asked for its own count only once in so many decisions: it tells of all peers or none. */
const queuesAskedMax = 64
/** Decisions between two looks at whose turn it is. */
const turnsEvery = 16
const roundingMax = 1e-6

type RoleOf = (peer: PeerKey, key: BlockKey) => Role | undefined

export interface CheckerOptions {
  /** What the core pays its backups from; it has none where this is left out. */
  readonly backups?: BackupBudget | undefined
  /** In what part a peer is asked for a block, by what the core tells its reliability layer. */
  readonly roleOf?: RoleOf
  readonly nowMs: () => number
}

/**
 * Holds one fetching core to the invariants of the requirements after every
 * step, from what goes in and comes out. It keeps its own account of what
 * stands where, so that a core that lost count of it is found out.
 */
export class Checker implements Watch {
  readonly #core: ExchangeCore
  readonly #exempt: ReadonlySet<Rule>
  readonly #sessionLimits = new SessionLimits()
  readonly #stands = new Stands((peer, key) => this.#sessionLimits.closed(peer, key))
  readonly #queueLimits = new QueueLimits()
  readonly #turns = new Turns()
  readonly #nowMs: () => number
  readonly #roleOf: RoleOf
  readonly #paid: PaidBackups
  #decisions = 0

  constructor(core: ExchangeCore, exempt: ReadonlySet<Rule>, { backups = noBackups, roleOf = () => undefined, nowMs }: CheckerOptions) {
    this.#core = core
    this.#exempt = exempt
    this.#roleOf = roleOf
    this.#nowMs = nowMs
    this.#paid = new PaidBackups(backups)
  }

  connected(peer: PeerKey, supportsHave: boolean): void {
    this.#stands.connect(peer, supportsHave)
  }

  disconnected(peer: PeerKey): void {
    this.#stands.disconnect(peer)
    this.#sessionLimits.disconnected(peer)
    this.#queueLimits.disconnected(peer)
  }

  wanted(session: SessionId, key: BlockKey): void {
    this.#turns.want(session, key, this.#stands.open.has(key))
  }

  left(session: SessionId, key: BlockKey): void {
    this.#turns.leave(session, key)
  }

  presence(peer: PeerKey, key: BlockKey, presence: 'have' | 'dont-have'): void {
    this.#queueLimits.answered(peer, key, this.#nowMs())
    if (presence === 'dont-have') this.#stands.settle(peer, key, 'answered')
    // A want-have ends there with its HAVE. For a want-block that is no answer: the block is to follow.
    else if (this.#stands.line(peer, key)?.type === 'have') this.#stands.remove(peer, key)
  }

  block(peer: PeerKey, key: BlockKey, bytes: number, arrival: Arrival, waits: boolean): void {
    const line = this.#stands.line(peer, key)
    const isOpen = line?.type === 'block' && line.state === 'open'
    const isWanted = arrival.kind === 'wanted'
    this.#stands.remove(peer, key)
    if (arrival.kind !== 'unasked') {
      this.#sessionLimits.delivered(peer, key, isWanted ? arrival.sessions : [])
      this.#queueLimits.delivered(peer, key, bytes, { isOpen, isWanted }, this.#nowMs())
    }
    if (waits !== isWanted) {
      const who = waits ? 'somebody waits' : 'nobody waits'
      this.#broken('wants-end', `a block came from ${peer} for which ${who}, and the core calls it ${arrival.kind}`)
    }
  }

  commands(commands: readonly Command[]): void {
    const asked = new Set<PeerKey>()
    // What ends here makes room for what begins, whatever the order.
    for (const command of commands) {
      if (command.type === 'timed-out') {
        this.#sessionLimits.late(command.peer, command.key, this.#nowMs())
        this.#stands.settle(command.peer, command.key, 'late')
      } else if (command.type === 'send') {
        for (const { type, key } of command.entries) if (type === 'cancel') this.#stands.remove(command.peer, key)
      }
    }
    for (const command of commands) {
      if (command.type !== 'send') continue
      this.#message(command.peer, command.entries)
      for (const entry of command.entries) if (entry.type === 'want-block') asked.add(command.peer)
    }
    this.#decisions += 1
    if (asked.size > 0) this.#queues(asked)
    if (this.#decisions % turnsEvery === 0) this.#starved()
  }

  /** Called once every session has ended and what was under way has arrived. */
  atEnd(): void {
    const { peers, ...gauges } = this.#core.gauges()
    for (const [name, value] of Object.entries(gauges)) {
      // Sums of averages keep what rounding leaves.
      if (Math.abs(value) > roundingMax)
        this.#broken('gauges', `${name} is ${String(value)} after the last session ended, with ${peers} peers known`)
    }
    const wakeAtMs = this.#core.wakeAtMs()
    if (wakeAtMs !== undefined) this.#broken('gauges', `a timer for ${wakeAtMs} ms is left after the last session ended`)
    for (const [peer, stand] of this.#stands.peers) {
      const [line] = stand.lines.values()
      if (line === undefined) continue
      const example = `a want-${line.type} (${line.state}) among them`
      this.#broken('gauges', `${stand.lines.size} wants stand at ${peer} after the last session ended, ${example}`)
    }
    if (this.#turns.wantedKeys > 0) this.#broken('wants-end', `${this.#turns.wantedKeys} wants are left after the last session ended`)
  }

  #message(peer: PeerKey, entries: readonly WantEntry[]): void {
    const stand = this.#stands.peers.get(peer)
    if (stand === undefined) return this.#broken('commands', `a message for ${peer}, which is not connected`)
    if (entries.length === 0) this.#broken('commands', `an empty message for ${peer}`)
    const keys = new Set<BlockKey>()
    for (const { type, key } of entries) {
      if (keys.has(key)) this.#broken('commands', `a key stands twice in one message to ${peer}`)
      keys.add(key)
      if (type !== 'cancel') this.#want(peer, key, type === 'want-block' ? 'block' : 'have', stand.supportsHave)
    }
    const most = this.#queueLimits.mostWants(peer) + stand.backups
    if (stand.inFlight > most)
      this.#broken('limits', `${stand.inFlight} want-blocks are in flight at ${peer}, ${stand.backups} of them backups, and ${most} may be`)
    if (stand.lines.size > wantsPerPeerMax)
      this.#broken('limits', `${stand.lines.size} wants stand at ${peer}, which keeps ${wantsPerPeerMax}`)
  }

  #want(peer: PeerKey, key: BlockKey, type: 'block' | 'have', supportsHave: boolean): void {
    if (type === 'have' && !supportsHave) this.#broken('commands', `a want-have for ${peer}, which does not know them`)
    if (!this.#turns.isWanted(key)) this.#broken('commands', `a want for ${peer} of a block that nobody waits for`)
    const line = this.#stands.line(peer, key)
    const isUpgrade = line?.type === 'have' && type === 'block'
    if (line !== undefined && line.state !== 'answered' && !isUpgrade) {
      const rule = line.state === 'late' ? 'cancels' : 'one-at-a-peer'
      this.#broken(rule, `want-${type} for ${peer} while a want-${line.type} of the same block stands there (${line.state})`)
    }
    const others = this.#stands.copies.get(key)
    const isBackup = type === 'block' && supportsHave && others !== undefined && !(others.size === 1 && others.has(peer))
    if (isBackup) {
      const excess = this.#paid.sentBeside()
      if (excess !== undefined) {
        this.#broken('backups', `want-block for ${peer} while ${[...others].join(', ')} has its time for the same block: ${excess}`)
      }
    } else if (type === 'block') this.#paid.sentInTurn()
    const nowMs = this.#nowMs()
    const role = this.#roleOf(peer, key)
    this.#stands.add(peer, key, type, type === 'block' && role === 'backup')
    this.#queueLimits.sent(peer, key, nowMs)
    const sessions = this.#turns.wanters(key)
    this.#sessionLimits.asked(sessions, peer, key)
    const [session, another] = sessions
    // A backup takes no slot of its peer's: it is bounded by the budget. Which of two it is that leave at once no message tells.
    if (type === 'have' || role === 'backup' || session === undefined || another !== undefined) return
    const excess = this.#sessionLimits.sent(session, peer, key, nowMs)
    if (excess !== undefined) this.#broken('session-limits', excess)
    this.#turns.sent(key)
  }

  /** For each peer that was sent a want-block: neither was the core's own limit passed nor did it lose count. */
  #queues(asked: ReadonlySet<PeerKey>): void {
    if (this.#stands.peers.size > queuesAskedMax && this.#decisions % queuesAskedMax !== 0) return
    for (const { peer, inFlight, backups, limitWants } of this.#core.queues()) {
      if (!asked.has(peer)) continue
      const seen = this.#stands.peers.get(peer)?.inFlight ?? 0
      if (inFlight > limitWants) this.#broken('limits', `${inFlight} want-blocks in flight at ${peer}, whose limit is ${limitWants}`)
      const known = inFlight + backups
      if (seen > known) this.#broken('limits', `${seen} want-blocks are in flight at ${peer}, and the core knows of ${known}`)
    }
  }

  #starved(): void {
    const session = this.#turns.starved((key) => this.#stands.open.has(key))
    if (session !== undefined) this.#broken('fair-turns', `session ${session} had something to send, and was passed over for two rounds`)
  }

  #broken(rule: Rule, message: string): void {
    if (!this.#exempt.has(rule)) throw new Violation(rule, message)
  }
}
