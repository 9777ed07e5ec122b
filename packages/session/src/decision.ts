import type { CID } from '@shardswap/interface'
import type { PeerView } from './views.ts'
import type { Want } from './want.ts'

/** One line that a session wants to have sent. */
export interface Ask {
  readonly peer: PeerView
  readonly type: 'want-block' | 'want-have'
  /** Somebody vetted could have been asked as well: the pick counts for the newcomers' share. */
  readonly isContested?: boolean
}

/** One answer of a session to the question what it has to send (B24). */
export type Decision =
  | { readonly kind: 'ask'; readonly want: Want; readonly asks: readonly Ask[] }
  | { readonly kind: 'search'; readonly cid: CID }
  /** There may be more, but the bounded time of one answer is over (B26). */
  | { readonly kind: 'more' }
