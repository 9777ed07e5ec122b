import type { CID } from '@shardswap/interface'

/** One string per CID: version and codec count, as they do in an archive. */
export function cidKey(cid: CID): string {
  return String.fromCharCode(...cid.bytes)
}
