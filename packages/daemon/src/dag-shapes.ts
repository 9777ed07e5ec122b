/** Kubo's JSON of the commands on DAGs, and back. */
import type { DagSizes } from '@shardswap/content'
import { CID } from '@shardswap/interface'
import type { DagPlace } from './api/dag.ts'

interface CidShape {
  readonly '/': string
}

export interface PutShape {
  readonly Cid: CidShape
}

export interface PlaceShape {
  readonly Cid: CidShape
  readonly RemPath: string
}

/** A place in a DAG as `dag/resolve` answers it. */
export function placeShape({ cid, rest }: DagPlace): PlaceShape {
  return { Cid: { '/': cid.toString() }, RemPath: rest }
}

export function placeOf(shape: PlaceShape): DagPlace {
  return { cid: CID.parse(shape.Cid['/']), rest: shape.RemPath }
}

export interface RefShape {
  readonly Ref: string
  readonly Err: string
}

export interface DagSizesShape {
  /** What is 0 is left out, as Kubo does. */
  readonly UniqueBlocks?: number
  readonly TotalSize?: number
  readonly SharedSize?: number
  readonly Ratio?: number
  readonly DagStats: readonly { readonly Cid: string; readonly Size?: number; readonly NumBlocks?: number }[]
}

/** What was counted so far; Kubo gives the number of blocks of all together with the last line only. */
export function dagProgressShape(sizes: DagSizes): DagSizesShape {
  return {
    TotalSize: sizes.bytes,
    DagStats: sizes.dags.map(({ root, blocks, bytes }) => ({ Cid: root.toString(), Size: bytes, NumBlocks: blocks }))
  }
}

/** Sizes of DAGs as `dag/stat` answers them. */
export function dagSizesShape(sizes: DagSizes): DagSizesShape {
  const withShared = sizes.dags.reduce((sum, { bytes }) => sum + bytes, 0)
  const shared = withShared - sizes.bytes
  return {
    UniqueBlocks: sizes.blocks,
    TotalSize: sizes.bytes,
    ...(shared === 0 ? {} : { SharedSize: shared }),
    ...(sizes.bytes === 0 ? {} : { Ratio: withShared / sizes.bytes }),
    DagStats: dagProgressShape(sizes).DagStats
  }
}

export function dagSizesOf(shape: DagSizesShape): DagSizes {
  return {
    blocks: shape.UniqueBlocks ?? 0,
    bytes: shape.TotalSize ?? 0,
    dags: shape.DagStats.map(({ Cid, Size = 0, NumBlocks = 0 }) => ({ root: CID.parse(Cid), bytes: Size, blocks: NumBlocks }))
  }
}

/** The text of a link with `--edges`. */
export const edgeFormat = '<src> -> <dst>'
