import { checkFraming, checkMessage, type Outcome } from './check.ts'
import { mutant } from './mutate.ts'
import { Random } from './random.ts'

interface Failure {
  /** Alone it gives this input again. */
  readonly seed: number
  readonly input: Uint8Array
  readonly error: unknown
}

export interface Report {
  readonly runs: number
  readonly outcomes: Record<Outcome, number>
  readonly failure: Failure | undefined
}

export interface RunOptions {
  readonly seed: number
  readonly runs: number
  readonly corpus: readonly Uint8Array[]
  /** Called now and then with the number of runs done and the seed of the next one. */
  readonly onProgress?: (done: number, seed: number) => void
}

const progressRuns = 10_000

/** Runs with the seeds `seed`, `seed + 1`, … until one fails. */
export function fuzz({ seed, runs, corpus, onProgress }: RunOptions): Report {
  const outcomes = { taken: 0, refused: 0, unknown: 0 }
  for (let i = 0; i < runs; i++) {
    const own = (seed + i) >>> 0
    if (i % progressRuns === 0) onProgress?.(i, own)
    const random = new Random(own)
    const input = mutant(random, corpus)
    try {
      outcomes[checkMessage(input)]++
      checkFraming(input, random)
    } catch (error) {
      return { runs: i + 1, outcomes, failure: { seed: own, input, error } }
    }
  }
  return { runs, outcomes, failure: undefined }
}

/** The command that gives one failing input again. */
export function replayCommand(seed: number): string {
  return `npx -y pnpm@10 fuzz --seed ${seed} --runs 1`
}
