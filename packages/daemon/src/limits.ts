/** Limits of the daemon and its RPC; each has a line in docs/limits.md. */

import { messageBytesMax } from '@shardswap/interface'

/** The longest request line and headers that the RPC reads: a few hundred CIDs as arguments. */
export const rpcHeaderBytesMax = 64 * 1024

/** Connections to the RPC at a time. */
export const rpcConnectionsMax = 256

/** Requests that a client may send on a connection before it has read the answer to the one that runs. */
export const rpcRequestsAheadMax = 16

/** Whoever takes longer to send a request's headers is cut off; a program of this machine needs a moment. */
export const rpcHeadersMs = 10_000

/** What all calls together hold of blocks that are being sent to them; each is gathered whole before it is stored. */
export const rpcBlockBytesMax = 128 * 1024 * 1024

/** What all calls together read ahead of slow clients: the first one has half, as much as a reader has by itself. */
export const rpcReadAheadBytesMax = 128 * 1024 * 1024

/** What a call reads ahead where the others have nearly all: the usual leaf. */
export const rpcReadAheadBytesMin = 256 * 1024

/** Requests of one `block rm` go out with at most so many CIDs, to stay within `rpcHeaderBytesMax`. */
export const cidsPerRequestMax = 200

/** The largest block that `block put --allow-big-block` takes: what a message can hold and the repo stores. */
export const bigBlockBytesMax = messageBytesMax

/** The largest config that a call may bring, in bytes: thousands of addresses. */
export const configBytesMax = 256 * 1024

/** How often the bytes that went over the network are looked at, to tell a rate. */
export const bandwidthSampleMs = 1000

/** A rate is one over so many looks. */
export const bandwidthSamplesMax = 6

/** The largest JSON document or line that our client reads from a daemon. */
export const replyBytesMax = 4 * 1024 * 1024

/** How long a daemon that is asked for its version may take before it counts as not there. */
export const probeTimeoutMs = 10_000

/** After an early error, so much more of a request's body is read, so that the client sees the answer before the end. */
export const lingerMs = 1_000

/** The longest symlink target in an upload: Linux's PATH_MAX. */
export const symlinkBytesMax = 4096

/** Peers in one answer with scores, those that are connected first: within `replyBytesMax`. */
export const scoredPeersMax = 2000

/** Clients in one answer with ledgers, those that were sent most first: within `replyBytesMax`. */
export const ledgersShownMax = 2000

/** Owners, and peers, in one answer on admission: within `replyBytesMax`. */
export const ownersShownMax = 2000
/** Peers that `admission` tells of. */
export const admittedPeersShownMax = 2000

/** The longest key, claim or delegation that a call or a file may bring, in bytes; an RSA key of 8,192 bits takes 5 KiB. */
export const keyFileBytesMax = 16 * 1024

/** Pins that are written at once for a repo from before there were pins. */
export const upgradePinsMax = 1000

/** Blocks that a collection reads at once to find what pins lead to. */
export const collectionLanesMax = 8

/** Blocks that a collection removes at once. */
export const removalLanesMax = 32

/** Blocks that `pin add` asks for at once. */
export const pinLanesMax = 32

/** The longest name of a pin, in bytes: Kubo's. */
export const pinNameBytesMax = 255
/** From one ping to the next: Kubo's. */
export const pingIntervalMs = 1_000

/** The longest node that our client takes from `dag get`: each byte of the largest block as six of JSON, and some room. */
export const nodeTextBytesMax = 32 * 1024 * 1024

/** Arguments that a call has in its body take so many bytes at most: some 17,000 CIDs. */
export const bodyArgsBytesMax = 1024 * 1024
