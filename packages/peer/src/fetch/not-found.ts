import { type CID, NoPeersError, NotFoundError } from '@shardswap/interface'

/** What a caller gets whose want was given up; with nobody connected the error has a code of its own. */
export function notFound(cid: CID, { reason, isAlone }: { readonly reason: string; readonly isAlone: boolean }): NotFoundError {
  return new (isAlone ? NoPeersError : NotFoundError)(`could not find ${cid.toString()}: ${reason}`)
}
