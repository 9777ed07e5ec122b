import type { Fetching } from './nodes/fetching.ts'
import type { SimulatedBlock } from './engine/block.ts'

/** In which order and how many at a time blocks are asked for. */
export type Pattern =
  /** Batches of these sizes, one after the other; the last size repeats. */
  | { readonly kind: 'batches'; readonly sizes: readonly number[] }
  /** As a reader: as many ahead as these bytes hold of what was not read yet. It reads in order, or whatever arrives. */
  | { readonly kind: 'window'; readonly bytes: number; readonly order?: 'arrival' }
  /** As a reader of a file: the nodes of each level above the leaves, level by level, then the leaves as with a window. */
  | { readonly kind: 'file'; readonly levels: readonly number[]; readonly bytes: number }

export const oneAtATime: Pattern = { kind: 'batches', sizes: [1] }
export const batchBy10: Pattern = { kind: 'batches', sizes: [10] }
/** One call for many, and many calls of one at the same time, are the same for a session. */
export const bigBatch: Pattern = { kind: 'batches', sizes: [Infinity] }
/** The root, the first of its children, and the rest. */
export const unixfsFetch: Pattern = { kind: 'batches', sizes: [1, 10, Infinity] }
/** As `unixfsFetch` for the first hundred; then five groups of ten at a time. */
export const unixfsFetchLarge: Pattern = { kind: 'batches', sizes: [1, 10, 89, 50] }

/** Fetches blocks in a session that is open. `done` is told once, with how many could not be had. Returns what gives the rest up. */
export function runPattern(
  pattern: Pattern,
  fetching: Fetching,
  session: number,
  blocks: readonly SimulatedBlock[],
  done: (failed: number) => void
): () => void {
  if (pattern.kind === 'window') return readAhead(pattern, fetching, session, blocks, done)
  if (pattern.kind === 'file') return readFile(pattern, fetching, session, blocks, done)
  const { sizes } = pattern
  const giveUps = new Set<() => void>()
  let step = 0
  let next = 0
  let failed = 0
  let left = 0
  const askMore = (): void => {
    const size = sizes[Math.min(step++, sizes.length - 1)] ?? 1
    const batch = blocks.slice(next, next + size)
    next += batch.length
    left = batch.length
    for (const block of batch) {
      const giveUp = fetching.get(session, block, (ok) => {
        giveUps.delete(giveUp)
        if (!ok) failed += 1
        if (--left > 0) return
        if (next < blocks.length) askMore()
        else done(failed)
      })
      giveUps.add(giveUp)
    }
  }
  if (blocks.length === 0) done(0)
  else askMore()
  return () => {
    failed += blocks.length - next
    next = blocks.length
    for (const giveUp of giveUps) giveUp()
  }
}

/** Read in order, what was fetched counts to the window until all before it was, as it waits for its reader. */
function readAhead(
  { bytes: windowBytes, order }: Pattern & { kind: 'window' },
  fetching: Fetching,
  session: number,
  blocks: readonly SimulatedBlock[],
  done: (failed: number) => void
): () => void {
  const giveUps = new Set<() => void>()
  const has = new Set<number>()
  let asked = 0
  let read = 0
  let arrived = 0
  let heldBytes = 0
  let failed = 0
  let isOver = false
  const goOn = (): void => {
    if (order === 'arrival') read = arrived
    else for (let block = blocks[read]; block !== undefined && has.delete(read); block = blocks[++read]) heldBytes -= block.bytes
    const limitBytes = isOver ? -1 : windowBytes
    for (let block = blocks[asked]; block !== undefined && heldBytes < limitBytes; block = blocks[asked]) {
      const index = asked++
      heldBytes += block.bytes
      const giveUp = fetching.get(session, block, (ok) => {
        giveUps.delete(giveUp)
        if (!ok) failed += 1
        arrived += 1
        if (order === 'arrival') heldBytes -= block.bytes
        else has.add(index)
        goOn()
      })
      giveUps.add(giveUp)
    }
    if (isOver || read < blocks.length) return
    isOver = true
    done(failed)
  }
  goOn()
  return () => {
    if (isOver) return
    isOver = true
    failed += blocks.length - asked
    for (const giveUp of giveUps) giveUp()
    done(failed)
  }
}

function readFile(
  { levels, bytes }: Pattern & { kind: 'file' },
  fetching: Fetching,
  session: number,
  blocks: readonly SimulatedBlock[],
  done: (failed: number) => void
): () => void {
  const [nodes, ...below] = levels
  if (nodes === undefined) return readAhead({ kind: 'window', bytes }, fetching, session, blocks, done)
  let giveUp = runPattern({ kind: 'batches', sizes: [Infinity] }, fetching, session, blocks.slice(0, nodes), (failed) => {
    const rest = blocks.slice(nodes)
    giveUp = readFile({ kind: 'file', levels: below, bytes }, fetching, session, rest, (more) => done(failed + more))
  })
  return () => giveUp()
}
