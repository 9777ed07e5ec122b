/** Limits of routing. Each has a row in docs/limits.md. */

/** How long one router may take to answer one question. */
export const routerTimeoutMs = 60_000

/** How long a question waits for the DHT to have its first peer, as just after the start. */
export const dhtFirstPeerMs = 30_000

/** Providers that one search names, over all routers; who needs more asks again. */
export const providersNamedMax = 1000
/** How often one router may name in one search what it has named before; then it is done. */
export const providerRepeatsMax = 100

/** Bytes of one answer of a delegated router, and of one line of it. */
export const delegatedAnswerBytesMax = 4 * 1024 * 1024
export const delegatedLineBytesMax = 64 * 1024

/** Addresses that are taken of one peer. */
export const addressesPerPeerMax = 32

/** Requests to one delegated router at a time; more wait. */
export const delegatedRequestsMax = 8

/** Peers to stay connected to, and peers to begin with. */
export const peeringPeersMax = 256
export const bootstrapPeersMax = 64

/** With fewer peers connected than this, those to begin with are dialled, and it is looked at so often. */
export const bootstrapBelowPeers = 4
export const bootstrapEveryMs = 30_000

/** The wait before a peer to stay connected to is dialled again: so long at first, growing by half each time. */
export const peeringDelayMs = 5_000
export const peeringDelayMaxMs = 600_000

/** How long one dial of routing may take. */
export const routingDialTimeoutMs = 15_000

/** Dials of peers that the local network shows, at a time; peers that are remembered as dialled, and for how long. */
export const mdnsDialsMax = 8
export const mdnsPeersMax = 256
export const mdnsRedialMs = 60_000

/** How long the exchange of nonces with a peer on a private network may take. */
export const nonceTimeoutMs = 3_000

/** How long after it was announced a CID is announced again: records in the DHT end after 48 h, and their keepers change. */
export const announceEveryMs = 22 * 60 * 60 * 1000

/** Everything to be announced is gone through so far apart at least, and so soon again after something failed. */
export const announceRoundEveryMs = 60 * 60 * 1000
export const announceRetryMs = 60_000

/** CIDs that wait to be announced; above it those that are new wait for the next round. */
export const announcesWaitingMax = 4096

/** Announced at a time, and how long one may take. */
export const announcesAtOnceMax = 8
export const announceTimeoutMs = 120_000

/** The longest wait of one timer: after that the clock is looked at again. */
export const clockLookEveryMs = 600_000
