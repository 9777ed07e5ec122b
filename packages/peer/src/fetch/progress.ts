import type { CID } from '@shardswap/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import { CustomProgressEvent, type ProgressEvent } from 'progress-events'

/** One block and one peer; the peer is the text form of its id. */
export interface PeerProgress {
  readonly cid: CID
  readonly peer: string
}

/** What happens to a want, told to `onProgress` of whoever waits for the block. Names are stable. */
export type FetchProgress =
  /** Providers of this very block are looked up in routing. */
  | ProgressEvent<'shardswap:find-providers', { readonly cid: CID }>
  /** Routing named a provider. */
  | ProgressEvent<'shardswap:provider', PeerProgress>
  /** A provider is dialled. */
  | ProgressEvent<'shardswap:connect', PeerProgress>
  /** A provider that was dialled is connected. */
  | ProgressEvent<'shardswap:connected', PeerProgress & { readonly address: Multiaddr }>
  /** A peer is asked for the block, or whether it has it. */
  | ProgressEvent<'shardswap:want', PeerProgress & { readonly wantType: 'block' | 'have' }>
  /** A peer says that it does not have it. */
  | ProgressEvent<'shardswap:dont-have', PeerProgress>
  /** A peer did not deliver it within its deadline: it is told to forget it, and others are asked. */
  | ProgressEvent<'shardswap:timeout', PeerProgress>
  /** The block came, and is what it should be. */
  | ProgressEvent<'shardswap:block', PeerProgress & { readonly bytes: number }>

/** An event of one kind, with what belongs to that kind. */
export function progressEvent<T extends FetchProgress['type']>(
  type: T,
  detail: Extract<FetchProgress, { readonly type: T }>['detail']
): FetchProgress {
  return new CustomProgressEvent<unknown>(type, detail) as ProgressEvent as FetchProgress
}
