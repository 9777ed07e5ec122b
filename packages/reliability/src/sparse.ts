/** Pairs of index and count of the counts that are not 0, one behind another. */
export function sparse(counts: Uint16Array | Uint32Array): number[] {
  const pairs: number[] = []
  for (let index = 0; index < counts.length; index++) {
    const count = counts[index] as number
    if (count !== 0) pairs.push(index, count)
  }
  return pairs
}

/**
 * Puts pairs back into empty counts. Returns whether they could stand there: whole numbers, indices in order and within
 * the counts, each count from 1 to `countMax`.
 */
export function unpack(pairs: readonly number[], counts: Uint16Array | Uint32Array, countMax: number): boolean {
  let last = -1
  for (let at = 0; at < pairs.length; at += 2) {
    const index = pairs[at] as number
    const count = pairs[at + 1]
    if (!Number.isInteger(index) || index <= last || index >= counts.length) return false
    if (count === undefined || !Number.isInteger(count) || count < 1 || count > countMax) return false
    counts[index] = count
    last = index
  }
  return true
}
