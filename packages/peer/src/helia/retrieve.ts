import { blockBytesMax, type CID } from '@shardswap/interface'
import type { GetOptions } from '../types.ts'
import { heliaProgress } from './progress.ts'
import type { HeliaRetrieveOptions } from './types.ts'

/** The name of Helia's own Bitswap: with another of that name there, Helia adds none. */
export const brokerName = 'bitswap'

/** One block, by the options of Helia. */
export async function retrieve(
  source: { get(cid: CID, options: GetOptions): Promise<Uint8Array> },
  cid: CID,
  { signal, maxSize = blockBytesMax, validateFn, onProgress }: HeliaRetrieveOptions,
  patient: boolean
): Promise<Uint8Array> {
  const bytes = await source.get(cid, {
    patient,
    maxBytes: maxSize,
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined ? {} : { onProgress: heliaProgress(brokerName, onProgress) })
  })
  await validateFn?.(bytes)
  return bytes
}
