import { decodeMessage, type DecodedMessage } from '@shardswap/protocol'
import { reference } from '../../../packages/protocol/test/reference.ts'
import { askBoxo, difference, type BoxoAnswer } from './boxo.ts'
import { mutant } from './mutate.ts'
import { Random } from './random.ts'

/** A message and what boxo made of it. */
export interface Recorded {
  readonly hex: string
  readonly answer: BoxoAnswer
}

export interface CompareOptions {
  readonly binary: string
  readonly seed: number
  readonly runs: number
  readonly corpus: readonly Uint8Array[]
  readonly onProgress?: (done: number, seed: number) => void
}

const batchRuns = 10_000
const recordedBytesMax = 400

/** What we read, or undefined where we refuse it. */
export function read(bytes: Uint8Array): DecodedMessage | undefined {
  try {
    return decodeMessage(bytes)
  } catch {
    // Of what kind the error is, the fuzz itself sees to.
    return undefined
  }
}

/** Asks boxo and us of the mutants of `seed`, `seed + 1`, …; the first that we differ on ends it. */
export function compare({
  binary,
  seed,
  runs,
  corpus,
  onProgress
}: CompareOptions): { seed: number; input: Uint8Array; how: string } | undefined {
  for (let done = 0; done < runs; done += batchRuns) {
    onProgress?.(done, seed + done)
    const inputs = Array.from({ length: Math.min(batchRuns, runs - done) }, (_, i) => mutant(new Random((seed + done + i) >>> 0), corpus))
    for (const [i, answer] of askBoxo(binary, inputs).entries()) {
      const input = inputs[i] as Uint8Array
      const how = difference(read(input), answer)
      if (how !== undefined) return { seed: (seed + done + i) >>> 0, input, how }
    }
  }
  return undefined
}

/** Boxo's answers to keep for where there is no Go: short mutants of each kind, above all those that the oracle cannot judge. */
export function record(binary: string, seed: number, corpus: readonly Uint8Array[]): Recorded[] {
  const left = { unknown: 100, taken: 60, refused: 40 }
  const inputs: Uint8Array[] = []
  for (let own = seed; left.unknown + left.taken + left.refused > 0; own++) {
    const input = mutant(new Random(own >>> 0), corpus)
    const judged = reference(input)
    const kind = typeof judged === 'string' ? judged : 'taken'
    if (input.byteLength > recordedBytesMax || left[kind] === 0) continue
    left[kind]--
    inputs.push(input)
  }
  const answers = askBoxo(binary, inputs)
  return inputs.map((input, i) => ({ hex: Buffer.from(input).toString('hex'), answer: answers[i] as BoxoAnswer }))
}
