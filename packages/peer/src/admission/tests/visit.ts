import type { CID, PeerKey } from '@shardswap/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { TestOutcome, Visit } from '@shardswap/server'
import type { FetchProgress } from '../../fetch/progress.ts'
import type { Peer, Session } from '../../types.ts'
import type { TestClient } from './types.ts'

export interface VisitPorts {
  /** A node of the tests' identity, started. */
  start(): Promise<TestClient>
  addressesOf(server: PeerKey): Promise<readonly Multiaddr[]>
  /** Whether we ourselves are connected to anybody: else that a server is silent says nothing of it. */
  isOnline(): boolean
  readonly visitTimeoutMs: number
  /** Fires when we stop. */
  readonly stopping: AbortSignal
}

/**
 * [I5][I6] Visits a server as any client does: a node of another identity dials it, asks for the blocks in a session of its
 * own, verifies what comes, and is gone. Returns an outcome for each block. Rejects where no node could be started.
 */
export async function visitServer({ server, cids }: Visit, ports: VisitPorts): Promise<TestOutcome[]> {
  const { stopping, visitTimeoutMs } = ports
  const all = (outcome: TestOutcome): TestOutcome[] => cids.map(() => outcome)
  if (stopping.aborted) return all('void')
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(), visitTimeoutMs)
  timer.unref()
  const signal = AbortSignal.any([stopping, ending.signal])
  const client = await ports.start()
  try {
    const failure = await connect(client.peer, await ports.addressesOf(server), signal)
    if (failure !== undefined) return all(stopping.aborted || !ports.isOnline() ? 'void' : failure)
    const session = client.peer.createSession()
    const refusals = new Refusals(client.peer)
    const came = await Promise.all(cids.map(async (cid) => await ask(session, cid, refusals, signal)))
    // Asked before the node stops, and its connections with it.
    const whyNot = stopping.aborted || !ports.isOnline() ? 'void' : failureOf(client.peer)
    return came.map((outcome) => (outcome === 'refused' && whyNot === 'void' ? whyNot : (outcome ?? whyNot)))
  } finally {
    clearTimeout(timer)
    await client.stop()
  }
}

/** What stood in the way; undefined where we are connected. */
async function connect(client: Peer, addresses: readonly Multiaddr[], signal: AbortSignal): Promise<TestOutcome | undefined> {
  const [first] = addresses
  if (first === undefined) return 'unreachable'
  try {
    await client.libp2p.dial([...addresses], { signal })
    // The connection is there: this waits until it is known what the server speaks.
    await client.connect(first, { signal })
    return undefined
  } catch (error) {
    // It may be reached by means that we do not have: that is not its fault.
    return error instanceof Error && error.name === 'NoValidAddressesError' ? 'void' : 'unreachable'
  }
}

/** Undefined where it did not come in time, and was not denied. */
async function ask(session: Session, cid: CID, refusals: Refusals, signal: AbortSignal): Promise<TestOutcome | undefined> {
  const denied = new AbortController()
  let isRefused = false
  const onProgress = ({ type }: FetchProgress): void => {
    if (type !== 'shardswap:dont-have') return
    // As any client it asks again later.
    if (refusals.isNew()) isRefused = true
    else denied.abort()
  }
  try {
    await session.get(cid, { signal: AbortSignal.any([signal, denied.signal]), onProgress })
    return 'verified'
  } catch {
    if (denied.signal.aborted) return 'denied'
    return isRefused ? 'refused' : undefined
  }
}

/** Tells a DONT_HAVE of a server that said that it is busy from any other: the exchange counts it as a refusal, just before. */
class Refusals {
  readonly #client: Peer
  #seen = 0

  constructor(client: Peer) {
    this.#client = client
  }

  isNew(): boolean {
    const all = this.#client.scores().reduce((sum, { counts }) => sum + counts.refused, 0)
    const isNew = all > this.#seen
    this.#seen = all
    return isNew
  }
}

function failureOf(client: Peer): TestOutcome {
  if (client.connections().length === 0) return 'left'
  return client.stat().fetch.unaskedBlocks > 0 ? 'wrong' : 'silent'
}
