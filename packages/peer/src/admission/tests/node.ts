import type { Logger, PrivateKey } from '@libp2p/interface'
import { peerKey } from '@shardswap/interface'
import { verifyTestLimits } from '@shardswap/server'
import { nowMs } from '../../clock.ts'
import type { Host } from '../../network/host.ts'
import type { PeerRecords } from '../../reliability/peer-records.ts'
import type { ExchangeInit, Peer, PeerInit } from '../../types.ts'
import type { AdmissionRecords } from '../records.ts'
import { introduce, type Introduction, introductionHolds, introductionMeans } from './introduction.ts'
import { AvailabilityTests } from './tests.ts'
import type { TestClient } from './types.ts'

/** A node that can be told who it is before it starts. */
export interface IntroducedPeer extends Peer {
  introduced(introduction: Introduction): Promise<void>
}

export interface NodeTestsInit {
  readonly init: ExchangeInit
  readonly libp2p: Host
  /** It was made for this peer alone. */
  readonly isOwnNode: boolean
  /** Of our identity, where it is known: without it no other can be introduced. */
  readonly privateKey: PrivateKey | undefined
  readonly log: Logger
  readonly admission: AdmissionRecords
  readonly records: PeerRecords
  /** Makes a node, not started: that of the tests. */
  readonly newPeer: (init: PeerInit) => Promise<IntroducedPeer>
}

/**
 * The tests that a node makes of servers. None where it serves nobody: then it need not know whom to serve first. None either
 * on a libp2p node of the caller's, unless he makes those of the tests too: how his reaches others we do not know.
 * Errors: InvalidParametersError for limits that cannot be.
 */
export function nodeTests({ init, isOwnNode, libp2p, privateKey, log, admission, records, newPeer }: NodeTestsInit): AvailabilityTests {
  const { serve, admission: { mode, tests, testLimits, testNode, ...settings } = {}, limits, reliabilityLimits, logger } = init
  const self = peerKey(libp2p.peerId)
  const isOn = tests !== false && serve !== false && mode !== 'off' && (isOwnNode || testNode !== undefined)
  // Memory only, and no address: what it learns on a visit ends with it, and nobody can find it.
  const clientInit: PeerInit = {
    listen: [],
    admission: { ...settings, tests: false },
    start: false,
    ...(limits === undefined ? {} : { limits }),
    ...(reliabilityLimits === undefined ? {} : { reliabilityLimits }),
    ...(logger === undefined ? {} : { logger })
  }
  const start = async (privateKey: PrivateKey, introduction: Introduction): Promise<TestClient> => {
    const node = await testNode?.(privateKey)
    const peer = await newPeer({ ...clientInit, privateKey, ...(node === undefined ? {} : { libp2p: node }) })
    const stop = async (): Promise<void> => {
      await peer.stop()
      await node?.stop()
    }
    try {
      await peer.introduced(introduction)
      await peer.start()
      await node?.start()
    } catch (error) {
      await stop()
      throw error
    }
    return { peer, stop }
  }
  return new AvailabilityTests(
    {
      libp2p,
      log,
      limits: verifyTestLimits(testLimits),
      nowMs,
      isRegistered: (server) => admission.book.registry.ownerOf(server) !== undefined,
      mayIntroduce: () => privateKey !== undefined && introductionMeans(admission, self) !== undefined,
      introduce: async (key) => {
        const introduction = await introduce(admission, self, key)
        return { isBound: () => introductionHolds(admission, introduction), start: async () => await start(key, introduction) }
      },
      counted: (server, isReceived) => admission.book.admission.tested(server, isReceived, nowMs()),
      judged: (server, isReceived) => records.core.tested(server, isReceived, nowMs())
    },
    isOn
  )
}
