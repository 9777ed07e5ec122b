import type { Random } from '@shardswap/interface'
import type { Candidate } from './candidate.ts'
import type { Candidates } from './candidates.ts'
import type { BlockView, PeerView, Stance } from './views.ts'

/** Draws for the two of whom the less loaded one is asked. */
const drawsMax = 12

/**
 * Who is to be asked beside the peer that has the want already (C5, P5): one that said HAVE, or two drawn by their
 * weights, and of two the one that would deliver sooner ("the power of two choices"). No share is promised to
 * backups, so load may decide here. `isFit`: whether a peer is good enough and has space, and is no party to the want.
 */
export function chooseBackup(
  candidates: Candidates,
  block: BlockView,
  blockBytes: number,
  isFit: (peer: PeerView) => boolean,
  random: Random
): PeerView | undefined {
  const found: PeerView[] = []
  const consider = (candidate: Candidate | undefined): void => {
    if (candidate === undefined || found.includes(candidate.peer) || !candidates.isOpen(candidate)) return
    if (isFit(candidate.peer)) found.push(candidate.peer)
  }
  // Whoever said HAVE first must not be the backup of all.
  const promised = Array.from(block.stances.values()).filter(({ phase }) => phase === 'have')
  for (let draws = 0; draws < drawsMax && found.length < 2; draws++) {
    const at = draws + Math.floor(random.next() * (promised.length - draws))
    const stance = promised[at]
    if (stance === undefined) break
    promised[at] = promised[draws] as Stance
    consider(candidates.get(stance.peer.key))
  }
  if (found.length === 0) {
    for (let draws = 0; draws < drawsMax && found.length < 2; draws++) {
      const candidate = candidates.sample(random.next())
      if (candidate === undefined) break
      consider(candidate)
    }
  }
  const [one, other] = found
  if (one === undefined || other === undefined) return one
  return loadMs(other, blockBytes) < loadMs(one, blockBytes) ? other : one
}

/** When a peer would have delivered one more block, in milliseconds from now; what is not known of it counts for nothing. */
function loadMs({ latencyMs, inFlightBytes, bytesPerMs }: PeerView, blockBytes: number): number {
  const queuedMs = bytesPerMs === undefined || bytesPerMs === 0 ? 0 : (inFlightBytes + blockBytes) / bytesPerMs
  return (latencyMs ?? 0) + queuedMs
}
