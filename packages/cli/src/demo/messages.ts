/** What the demo and its peers tell each other, over the channel that `fork` makes. */

/** What a peer adds: a file, or so many bytes of the demo's own. */
export type DemoContent = { readonly file: string } | { readonly bytes: number }

/** To a peer. */
export type DemoOrder =
  | { readonly type: 'add'; readonly content: DemoContent }
  /** Fetch `root` from `addresses`; after `pauseAfterBytes`, wait for `go`. */
  | { readonly type: 'fetch'; readonly root: string; readonly addresses: readonly string[]; readonly pauseAfterBytes: number | undefined }
  | { readonly type: 'go' }

/** What came from one provider. */
export interface DemoShare {
  readonly peer: string
  readonly blocks: number
  readonly bytes: number
  readonly timeouts: number
  readonly score: number | null
}

/** From a peer. */
export type DemoReport =
  | { readonly type: 'ready'; readonly peer: string; readonly address: string }
  | { readonly type: 'added'; readonly root: string }
  | { readonly type: 'progress'; readonly bytes: number; readonly shares: readonly DemoShare[] }
  | { readonly type: 'paused'; readonly shares: readonly DemoShare[] }
  | DemoFetched
  | { readonly type: 'failed'; readonly message: string }

export interface DemoFetched {
  readonly type: 'fetched'
  readonly bytes: number
  readonly seconds: number
  readonly sha256: string
  readonly duplicateBlocks: number
  readonly duplicateBytes: number
  readonly shares: readonly DemoShare[]
}
