/** How large DAGs are. */
import { type BlockSource, type CID, type GetBlockOptions, InvalidParametersError } from '@shardswap/interface'
import { type Link, linksOf } from '../car/links.ts'
import { cidKey } from '../cid-key.ts'
import { type Planned, readAhead } from '../read/ahead.ts'
import { resolveNode } from './resolve.ts'

/** One DAG: each of its CIDs counts once. */
export interface DagSize {
  readonly root: CID
  readonly blocks: number
  readonly bytes: number
}

/** How large DAGs are, each and all together. */
export interface DagSizes {
  readonly dags: readonly DagSize[]
  /** Distinct blocks of all together, and their bytes. */
  readonly blocks: number
  readonly bytes: number
}

/** How a DAG is measured. */
export interface DagStatOptions extends GetBlockOptions {
  /** Told after each block of what was counted so far. */
  readonly onProgress?: ((sizes: DagSizes) => void) | undefined
}

function planOf({ cid, dagBytes }: Link): Planned<undefined> {
  return { cid, span: dagBytes, context: undefined }
}

/**
 * Reads DAGs whole and counts their blocks. Holds about 100 bytes for each distinct CID.
 * Errors: those of resolveNode, InvalidParametersError for a path that ends within a block.
 */
export async function dagStat(source: BlockSource, paths: readonly string[], options: DagStatOptions = {}): Promise<DagSizes> {
  const { signal, patient, onProgress } = options
  const all = new Set<string>()
  const dags: DagSize[] = []
  let bytes = 0
  for (const path of paths) {
    const { cid: root, rest } = await resolveNode(source, path, options)
    if (rest.length > 0) throw new InvalidParametersError(`"${path}" is a value within a block: only a whole DAG has a size`)
    const own = new Set<string>()
    const at = dags.length
    dags.push({ root, blocks: 0, bytes: 0 })
    const nodes = readAhead<undefined, undefined>({
      source,
      roots: [{ cid: root, span: 0, context: undefined }],
      open: ({ cid }, block) => ({ value: undefined, children: linksOf(cid, block).map(planOf) }),
      skip: ({ cid }) => own.has(cidKey(cid)),
      signal,
      patient
    })
    let ownBytes = 0
    for await (const { cid, bytes: block } of nodes) {
      const key = cidKey(cid)
      own.add(key)
      ownBytes += block.byteLength
      if (!all.has(key)) bytes += block.byteLength
      all.add(key)
      dags[at] = { root, blocks: own.size, bytes: ownBytes }
      onProgress?.({ dags: [...dags], blocks: all.size, bytes })
    }
  }
  return { dags, blocks: all.size, bytes }
}
