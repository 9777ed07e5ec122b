import { MalformedError } from '@shardswap/interface'
import type { BlockKey, PeerKey } from '@shardswap/interface'
import { ByteReader, ByteWriter, varintBytesMax } from './bytes.ts'
import { isPeerText } from './peer-text.ts'
import type { Outcome, Role } from './types.ts'

/** What a receipt says of one turn; `open` where the want was closed before its turn was settled. */
export type TurnOutcome = Outcome | 'open'

/** One want-block that was sent for a want. */
export interface ReceiptTurn {
  readonly peer: PeerKey
  readonly role: Role
  readonly outcome: TurnOutcome
  /** Its place among the successes of its want, from 1, those from the seventh on alike; 0 where it did not succeed. */
  readonly rank: number
}

/** Three bits of a receipt hold a rank. */
export const rankMax = 7

/** What a want came to: enough for anybody to work out who is to be credited, and to sum a period. */
export interface Receipt {
  /** The want's block, by its multihash. */
  readonly key: BlockKey
  /** When it was closed, in milliseconds since 1970; by the node's wall clock as it started, which never jumps after. */
  readonly closedMs: number
  /** Only failures so far: the same want has a further receipt. */
  readonly isContinued: boolean
  /** In the order in which they were sent. */
  readonly turns: readonly ReceiptTurn[]
  /** The turn that has the credit. */
  readonly credited: number | undefined
}

/** Some receipts of one period, as bytes that stand by themselves. */
export interface Segment {
  readonly period: string
  /** How many are in it. */
  readonly receipts: number
  readonly bytes: Uint8Array
}

/**
 * Who has the credit for a want (P6, P9, P10): the first primary that succeeded within its deadline, whoever was
 * quicker; else the first backup that did; else nobody. Returns the turn's place in `turns`.
 */
export function creditedTurn(turns: readonly ReceiptTurn[]): number | undefined {
  let best: number | undefined
  for (let at = 0; at < turns.length; at++) {
    const turn = turns[at] as ReceiptTurn
    if (turn.rank === 0) continue
    const other = best === undefined ? undefined : (turns[best] as ReceiptTurn)
    if (other === undefined || precedes(turn, other)) best = at
  }
  return best
}

function precedes(turn: ReceiptTurn, other: ReceiptTurn): boolean {
  return turn.role === other.role ? turn.rank < other.rank : turn.role === 'primary'
}

/** Whether a peer has a turn in a receipt: it is its own then, which it may see. */
export function hasTurn({ turns }: Pick<Receipt, 'turns'>, peer: PeerKey): boolean {
  return turns.some((turn) => turn.peer === peer)
}

/** All that a turn may say. Their numbers stand in stored segments: an outcome keeps its place for ever. */
export const turnOutcomes: readonly TurnOutcome[] = [
  'open',
  'success',
  'timeout',
  'silence',
  'reset',
  'broken-have',
  'late',
  'denied',
  'withdrawn',
  'refused'
]
const outcomeCodes = new Map(turnOutcomes.map((outcome, code) => [outcome, code]))

const segmentVersion = 1
/** First byte of an entry: a peer's name, or a receipt with flags. */
const peerEntry = 0
const receiptEntry = 1
const continuedFlag = 2
/** Last byte of a turn: its outcome in four bits, whether it was a backup, its rank in three. */
const backupFlag = 16
const rankShift = 5
/** What each turn takes beside a peer's name that is new. */
const turnBytesMax = 2 * varintBytesMax + 2

/** Writes receipts of one period one behind another. A peer's name is written once, then stands as a number. */
export class SegmentWriter {
  readonly period: string
  receipts = 0
  readonly #writer: ByteWriter
  readonly #peers = new Map<PeerKey, number>()
  #lastMs: number

  /** `writer` is overwritten: one serves for many segments, one after another. */
  constructor(period: string, startMs: number, writer: ByteWriter) {
    this.period = period
    this.#writer = writer
    writer.clear()
    this.#lastMs = startMs
    this.#writer.reserve(period.length + 3 * varintBytesMax)
    this.#writer.byte(segmentVersion)
    this.#writer.text(period)
    // Before 1970 too: a wall clock may say anything.
    this.#writer.byte(startMs < 0 ? 1 : 0)
    this.#writer.varint(Math.abs(startMs))
  }

  get bytes(): number {
    return this.#writer.length
  }

