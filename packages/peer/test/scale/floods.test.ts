import { afterEach, expect, it } from 'vitest'
import { concat, framed, hex, rawCid, rawPrefix, seeded, sha256, varint, wantlist, wantlistOfNothing } from '../wire/bytes.ts'
import { PeerChild } from '../wire/peer-child.ts'
import { openStream, RawPeer, write } from '../wire/raw.ts'
import { isFull, workMs } from './scale.ts'

const stops: (() => Promise<void>)[] = []

afterEach(async () => {
  await Promise.all(stops.splice(0).map(async (stop) => await stop()))
})

async function raw(): Promise<RawPeer> {
  const peer = await RawPeer.start()
  stops.push(async () => await peer.stop())
  return peer
}

/** A framed wantlist of wants whose CIDs have the greatest length that servers take, 168 bytes. */
function wantlistOfLongCids(from: number, count: number, have: boolean): Uint8Array {
  const head = Buffer.from([0x01, 0x55, 0x12, ...varint(163)])
  const entry = concat(Uint8Array.of(0x0a), varint(168), head, new Uint8Array(163), Uint8Array.of(0x20, have ? 1 : 0, 0x28, 1))
  const line = concat(Uint8Array.of(0x0a), varint(entry.length), entry)
  const list = Buffer.alloc(line.length * count)
  for (let index = 0; index < count; index++) {
    list.set(line, index * line.length)
    list.writeUInt32BE(from + index, index * line.length + 20)
  }
  return framed(concat(Uint8Array.of(0x0a), varint(list.length), list))
}

/** Small enough that the flood of a few seconds reaches all of them. */
const limits = { wantsMax: 16_384, presencesMax: 8192, presencesPerPeerMax: 2048, lookupsMax: 16_384, lookupsPerPeerMax: 2048 }
/** What all wants and answers within these limits take, at 1.5 KiB each for the longest CIDs. */
const grownBytesMax = 1536 * (limits.wantsMax + 2 * limits.presencesMax + limits.lookupsMax)

const rounds = isFull ? 10 : 2

it(
  `[F20] ${(rounds * 100_000).toLocaleString('en')} wants of every kind from 50 identities that read no answer stay in the common limits`,
  { timeout: workMs },
  async () => {
    const peer = await PeerChild.start(limits)
    stops.push(async () => await peer.stop())
    const friend = await raw()
    const friendStream = await openStream(await friend.dial(peer.address))
    let seed = 500_000
    const friendIsServed = async (): Promise<void> => {
      await peer.tell({ type: 'put', seed, size: 2000, count: 1 }, 'done')
      const bytes = seeded(seed++, 2000)
      await write(friendStream, wantlist([{ cid: rawCid(bytes) }]))
      await friend.until(() => friend.answers().includes(`block ${hex(rawPrefix)} ${hex(sha256(bytes))}`))
    }
    await friendIsServed()
    const enemies = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const enemy = await raw()
        enemy.deaf = true
        return { enemy, stream: await openStream(await enemy.dial(peer.address)) }
      })
    )
    const before = await peer.stat()
    for (let round = 0; round < rounds; round++) {
      for (const [number, { stream }] of enemies.entries()) {
        const from = (number * rounds + round) * 2000
        const have = (number + round) % 2 === 0
        await write(stream, wantlistOfNothing(from, 1000, { have, sendDontHave: true }))
        await write(stream, wantlistOfLongCids(from, 1000, have))
      }
      await friendIsServed()
      expect((await peer.stat()).liveBytes - before.liveBytes).toBeLessThan(grownBytesMax)
    }
    const counted = async (): Promise<number[]> => {
      const all: number[] = []
      for (const { enemy } of enemies) all.push((await peer.stat(enemy.id)).wants)
      return all
    }
    // One is asked about after another: the counts are of one moment once nothing moves between them.
    let wants = await counted()
    for (let next = await counted(); next.join() !== wants.join(); next = await counted()) wants = next
    let wantsInAll = 0
    for (const count of wants) {
      expect(count).toBeGreaterThan(0)
      expect(count).toBeLessThanOrEqual(1024)
      wantsInAll += count
    }
    expect(wantsInAll).toBeLessThanOrEqual(limits.wantsMax)
    await Promise.all(enemies.map(async ({ enemy }) => await enemy.stop()))
    // All that they made the peer hold goes with them.
    while ((await peer.stat()).connectedPeers > 1) await friendIsServed()
    expect((await peer.stat()).liveBytes - before.liveBytes).toBeLessThan(grownBytesMax / 10)
  }
)
