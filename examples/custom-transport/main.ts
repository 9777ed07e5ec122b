/**
 * Bitswap over plain TCP, without libp2p: three peers give 96 blocks to a fourth, over sockets of Node's own. What is
 * asked of whom, when it counts as late and who is served next is decided by the cores; docs/cores.md explains the steps.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { multihashOf } from '@shardswap/hashes'
import { type BlockKey, blockKey, CID, peerKey } from '@shardswap/interface'
import { Fetching } from './fetching.ts'
import { Line } from './line.ts'
import { Serving } from './serving.ts'

const sha256 = 0x12
const rawCodec = 0x55

/** Joins a socket to one half of a peer. A peer's name is its address: there is nothing here that proves another. */
function join(socket: Socket, half: Fetching | Serving): void {
  const peer = peerKey(`${socket.remoteAddress ?? ''}:${socket.remotePort ?? 0}`)
  const line = new Line(socket)
  line.read(
    (message, bytes) => half.receive(peer, message, bytes),
    () => half.disconnect(peer)
  )
  half.connect(peer, line)
}

const blocks = new Map<BlockKey, Uint8Array>()
const cids = Array.from({ length: 96 }, (_, index) => {
  const bytes = new Uint8Array(100_000).fill(index)
  const digest = multihashOf(sha256, 32, bytes)
  if (digest === undefined) throw new Error('SHA-256 is known')
  const cid = CID.createV1(rawCodec, digest)
  blocks.set(blockKey(cid), bytes)
  return cid
})

const servers = await Promise.all(
  [1, 2, 3].map(async () => {
    const serving = new Serving(blocks)
    const server = createServer((socket) => join(socket, serving)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return server
  })
)

const fetching = new Fetching(peerKey('the reader'))
const sockets = servers.map((server) => connect((server.address() as AddressInfo).port, '127.0.0.1'))
for (const socket of sockets) {
  await once(socket, 'connect')
  join(socket, fetching)
}

const fetched = await Promise.all(cids.map(async (cid) => await fetching.get(cid)))
const right = fetched.filter((bytes, index) => bytes.byteLength === 100_000 && bytes[0] === index).length
const givers = [...fetching.shares.values()].filter((share) => share > 0).length
console.log(`${right} of ${cids.length} blocks from ${givers} peers, ${fetching.figures.duplicateBlocks} of them twice`)

fetching.stop()
for (const socket of sockets) socket.destroy()
for (const server of servers) server.close()
