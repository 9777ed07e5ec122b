/** Sizes that the Bitswap network agrees on, in bytes, and what the runtime can do. Each has a line in docs/limits.md. */

/** The largest block that every Bitswap peer must take (specification). */
export const blockBytesMax = 2 * 1024 * 1024

/** The largest Bitswap message that peers read: Go resets the stream above it. */
export const messageBytesMax = 4 * 1024 * 1024

/** The longest CID that Go's servers take in a wantlist: 40 bytes and a digest of 128. */
export const cidBytesMax = 168

/** Wants that a Bitswap server keeps for one peer; what is above it is dropped. */
export const wantsPerPeerMax = 1024

/** The longest delay that a timer takes, in milliseconds: about 24 days. One that is longer would be over at once. */
export const timerMsMax = 2 ** 31 - 1