  /** Adds one; false where it does not fit any more. One that fits nowhere still goes into an empty segment. */
  add(receipt: Receipt): boolean {
    const { key, turns } = receipt
    let need = key.length + 4 * varintBytesMax
    for (const turn of turns) need += turn.peer.length + turnBytesMax
    if (this.receipts > 0 && !this.#writer.fits(need)) return false
    this.#writer.reserve(need)
    this.#write(receipt, turns.map(this.#numberOf))
    this.receipts += 1
    return true
  }

  /** What is there so far; later additions leave it as it is. */
  segment(): Segment {
    return { period: this.period, receipts: this.receipts, bytes: this.#writer.written() }
  }

  /** The number that a peer stands as; with its first one its name is written. */
  readonly #numberOf = ({ peer }: ReceiptTurn): number => {
    const there = this.#peers.get(peer)
    if (there !== undefined) return there
    const number = this.#peers.size
    this.#peers.set(peer, number)
    this.#writer.byte(peerEntry)
    this.#writer.text(peer)
    return number
  }

  #write({ key, closedMs, isContinued, turns, credited }: Receipt, peers: readonly number[]): void {
    const writer = this.#writer
    writer.byte(receiptEntry + (isContinued ? continuedFlag : 0))
    const closed = Math.max(this.#lastMs, Math.floor(closedMs))
    writer.varint(closed - this.#lastMs)
    this.#lastMs = closed
    writer.text(key)
    writer.varint(credited === undefined ? 0 : credited + 1)
    writer.varint(turns.length)
    for (let at = 0; at < turns.length; at++) {
      const { role, outcome, rank } = turns[at] as ReceiptTurn
      writer.varint(peers[at] as number)
      const code = outcomeCodes.get(outcome) as number
      writer.byte(code + (role === 'backup' ? backupFlag : 0) + (rank << rankShift))
    }
  }
}

/** What stands in a segment. */
export interface SegmentContent {
  readonly period: string
  /** When the period began, in milliseconds since 1970. */
  readonly startMs: number
  /** Oldest first. */
  readonly receipts: readonly Receipt[]
}

/** What a Date takes, in milliseconds from 1970 either way. */
const dateMsMax = 8.64e15

/** Reads a segment. Throws MalformedError where its bytes are none, or say what no account ever says. */
export function readSegment(bytes: Uint8Array): SegmentContent {
  const reader = new ByteReader(bytes)
  const version = reader.byte()
  if (version !== segmentVersion) throw new MalformedError(`receipts of version ${version}, of which nothing is known here`)
  const period = reader.text()
  const sign = reader.byte() === 1 ? -1 : 1
  const startMs = dateMs(sign * reader.varint())
  let lastMs = startMs
  const peers: PeerKey[] = []
  const receipts: Receipt[] = []
  while (!reader.isAtEnd) {
    const kind = reader.byte()
    if (kind === peerEntry) {
      const peer = reader.text()
      if (!isPeerText(peer)) throw new MalformedError('a peer’s name that is no PeerId’s')
      peers.push(peer)
      continue
    }
    if (kind !== receiptEntry && kind !== receiptEntry + continuedFlag) throw new MalformedError(`an entry of kind ${kind} among receipts`)
    lastMs = dateMs(lastMs + reader.varint())
    const key = reader.text() as BlockKey
    const creditedAt = reader.varint()
    const turns: ReceiptTurn[] = []
    const count = reader.varint()
    for (let at = 0; at < count; at++) turns.push(readTurn(reader, peers))
    const credited = creditedAt === 0 ? undefined : creditedAt - 1
    if (credited !== creditedTurn(turns)) throw new MalformedError('a receipt gives the credit to another turn than its turns do')
    receipts.push({ key, closedMs: lastMs, isContinued: kind !== receiptEntry, turns, credited })
  }
  return { period, startMs, receipts }
}

function readTurn(reader: ByteReader, peers: readonly PeerKey[]): ReceiptTurn {
  const peer = peers[reader.varint()]
  const code = reader.byte()
  const outcome = turnOutcomes[code & (backupFlag - 1)]
  if (peer === undefined || outcome === undefined) throw new MalformedError('a turn of a peer or an outcome that nobody knows')
  const rank = code >> rankShift
  if (rank > 0 !== (outcome === 'success'))
    throw new MalformedError('a turn with a place among the successes that is none, or without one that is')
  return { peer, role: (code & backupFlag) === 0 ? 'primary' : 'backup', outcome, rank }
}

function dateMs(ms: number): number {
  if (Math.abs(ms) > dateMsMax) throw new MalformedError(`${ms} ms since 1970 are no date`)
  return ms
}
