import { defaultLimits } from '@shardswap/peer'
import { type BlockKey, type PeerKey, wantsPerPeerMax } from '@shardswap/interface'

/** Want-blocks that may be in flight at a peer of which nothing is known (B15). */
const start = 128

interface Sent {
  readonly atMs: number
  /** What the peer had delivered a hold before that. */
  readonly before: number
}

/** What was seen of one peer, always so that no core could have seen more of it. */
interface Seen {
  readonly sent: Map<BlockKey, Sent>
  /** What it had delivered after each block of the last few milliseconds, and before those. */
  readonly delivered: { readonly atMs: number; readonly bytes: number }[]
  bytes: number
  /** Of blocks that came while their want-block was open. */
  sureBytes: number
  /** The greatest rate over the time of a block, and the longest that an answer took. */
  bytesPerMs: number
  latencyMs: number
  /** The average of blocks, as small as it may be. */
  averageBytes: number
  hasAverage: boolean
}

/**
 * B15, worked out a second time from messages: how many want-blocks may be in flight at a peer over all sessions. It
 * is a bound and no copy of the core's own sum: of the rate it takes the greatest that was ever seen, of latencies
 * the longest, queue and all. A line may wait in its message for the hold, so what a core took for the time of asking
 * lies as much before the message.
 */
export class QueueLimits {
  readonly #peers = new Map<PeerKey, Seen>()

  sent(peer: PeerKey, key: BlockKey, nowMs: number): void {
    const seen = this.#of(peer)
    seen.sent.set(key, { atMs: nowMs, before: deliveredBefore(seen, nowMs) })
  }

  /** The peer said whether it has what it was asked for. */
  answered(peer: PeerKey, key: BlockKey, nowMs: number): void {
    const seen = this.#of(peer)
    const sent = seen.sent.get(key)
    if (sent !== undefined) seen.latencyMs = Math.max(seen.latencyMs, nowMs - sent.atMs)
  }

  /** A block came that was asked for; `isOpen`: while its want-block was open there, `isWanted`: the first copy. */
  delivered(
    peer: PeerKey,
    key: BlockKey,
    bytes: number,
    { isOpen, isWanted }: { isOpen: boolean; isWanted: boolean },
    nowMs: number
  ): void {
    const seen = this.#of(peer)
    seen.bytes += bytes
    if (isOpen) seen.sureBytes += bytes
    deliveredBefore(seen, nowMs)
    seen.delivered.push({ atMs: nowMs, bytes: seen.bytes })
    const sent = seen.sent.get(key)
    if (sent !== undefined) {
      seen.sent.delete(key)
      seen.latencyMs = Math.max(seen.latencyMs, nowMs - sent.atMs)
      seen.bytesPerMs = Math.max(seen.bytesPerMs, (seen.bytes - sent.before) / Math.max(1, nowMs - sent.atMs))
    }
    const moved = Number.isFinite(seen.averageBytes) ? seen.averageBytes + (bytes - seen.averageBytes) / 8 : bytes
    // Not every later copy counts for the core: the smaller of both is no more than what it has.
    seen.averageBytes = isWanted && seen.hasAverage ? moved : Math.min(moved, seen.averageBytes)
    if (isWanted) seen.hasAverage = true
  }

  disconnected(peer: PeerKey): void {
    this.#peers.get(peer)?.sent.clear()
  }

  /** Want-blocks in turn that may be in flight there, at most. */
  mostWants(peer: PeerKey): number {
    const seen = this.#peers.get(peer)
    if (seen === undefined || !seen.hasAverage || seen.bytesPerMs === 0) return start
    const { windowMinBytes, windowStartBytes, windowStartAloneBytes, windowNearMaxBytes, windowMaxBytes, windowSlackMs, holdMs } =
      defaultLimits
    const byRate = seen.bytesPerMs * (2 * (seen.latencyMs + holdMs) + windowSlackMs)
    const first = Math.max(windowStartBytes, windowStartAloneBytes) + 2 * seen.bytes
    const window = Math.min(windowMaxBytes, Math.max(byRate, seen.sureBytes < windowNearMaxBytes ? first : 0))
    return Math.min(wantsPerPeerMax, Math.max(start, Math.floor(Math.max(windowMinBytes, window) / seen.averageBytes)))
  }

  #of(peer: PeerKey): Seen {
    let seen = this.#peers.get(peer)
    if (seen === undefined) {
      seen = {
        sent: new Map(),
        delivered: [],
        bytes: 0,
        sureBytes: 0,
        bytesPerMs: 0,
        latencyMs: 0,
        averageBytes: Number.POSITIVE_INFINITY,
        hasAverage: false
      }
      this.#peers.set(peer, seen)
    }
    return seen
  }
}

/** What had been delivered a hold ago; what was before that is forgotten. */
function deliveredBefore({ delivered }: Seen, nowMs: number): number {
  const holdAgoMs = nowMs - defaultLimits.holdMs
  while (delivered.length > 1 && (delivered[1]?.atMs ?? nowMs) < holdAgoMs) delivered.shift()
  const [first] = delivered
  return first !== undefined && first.atMs < holdAgoMs ? first.bytes : 0
}
