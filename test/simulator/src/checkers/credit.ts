import type { Outcome, Role, Turn } from '@shardswap/reliability'
import type { BlockKey, PeerKey } from '@shardswap/interface'

/** What one peer has to its account. */
export interface Credits {
  attempted: number
  successful: number
  rewardable: number
}

interface OpenTurn {
  readonly turn: Turn
  outcome: Outcome | undefined
}

interface OpenWant {
  readonly turns: OpenTurn[]
  hasEnded: boolean
}

/** Who has the credit for each want (P9), worked out a second time from what the layer is told. */
export class Referee {
  readonly credits = new Map<PeerKey, Credits>()
  readonly #wants = new Map<BlockKey, OpenWant>()

  get open(): number {
    return this.#wants.size
  }

  asked(turn: Turn): void {
    let want = this.#wants.get(turn.key)
    if (want === undefined) {
      want = { turns: [], hasEnded: false }
      this.#wants.set(turn.key, want)
    }
    want.hasEnded = false
    want.turns.push({ turn, outcome: undefined })
    this.#of(turn.peer).attempted += 1
  }

  /** In what part a peer is asked, or was last, for a block that is not accounted for yet. */
  roleOf(peer: PeerKey, key: BlockKey): Role | undefined {
    return this.#wants.get(key)?.turns.findLast(({ turn }) => turn.peer === peer)?.turn.role
  }

  /** Returns whether the turn was open, as it must be for all but what is late. */
  settled({ key, peer }: Turn, outcome: Outcome): boolean {
    const want = this.#wants.get(key)
    const open = want?.turns.find(({ turn, outcome: before }) => turn.peer === peer && before === undefined)
    if (want === undefined || open === undefined) return outcome === 'late'
    open.outcome = outcome
    if (outcome === 'success') this.#of(peer).successful += 1
    if (want.hasEnded) this.#close(key, want)
    return true
  }

  /** Returns who was asked for it. */
  ended(key: BlockKey): readonly PeerKey[] {
    const want = this.#wants.get(key)
    if (want === undefined) return []
    want.hasEnded = true
    this.#close(key, want)
    return want.turns.map(({ turn }) => turn.peer)
  }

  /** Once nobody waits and every turn is settled: a primary that was in time has it, else a backup that was, else nobody. */
  #close(key: BlockKey, { turns }: OpenWant): void {
    if (turns.some(({ outcome }) => outcome === undefined)) return
    this.#wants.delete(key)
    const inTime = turns.filter(({ outcome }) => outcome === 'success')
    const credited = inTime.find(({ turn }) => turn.role === 'primary') ?? inTime[0]
    if (credited !== undefined) this.#of(credited.turn.peer).rewardable += 1
  }

  #of(peer: PeerKey): Credits {
    let credits = this.credits.get(peer)
    if (credits === undefined) {
      credits = { attempted: 0, successful: 0, rewardable: 0 }
      this.credits.set(peer, credits)
    }
    return credits
  }
}
