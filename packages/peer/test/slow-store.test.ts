import { setTimeout as sleep } from 'node:timers/promises'
import { MemoryBlockstore } from 'blockstore-core'
import { afterEach, expect, it } from 'vitest'
import { collect, connect, Peers, rawBlocks } from './support.ts'

const peers = new Peers()
afterEach(async () => await peers.stop())

/** Writes nothing more for a while once it has so many blocks: a disk that is busy elsewhere. */
class StallingStore extends MemoryBlockstore {
  readonly #after: number
  readonly #stallMs: number
  #blocks = 0
  #stall: Promise<unknown> = Promise.resolve()

  constructor(after: number, stallMs: number) {
    super()
    this.#after = after
    this.#stallMs = stallMs
  }

  override async put(...args: Parameters<MemoryBlockstore['put']>): Promise<Awaited<ReturnType<MemoryBlockstore['put']>>> {
    this.#blocks += 1
    if (this.#blocks === this.#after) this.#stall = sleep(this.#stallMs)
    await this.#stall
    return await super.put(...args)
  }
}

it('[B15][P8] a store that stalls is not held against who delivers meanwhile: nothing is late, and nothing is asked for again', async () => {
  const blocks = rawBlocks(400, 64 * 1024)
  const provider = await peers.provider(blocks)
  // Deadlines here are some hundred milliseconds: the stall outlasts them all, with most of the blocks still unread.
  const peer = await peers.create({ blockstore: new StallingStore(100, 4000), limits: { storeBacklogBytesMax: 1024 * 1024 } })
  await connect(peer, provider)
  const session = peer.createSession()
  expect(await collect(session.getMany(blocks.map(({ cid }) => cid)))).toHaveLength(400)
  expect(session.stat()).toMatchObject({ blocks: 400, timeouts: 0, duplicateBlocks: 0 })
  const [score] = peer.scores()
  expect(score).toMatchObject({ isVetted: true, counts: { attempted: 400, successful: 400, rewardable: 400 } })
  // Nor is the stall taken for the way there and back.
  expect(score?.latencyP95Ms).toBeLessThan(4000)
  session.close()
})
