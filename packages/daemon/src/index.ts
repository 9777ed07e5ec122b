/**
 * @packageDocumentation
 * The long-running node: what it can do (`SwapNode`), in this process
 * (`openLocalNode`, `startDaemon`) or over its RPC (`findDaemon`, `connectDaemon`).
 * The RPC speaks Kubo's `/api/v0` for the calls that it has.
 */
export * from './admission-shapes.ts'
export type { NodeConfig } from './api/config.ts'
export * from './config-shapes.ts'
export { checkPeerId, checkPeerName, isLoopback, parseMultiaddr } from './address.ts'
export type * from './api/dag.ts'
export type * from './api/network.ts'
export { parseCid } from './cid.ts'
export { connectDaemon, findDaemon } from './client/find.ts'
export { RemoteNode } from './client/remote-node.ts'
export { codecNamed, codecNames, hashNames } from './codecs.ts'
export { dagSizesShape, edgeFormat, placeShape } from './dag-shapes.ts'
export type { Daemon, DaemonInit } from './daemon.ts'
export { type Deadline, startDeadline } from './deadline.ts'
export { parseDurationMs } from './duration.ts'
export * from './errors.ts'
export * from './gc/errors.ts'
export type { LocalNode, LocalNodeInit } from './local/local-node.ts'
export * from './limits.ts'
export { addressesShape, bitswapLedgerShape, bitswapShape, disconnectedText, pingShape, wantlistShape } from './network-shapes.ts'
export * from './node.ts'
export { checkPrivateKey, openLocalNode, startDaemon } from './open.ts'
export * from './report-shapes.ts'
export { errorShape } from './rpc/reply.ts'
export * from './score-shapes.ts'
export * from './serve-shapes.ts'
export * from './shapes.ts'
export { parseStakes, rewardsOf, type Stakes } from './stakes.ts'
export { agentVersion, version } from './version.ts'
