/** What a process of hostile peers is told to do. Everything travels over IPC. */
import type { BlocksSpec } from '../content.ts'

/**
 * What a hostile peer sends, again and again.
 * - `lacking`: want-blocks and want-haves of blocks that exist nowhere, other ones each time, with DONT_HAVE asked for.
 * - `present`: one full list of want-blocks that are there.
 * - `cancels`: want-blocks that are there, and at once their cancels.
 * - `abreast`: as `lacking`, on many long-lived streams at once, each message on every one of them.
 * - `streams`: want-blocks that are there, each on a stream of its own.
 */
export type Ask = 'lacking' | 'abreast' | 'present' | 'cancels' | 'streams'

export interface AttackInit {
  readonly address: string
  readonly ask: Ask
  /** Entries of one message; for `streams`, of streams opened at once. */
  readonly wantsPerMessage: number
  /** Streams of `abreast`. */
  readonly streams: number
  /** Wait between two messages of one identity, in milliseconds; 0: as fast as the server reads. */
  readonly everyMs: number
  /** Told to finish, the attack goes on until it has sent so many wants and all identities had their turn … */
  readonly wantsMin: number
  /** … but for so long and no longer, from its start; whoever forgets to finish it, ends it so. */
  readonly secondsMax: number
  /** Identities in all … */
  readonly identities: number
  /** … and how many of them are connected at a time; each next one comes when one has gone. */
  readonly identitiesAtOnce: number
  /** How long one of them stays while others wait, in milliseconds. */
  readonly stayMs: number
  /** Nothing that it is sent is read. */
  readonly isDeaf: boolean
  /** What `present`, `cancels` and `streams` ask for. */
  readonly blocks: BlocksSpec
}

/** What an attack came to. */
export interface AttackDone {
  readonly wants: number
  readonly messages: number
  readonly identities: number
  /** Identities that were turned away at the door; they come again. */
  readonly refusals: number
  /** Streams or connections that the server ended. */
  readonly resets: number
  readonly receivedBytes: number
  readonly seconds: number
}

export interface AttackCommands {
  /** Begins, and resolves once half of those who are to be connected at a time have asked for something. */
  start(init: AttackInit): Promise<void>
  /** Resolves once the attack has sent what it must, and all hostile peers have left. */
  finish(): Promise<AttackDone>
}
