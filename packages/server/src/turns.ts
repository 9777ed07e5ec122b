import type { Ledger } from './ledger.ts'

/**
 * Whose turn it is. Rules, by number where the code applies them:
 * 1. A turn is worth `turnBytes`. Who took more owes the rest, and sits out a round for each `turnBytes` of it: so peers get
 *    the same number of bytes, whether they ask for large blocks or small ones, and in large messages or small ones.
 * 2. Who took less goes on, as long as it has something to be read.
 * 3. Whoever was given nothing for `newcomerAfterMs`, or never, is a newcomer, owes nothing, and stands in a line of its own.
 *    Both lines have every second turn: a newcomer waits for other newcomers only, and any number of those leaves half of the
 *    turns to the others. Strangers count theirs apart (gate.ts): where they have little room beside somebody who is no
 *    stranger, each of his turns would else be one of the others', and all that strangers get would go to newcomers.
 * 4. Who waits for room keeps its place, and nobody's debt is paid meanwhile.
 */
export class Turns {
  readonly #turnBytes: number
  readonly #newcomerAfterMs: number
  readonly #newcomers = new Set<Ledger>()
  readonly #others = new Set<Ledger>()
  readonly #isStranger: (ledger: Ledger) => boolean
  /** (3) Of those who are no strangers, and of strangers. */
  readonly #newcomersHadTurn = { known: false, strangers: false }
  #roundsSatOut = 0

  constructor(
    { turnBytes, newcomerAfterMs }: { readonly turnBytes: number; readonly newcomerAfterMs: number },
    isStranger: (ledger: Ledger) => boolean
  ) {
    this.#isStranger = isStranger
    this.#turnBytes = turnBytes
    this.#newcomerAfterMs = newcomerAfterMs
  }

  /** How many stand in line. */
  get size(): number {
    return this.#newcomers.size + this.#others.size
  }

  /** Who stands in line, in turn; again from the beginning, as long as rounds were sat out. The line may change meanwhile. */
  *order(): Generator<Ledger> {
    for (let paid = -1; paid !== this.#roundsSatOut;) {
      paid = this.#roundsSatOut
      // (3)
      const { known, strangers } = this.#newcomersHadTurn
      const comesLast = (ledger: Ledger): boolean => (known === strangers ? known : this.#isStranger(ledger) ? strangers : known)
      for (const ledger of onceRound(this.#newcomers)) if (!comesLast(ledger)) yield ledger
      yield* onceRound(this.#others)
      for (const ledger of onceRound(this.#newcomers)) if (comesLast(ledger)) yield ledger
    }
  }

  /** Puts a peer into the line, unless it stands there. */
  add(ledger: Ledger, nowMs: number): void {
    if (this.#newcomers.has(ledger) || this.#others.has(ledger)) return
    const { takenMs } = ledger.turn
    const isNewcomer = takenMs === undefined || nowMs - takenMs >= this.#newcomerAfterMs
    // (3)
    if (isNewcomer) ledger.turn.creditBytes = this.#turnBytes
    ;(isNewcomer ? this.#newcomers : this.#others).add(ledger)
  }

  delete(ledger: Ledger): void {
    if (!this.#newcomers.delete(ledger)) this.#others.delete(ledger)
  }

  /** (1) A peer's turn begins, or goes on. Returns whether it sits out, since it took more than its part; it is at the end of the line then. */
  sitsOut(ledger: Ledger): boolean {
    if (ledger.turn.creditBytes > 0) return false
    ledger.turn.creditBytes += this.#turnBytes
    if (ledger.turn.creditBytes > 0) return false
    this.#roundsSatOut++
    this.#toEnd(ledger)
    return true
  }

  /** The peer, which stands in line, was given so many bytes. */
  took(ledger: Ledger, bytes: number, nowMs: number): void {
    this.#newcomersHadTurn[this.#isStranger(ledger) ? 'strangers' : 'known'] = this.#newcomers.has(ledger)
    ledger.turn.takenMs = nowMs
    ledger.turn.creditBytes -= bytes
    // (2) Else its turn is over.
    if (ledger.turn.creditBytes <= 0) this.#toEnd(ledger)
  }

  #toEnd(ledger: Ledger): void {
    this.delete(ledger)
    this.#others.add(ledger)
  }
}

/** Without those who go to the end meanwhile. */
function* onceRound(line: ReadonlySet<Ledger>): Generator<Ledger> {
  let left = line.size
  for (const ledger of line) {
    if (left-- === 0) return
    yield ledger
  }
}
