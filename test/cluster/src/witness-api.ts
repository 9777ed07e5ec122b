/** A hand-made peer: libp2p and the codec, none of our exchange. It answers by script and counts what it sees. */
import type { AddedFile, BlocksSpec, FileSpec } from './content.ts'
import type { WantsSeen } from './want-count.ts'

/** How a witness answers. */
export interface WitnessScript {
  /** To a want-have of what it offers; `have` by default. */
  readonly toHave?: 'have' | 'dont-have' | 'nothing'
  /** To a want-block of what it offers; `block` by default. `corrupt`: the block with one bit of it flipped. */
  readonly toBlock?: 'block' | 'corrupt' | 'dont-have' | 'nothing'
  /** Milliseconds before each block, one after another; 0 by default. */
  readonly blockEveryMs?: number
  /** After so many blocks to a client it sends no more of them. */
  readonly blocksMax?: number
}

export interface WitnessCommands {
  id(): Promise<string>
  addresses(): Promise<string[]>
  connect(address: string): Promise<string>
  /** From now on it has this file, and counts the wants of its blocks under this group. */
  offerFile(group: string, spec: FileSpec): Promise<AddedFile>
  offerBlocks(group: string, spec: BlocksSpec): Promise<void>
  /** For what comes from now on, and for wants that stand. */
  script(script: WitnessScript): Promise<void>
  /** Asks a peer for blocks, and waits for none. */
  ask(peer: string, cids: readonly string[], wantType: 'block' | 'have'): Promise<void>
  /** What was seen of one client's wants: of all groups together, or of one. */
  seen(peer: string, group?: string): Promise<WantsSeen>
}
