import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import type { Stream } from '@libp2p/interface'
import { afterEach, expect, it } from 'vitest'
import { rawCid, wantlist } from './bytes.ts'
import { address, block, Cast } from './cast.ts'
import { openStream, write } from './raw.ts'

const cast = new Cast()
const sockets: Socket[] = []
const relay = createServer()
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  relay.close()
  await cast.stop()
})

const isOutbound = ({ direction, protocol }: Stream): boolean => direction === 'outbound' && !protocol.startsWith('/ipfs/id')

it('a peer that answers nothing any more does not hold up the end', async () => {
  // Were the end to wait for the stream, this test would run out of time.
  const peer = await cast.ours({ limits: { openStreamTimeoutMs: 600_000 } })
  const target = address(peer)
  const port = Number(/\/tcp\/(\d+)/.exec(target)?.[1])
  relay.on('connection', (socket) => {
    const onward = connect(port, '127.0.0.1')
    sockets.push(socket, onward)
    socket.pipe(onward).pipe(socket)
  })
  relay.listen(0, '127.0.0.1')
  await once(relay, 'listening')
  const raw = await cast.raw()
  const through = target.replace(`/tcp/${port}`, `/tcp/${(relay.address() as AddressInfo).port}`)
  const stream = await openStream(await raw.dial(through))
  const late = block(1)
  await write(stream, wantlist([{ cid: rawCid(late.data) }]))
  while (peer.ledger(raw.id)?.wants.length !== 1) await new Promise((resolve) => setImmediate(resolve))
  // The wire is cut without a sign: what the peer under test sends from now on goes nowhere.
  for (const socket of sockets) {
    socket.unpipe()
    socket.pause()
  }
  // The stream that was opened when the want came is lost, and another one is needed.
  const outbound = (): Stream[] => peer.libp2p.getConnections().flatMap(({ streams }) => streams.filter(isOutbound))
  while (outbound().length === 0) await new Promise((resolve) => setImmediate(resolve))
  for (const stream of outbound()) stream.abort(new Error('lost by the test'))
  await peer.put(late.cid, late.data)
  // Time to read the block and to begin a stream that will never open.
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
  await peer.stop()
  expect(peer.stat().serve.blocksSent).toBe(0)
})
