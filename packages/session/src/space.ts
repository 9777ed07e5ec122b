import type { Candidate } from './candidate.ts'
import type { Candidates } from './candidates.ts'
import type { PeerView, SessionPorts } from './views.ts'

/** Whether one more want-block of a session fits at a peer; where it does not, the session stands in line there. */
export class Space {
  /** What the block is taken for. */
  blockBytes = 0
  readonly #ports: SessionPorts
  readonly #candidates: Candidates

  constructor(ports: SessionPorts, candidates: Candidates) {
    this.#ports = ports
    this.#candidates = candidates
  }

  readonly isAt = (candidate: Candidate): boolean => {
    if (!this.#candidates.isOpen(candidate)) return false
    if (this.#ports.hasSpace(candidate.peer, this.blockBytes)) return true
    candidate.waiting = true
    this.#ports.lineUp(candidate.peer)
    this.#candidates.refresh(candidate)
    return false
  }

  /** The same for any peer, also one that is no provider. `others`: peers that are asked with it; in line one stands for no more than one. */
  readonly isAtPeer = (peer: PeerView, others = 0): boolean => {
    const candidate = this.#candidates.get(peer.key)
    if (candidate !== undefined && others === 0) return this.isAt(candidate)
    if (candidate !== undefined && !this.#candidates.isOpen(candidate)) return false
    if (this.#ports.hasSpace(peer, this.blockBytes, others * this.blockBytes)) return true
    if (others === 0) this.#ports.lineUp(peer)
    return false
  }
}
