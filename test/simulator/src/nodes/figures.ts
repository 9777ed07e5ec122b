import type { PeerKey } from '@shardswap/interface'
import type { Judge } from '../checkers/judge.ts'

/** What one peer did for a fetching node. */
export interface PeerTally {
  blocks: number
  bytes: number
  wantBlocks: number
  timeouts: number
}

/** What a fetching node did, counted outside its core. */
export class FetchFigures {
  wantBlocks = 0
  wantHaves = 0
  cancels = 0
  /** Messages sent and received by the node, answers to others' wants among them. */
  messagesOut = 0
  messagesIn = 0
  /** Every block that came in, wanted or not. */
  blocksIn = 0
  /** Wanted ones. */
  blocks = 0
  bytes = 0
  /** Copies of what had come, bar those of a session's first CID. */
  duplicateBlocks = 0
  duplicateBytes = 0
  /** Copies of a session's first CID: all are asked, and who has a small one sends it. */
  firstCopies = 0
  unaskedBlocks = 0
  timeouts = 0
  giveUps = 0
  searches = 0
  decisions = 0
  /** Of this machine's time; no part of what is hashed. */
  decisionMicros = 0
  /** From the caller's request to the block, one for each. */
  readonly latenciesMs: number[] = []
  readonly peers = new Map<PeerKey, PeerTally>()
  /** Every want-block sent: when, and to whom. */
  readonly asked: { readonly atMs: number; readonly peer: PeerKey }[] = []
  /** What its reliability layer did; undefined where it has none. */
  readonly judge: Judge | undefined

  constructor(judge: Judge | undefined) {
    this.judge = judge
  }

  peer(peer: PeerKey): PeerTally {
    let tally = this.peers.get(peer)
    if (tally === undefined) {
      tally = { blocks: 0, bytes: 0, wantBlocks: 0, timeouts: 0 }
      this.peers.set(peer, tally)
    }
    return tally
  }
}
