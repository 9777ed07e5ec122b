/** What backups are paid from, as a policy promises it: so many for each want-block in its turn, and so many besides. */
export interface BackupBudget {
  readonly share: number
  readonly besides: number
}

/** Of a policy that asks nobody beside another. */
export const noBackups: BackupBudget = { share: 0, besides: 0 }

/** Invariant 5, counted from messages alone: a want-block is a backup where another peer is within its deadline for the same block. */
export class PaidBackups {
  readonly #budget: BackupBudget
  #inTurn = 0
  #beside = 0

  constructor(budget: BackupBudget) {
    this.#budget = budget
  }

  sentInTurn(): void {
    this.#inTurn += 1
  }

  /** Returns what is wrong with it, if anything. */
  sentBeside(): string | undefined {
    this.#beside += 1
    const { share, besides } = this.#budget
    if (this.#beside <= share * this.#inTurn + besides) return undefined
    return `backup ${this.#beside} after ${this.#inTurn} want-blocks in turn, each of which pays for ${share}, and ${besides} besides`
  }
}
