import type { Logger, PrivateKey } from '@libp2p/interface'
import type { PeerKey } from '@shardswap/interface'
import type { TestLimits, TestOutcome } from '@shardswap/server'
import type { Host } from '../../network/host.ts'
import type { Peer } from '../../types.ts'

/** Test requests, as people see them. */
export interface TestsReport {
  /** Whether they are made at all: they can be turned off, and are while we are not registered ourselves. */
  readonly state: 'off' | 'unregistered' | 'on'
  /** Registered servers of which is known what they have. */
  readonly servers: number
  /** Visits that go on now. */
  readonly visits: number
  /** How many blocks that were asked for came to which outcome, since the start. */
  readonly outcomes: Readonly<Partial<Record<TestOutcome, number>>>
  /** Identities under which tests were made, since the start. */
  readonly identities: number
  /** The PeerId of the present one; left out before the first test. */
  readonly identity?: string
}

/** A node that makes one visit. */
export interface TestClient {
  readonly peer: Peer
  stop(): Promise<void>
}

/** Under whom tests are made for a while. */
export interface TestIdentity {
  /** Whether what binds it still holds. */
  isBound(): boolean
  /** Starts a node of this identity, as any client's: nothing of ours is in it but what binds it to our owner. */
  start(): Promise<TestClient>
}

/** What the tests need of the node. */
export interface TestPorts {
  /** Our own node: where the addresses of servers are known. */
  readonly libp2p: Host
  readonly log: Logger
  readonly limits: TestLimits
  readonly nowMs: () => number
  isRegistered(server: PeerKey): boolean
  /** Whether a new identity could be bound now, to us or to our owner: else nothing is tested. */
  mayIntroduce(): boolean
  /** Binds a new identity. Rejects where that cannot be. */
  introduce(privateKey: PrivateKey): Promise<TestIdentity>
  /** [I5] One block that was asked for in a test: whether it came. */
  counted(server: PeerKey, isReceived: boolean): void
  /** One visit, for the judgement of peers: whether all that was asked for came. */
  judged(server: PeerKey, isReceived: boolean): void
}
