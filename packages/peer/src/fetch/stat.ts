import type { Figures, QueueFigures } from '@shardswap/broker'
import type { FetchStat, PeerFetchStat } from '../types.ts'

/** The core's figures as the public interface shows them. */
export function fetchStat(figures: Figures): FetchStat {
  return { wantsSent: figures.wantBlocksSent + figures.wantHavesSent, ...figures }
}

/** How one peer's queue stands, for the public interface. */
export function peerFetchStat(queue: QueueFigures, score: number): PeerFetchStat {
  const { peer, connected: _, figures, latencyMs, bytesPerS, ...depth } = queue
  return {
    peer,
    score,
    ...fetchStat(figures),
    ...depth,
    ...(latencyMs === undefined ? {} : { latencyMs }),
    ...(bytesPerS === undefined ? {} : { bytesPerS })
  }
}
