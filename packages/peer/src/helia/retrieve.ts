import { blockBytesMax, type CID } from '@shardswap/interface'
import type { GetOptions } from '../types.ts'
import { heliaProgress } from './progress.ts'
import type { HeldBlocks } from './held-blocks.ts'
import type { HeliaRetrieveOptions } from './types.ts'

/** The name of Helia's own Bitswap: with another of that name there, Helia adds none. */
export const brokerName = 'bitswap'

/** How blocks are asked for on a Helia node. */
export interface RetrievePorts {
  readonly patient: boolean
  readonly held: HeldBlocks
}

/** One block, by the options of Helia. */
export async function retrieve(
  source: { get(cid: CID, options: GetOptions): Promise<Uint8Array> },
  cid: CID,
  { signal, maxSize = blockBytesMax, validateFn, onProgress }: HeliaRetrieveOptions,
  { patient, held }: RetrievePorts
): Promise<Uint8Array> {
  const answered = held.ask(cid)
  const getting = source.get(cid, {
    patient,
    maxBytes: maxSize,
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined ? {} : { onProgress: heliaProgress(brokerName, onProgress) })
  })
  const bytes = await getting.finally(answered)
  await validateFn?.(bytes)
  return bytes
}
