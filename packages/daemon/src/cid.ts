import { parsePath } from '@shardswap/content/disk'
import { type CID, InvalidCidError } from '@shardswap/interface'

/** `CID` or `/ipfs/CID`, without a path below it. Errors: InvalidCidError. */
export function parseCid(text: string): CID {
  const { root, segments } = parsePath(text)
  if (segments.length > 0) throw new InvalidCidError(`"${text}" has a path, and this command takes a CID alone`)
  return root
}
