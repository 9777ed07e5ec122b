import type { Candidate } from './candidate.ts'
import type { Candidates } from './candidates.ts'
import type { Wants } from './wants.ts'

/** Whose turn it is among the wants that wait in line at peers for space. */
export class Turns {
  readonly #candidates: Candidates
  readonly #wants: Wants
  /** Peers where a want had its turn, with more behind it. */
  readonly #opened = new Set<Candidate>()

  constructor(candidates: Candidates, wants: Wants) {
    this.#candidates = candidates
    this.#wants = wants
  }

  /** The first want in line at a peer has its turn again; once it is sent, the next one. */
  next(candidate: Candidate): void {
    for (const want of candidate.blocked) {
      this.#wants.setReady(want)
      if (candidate.blocked.size > 0) this.#opened.add(candidate)
      return
    }
  }

  /** Wants that had their turn may have gone elsewhere: where there is space still, the next in line have theirs. Returns whether any has. */
  goOn(): boolean {
    if (this.#opened.size === 0) return false
    const opened = Array.from(this.#opened)
    this.#opened.clear()
    let isAny = false
    for (const candidate of opened) {
      if (!this.#candidates.isOpen(candidate) || this.#candidates.isHeld(candidate) || candidate.blocked.size === 0) continue
      this.next(candidate)
      isAny = true
    }
    return isAny
  }

  /** Peers that were held back for being slow may be asked again. */
  release(): void {
    for (const candidate of this.#candidates.release()) this.next(candidate)
  }

  /** The peer left: all in line there are ready. */
  end(candidate: Candidate): void {
    this.#opened.delete(candidate)
    for (const want of Array.from(candidate.blocked)) this.#wants.setReady(want)
  }
}
