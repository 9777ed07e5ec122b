import { setTimeout as sleep } from 'node:timers/promises'
import type { CID } from '@shardswap/interface'
import { createPeer, type Peer, type PeerInit, type Session } from '../../src/index.ts'
import { connect } from '../support.ts'
import { absentFrom, cidOf, cidsOf, MadeBlockstore } from './made-blocks.ts'
import { idle, liveBytes, timers, timersLeft } from './measure.ts'
import type { Outcome } from './scale-process.ts'

/** One that fetches and keeps nothing, connected to `count` that have `blocks` made blocks. */
export async function fetcherAndProviders(count: number, blocks: number, init: PeerInit = {}): Promise<[Peer, Peer[]]> {
  const blockstore = new MadeBlockstore(blocks)
  const fetcher = await createPeer({ blockstore: new MadeBlockstore(), ...init })
  const providers: Peer[] = []
  for (let index = 0; index < count; index++) {
    const provider = await createPeer({ blockstore })
    await connect(fetcher, provider)
    providers.push(provider)
  }
  return [fetcher, providers]
}

async function stopAll(peers: readonly Peer[]): Promise<void> {
  await Promise.all(peers.map(async (peer) => await peer.stop()))
}

/** Providers that go and come back, one after the other, each time that it is told to. */
class Churn {
  /** How often each of them was seen to go. */
  readonly left = new Map<string, number>()
  readonly #fetcher: Peer
  readonly #providers: readonly Peer[]
  #times = 0
  /** The one before has come back before the next goes. */
  #last = Promise.resolve()

  constructor(fetcher: Peer, providers: readonly Peer[]) {
    this.#fetcher = fetcher
    this.#providers = providers
    fetcher.libp2p.addEventListener('peer:disconnect', ({ detail }) => {
      this.left.set(detail.toString(), (this.left.get(detail.toString()) ?? 0) + 1)
    })
  }

  next(): void {
    const provider = this.#providers[this.#times++ % this.#providers.length] as Peer
    this.#last = this.#last.then(async () => {
      await this.#fetcher.libp2p.hangUp(provider.peerId)
      await connect(this.#fetcher, provider)
    })
  }

  async done(): Promise<void> {
    await this.#last
  }
}

function goings({ left }: Churn): { disconnects: number; leavers: number } {
  return { disconnects: [...left.values()].reduce((sum, times) => sum + times, 0), leavers: left.size }
}

/** One session fetches `wants` blocks from providers that come and go. Live bytes: before, at each fifth, and after. */
export async function bigSession(init: { wants: number; providers: number; churnEveryBlocks: number }): Promise<Outcome> {
  const [fetcher, providers] = await fetcherAndProviders(init.providers, init.wants)
  const base = { live: await liveBytes(), timers: timers() }
  const live = [base.live]
  const churn = new Churn(fetcher, providers)
  const session = fetcher.createSession()
  let blocks = 0
  for await (const block of session.getMany(cidsOf(0, init.wants))) {
    if (block.bytes.byteLength > 0) blocks++
    if (blocks % init.churnEveryBlocks === init.churnEveryBlocks >> 1) churn.next()
    if (blocks % (init.wants / 5) === 0) live.push(await liveBytes())
  }
  await churn.done()
  const { duplicateBlocks } = session.stat()
  session.close()
  const held = await idle([fetcher, ...providers])
  live.push(await liveBytes())
  const left = await timersLeft(base.timers)
  await stopAll([fetcher, ...providers])
  return { liveBytes: live, held, counts: { blocks, ...goings(churn), duplicateBlocks, timersLeft: left } }
}

/** One session wants `wants` blocks at once, and gets them. Live bytes: before, and after each round. */
export async function allAtOnce(init: { wants: number; rounds: number }): Promise<Outcome> {
  const [fetcher, providers] = await fetcherAndProviders(2, init.wants)
  const live = [await liveBytes()]
  const timersBefore = timers()
  let blocks = 0
  const get = async (session: Session, cid: CID): Promise<void> => {
    if ((await session.get(cid)).byteLength > 0) blocks++
  }
  for (let round = 0; round < init.rounds; round++) {
    const session = fetcher.createSession()
    await Promise.all([...cidsOf(0, init.wants)].map(async (cid) => await get(session, cid)))
    session.close()
    await idle([fetcher, ...providers])
    live.push(await liveBytes())
  }
  const held = await idle([fetcher, ...providers])
  const counts = { blocks, timersLeft: await timersLeft(timersBefore) }
  await stopAll([fetcher, ...providers])
  return { liveBytes: live, held, counts }
}

