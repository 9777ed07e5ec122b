/** [F87] One of four stops and comes back, or goes for good: what is fetched completes, or ends with a reason. */
import { expect, test, vi } from 'vitest'
import type { AddedFile, PeerProcess } from '../src/index.ts'
import { cluster } from './downloads.ts'

const fileBytes = 400_000

/** Twenty files, one after another, of which no two are alike. */
async function addFiles(peer: PeerProcess, seed: number): Promise<AddedFile[]> {
  const added: AddedFile[] = []
  for (let at = 0; at < 20; at++) added.push(await peer.add({ seed: seed + at, bytes: fileBytes }))
  return added
}

/** Gets all of them, and checks what came. */
async function expectAll(peer: PeerProcess, added: readonly AddedFile[]): Promise<void> {
  const fetched = await Promise.all(added.map(async ({ root }) => await peer.cat(root)))
  expect(fetched.map(({ sha256 }) => sha256)).toEqual(added.map(({ sha256 }) => sha256))
}

/** The peer, and all others that it is connected to, want nothing any more. */
async function nothingLeft(peer: PeerProcess, others: readonly PeerProcess[]): Promise<void> {
  await expect.poll(async () => (await peer.stat()).wantlist, { timeout: 20_000 }).toEqual([])
  for (const other of others) {
    await expect.poll(async () => (await other.ledger(peer.peer))?.wants ?? [], { timeout: 20_000 }).toEqual([])
  }
}

// Its nodes start one after another, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000 })

test('[F87] of four nodes one is stopped and comes back, then the only holder is killed: all is fetched, or ends with a reason', async () => {
  const made = cluster()
  // Long enough for others to say that they have not what is asked for, on a machine that may be busy.
  const patience = { limits: { giveUpMs: 5000 }, folder: await made.folder() }
  const folder = await made.folder()
  const [first, holder, third, fourth] = await Promise.all([made.peer(patience), made.peer({ folder }), made.peer(), made.peer()])
  await first.connect(holder.address)
  await first.stop()
  const added = await addFiles(holder, 1)
  const again = await made.peer(patience)
  expect(again.peer).toBe(first.peer)
  for (const other of [holder, third, fourth]) await again.connect(other.address)
  await expectAll(again, added)
  await nothingLeft(again, [holder, third, fourth])

  const more = await addFiles(holder, 21)
  const outcomes = Promise.allSettled(more.map(async ({ root }) => await again.cat(root, { job: 'files', givesUp: true })))
  expect(await again.reached('files', fileBytes)).toBe(true)
  await holder.kill()
  const failed = (await outcomes).flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []))
  for (const error of failed) {
    expect(error).toMatchObject({ name: 'NotFoundError', code: 'ERR_NOT_FOUND' })
    // Who was asked, for how long nothing came, and what they said.
    expect(error.message).toMatch(/no block for \d+ s; peers: 2 connected, 2 said DONT_HAVE, \d did not deliver/)
  }
  await nothingLeft(again, [third, fourth])
  const back = await made.peer({ folder })
  await again.connect(back.address)
  await expectAll(again, more)
})