/**
 * One session wants `wants` blocks that nobody has, all at once, and then no
 * longer. Live bytes: before, with all of them open, and after.
 */
export async function manyPending(init: { wants: number; providers: number }): Promise<Outcome> {
  const [fetcher, providers] = await fetcherAndProviders(init.providers, 0)
  const me = fetcher.peerId
  const standing = (): number[] => providers.map((provider) => provider.ledger(me)?.wants.length ?? 0)
  const base = { live: await liveBytes(), timers: timers() }
  const end = new AbortController()
  const session = fetcher.createSession()
  const outcomes = [...cidsOf(absentFrom, init.wants)].map(async (cid) => {
    try {
      await session.get(cid, { signal: end.signal })
      return 'block'
    } catch (error) {
      return (error as Error).name
    }
  })
  let standingMost = 0
  let atPeersMost = 0
  for (let round = 0; round < 20; round++) {
    await sleep(100)
    standingMost = Math.max(standingMost, ...standing())
    atPeersMost = Math.max(atPeersMost, fetcher.gauges().wantsAtPeers)
  }
  const pending = fetcher.gauges().blocksAwaited
  const open = await liveBytes()
  end.abort()
  const aborted = (await Promise.all(outcomes)).filter((name) => name === 'AbortError').length
  session.close()
  const held = await idle([fetcher, ...providers])
  const live = [base.live, open, await liveBytes()]
  const counts = {
    aborted,
    pending,
    standingMost,
    atPeersMost,
    standingAfter: Math.max(...standing()),
    timersLeft: await timersLeft(base.timers)
  }
  await stopAll([fetcher, ...providers])
  return { liveBytes: live, held, counts }
}

/** `sessions` sessions at once, some of them for the same blocks, again and again. Live bytes: before, and after each round. */
export async function sessionsAtOnce(init: { sessions: number; blocks: number; rounds: number }): Promise<Outcome> {
  const known = init.sessions * (init.blocks / 2)
  const [fetcher, providers] = await fetcherAndProviders(3, known)
  const live = [await liveBytes()]
  const timersBefore = timers()
  let ended = 0
  let blocks = 0
  for (let round = 0; round < init.rounds; round++) {
    const all = Array.from({ length: init.sessions }, async (_, number) => {
      const session = fetcher.createSession()
      // Every block is wanted by two sessions.
      const from = (number * (init.blocks / 2)) % known
      for await (const { bytes } of session.getMany(wrapped(from, init.blocks, known))) if (bytes.byteLength > 0) blocks++
      session.close()
      ended++
    })
    await Promise.all(all)
    await idle([fetcher, ...providers])
    live.push(await liveBytes())
  }
  const held = await idle([fetcher, ...providers])
  const counts = { ended, blocks, timersLeft: await timersLeft(timersBefore) }
  await stopAll([fetcher, ...providers])
  return { liveBytes: live, held, counts }
}

function* wrapped(from: number, count: number, known: number): Generator<ReturnType<typeof cidOf>> {
  for (let index = 0; index < count; index++) yield cidOf((from + index) % known)
}

/** `sessions` sessions, one after the other, each for `blocks` blocks. Live bytes: before, and after each tenth. */
export async function sessionsInTurn(init: { sessions: number; blocks: number }): Promise<Outcome> {
  const known = 10_000
  const [fetcher, providers] = await fetcherAndProviders(2, known)
  const live = [await liveBytes()]
  const timersBefore = timers()
  let blocks = 0
  for (let number = 1; number <= init.sessions; number++) {
    const session = fetcher.createSession()
    const wanted = Array.from({ length: init.blocks }, (_, index) => cidOf((number * init.blocks + index) % known))
    blocks += (await Promise.all(wanted.map(async (cid) => await session.get(cid)))).length
    session.close()
    if (number % (init.sessions / 10) === 0) live.push(await liveBytes())
  }
  const held = await idle([fetcher, ...providers])
  const counts = { blocks, timersLeft: await timersLeft(timersBefore) }
  await stopAll([fetcher, ...providers])
  return { liveBytes: live, held, counts }
}
