import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Relay, startRelay, type LinkInit, type OpenLink, type RelayApi, type RelayProcess } from '../src/index.ts'

const mebi = 1024 * 1024

/** Bytes that differ at every place: what is lost or changes places shows. */
const content = Buffer.concat(Array.from({ length: (4 * mebi) / 32 }, (_, index) => createHash('sha256').update(`${index}`).digest()))

const stops: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

/** A server whose connections `onSocket` serves; gives its address. */
async function listen(onSocket: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket.on('error', () => undefined))
    onSocket(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stops.push(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return `/ip4/127.0.0.1/tcp/${(server.address() as AddressInfo).port}`
}

async function echo(): Promise<string> {
  return await listen((socket) => socket.pipe(socket))
}

function dial({ address }: OpenLink): Socket {
  const socket = connect({ host: '127.0.0.1', port: Number(address.split('/')[4]), allowHalfOpen: true })
  stops.push(async () => socket.destroy())
  return socket.on('error', () => undefined)
}

// `once` would reject for a reset.
async function closed(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  socket.once('close', () => resolve())
  await promise
}

async function next(socket: Socket): Promise<string> {
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  return bytes.toString()
}

describe.each([
  { where: 'in this process', start: async () => new Relay() },
  { where: 'in its own process', start: startRelay }
])('a relay $where', ({ start }) => {
  let relay: RelayApi & Pick<RelayProcess, 'stop'>

  beforeEach(async () => {
    relay = await start()
    stops.push(async () => await relay.stop())
  })

  const open = async (init: Omit<LinkInit, 'target'>): Promise<OpenLink> => await relay.open({ target: await echo(), ...init })

  it.each([
    { name: 'without a limit', shape: {} },
    { name: 'with delay and jitter', shape: { delayMs: 5, jitterMs: 10 } },
    { name: 'with a rate', shape: { bytesPerS: 16 * mebi } },
    { name: 'where it may hold little', shape: { delayMs: 1, heldBytesMax: 100_000 } }
  ])('passes all bytes in order $name, and the end behind them', async ({ shape }) => {
    const link = await open({ toTarget: shape, fromTarget: shape })
    const socket = dial(link)
    socket.end(content)
    const got = await buffer(socket)
    expect(got.equals(content)).toBe(true)
    const all = { inBytes: content.byteLength, outBytes: content.byteLength, swallowedBytes: 0, lostBytes: 0 }
    expect(await relay.stats(link.id)).toMatchObject({ connections: 1, toTarget: all, fromTarget: all })
  })

  it('delays each direction by its own time', async () => {
    const link = await open({ toTarget: { delayMs: 80 }, fromTarget: { delayMs: 40 } })
    const socket = dial(link)
    await once(socket, 'connect')
    const startMs = performance.now()
    socket.write('there and back')
    expect(await next(socket)).toBe('there and back')
    // Two clocks that are rounded differently; how late it may be, a busy machine says.
    expect(performance.now() - startMs).toBeGreaterThan(119)
  })

  it('bounds what a sender can give it', async () => {
    const held = 256 * 1024
    const target = await listen((socket) => socket.pause())
    const link = await relay.open({ target, toTarget: { heldBytesMax: held } })
    await relay.stall(link.id, true, 'toTarget')
    const socket = dial(link)
    socket.write(Buffer.alloc(32 * mebi))
    let inBytes = 0
    for (let seen = -1; inBytes < held || inBytes > seen;) {
      seen = inBytes
      await new Promise((resolve) => setTimeout(resolve, 50))
      ;({ inBytes } = (await relay.stats(link.id)).toTarget)
    }
    // What the stream has read ahead of its pause comes on top.
    expect(inBytes).toBeLessThanOrEqual(held + 256 * 1024)
  })

  it('stalls and goes on', async () => {
    const link = await open({})
    const socket = dial(link)
    socket.write('a')
    expect(await next(socket)).toBe('a')
    await relay.stall(link.id, true, 'fromTarget')
    socket.write('b')
    await expect.poll(async () => (await relay.stats(link.id)).fromTarget.inBytes).toBe(2)
    expect((await relay.stats(link.id)).fromTarget.outBytes).toBe(1)
    const answer = next(socket)
    await relay.stall(link.id, false)
    expect(await answer).toBe('b')
  })

  it('stalls connections that come while it does', async () => {
    const link = await open({})
    await relay.stall(link.id, true)
    const socket = dial(link)
    socket.write('late')
    await expect.poll(async () => (await relay.stats(link.id)).toTarget.inBytes).toBe(4)
    const answer = next(socket)
    await relay.stall(link.id, false)
    expect(await answer).toBe('late')
  })

  it('cuts, refuses, and takes connections again', async () => {
    const link = await open({ toTarget: { delayMs: 1000 } })
    const first = dial(link)
    first.write('on its way')
    await expect.poll(async () => (await relay.stats(link.id)).toTarget.inBytes).toBe(10)
    const ended = closed(first)
    await relay.cut(link.id)
    await ended
    const turnedAway = dial(link)
    await closed(turnedAway)
    expect(await relay.stats(link.id)).toMatchObject({ connections: 1, open: 0, refused: 1, toTarget: { outBytes: 0, lostBytes: 10 } })
    await relay.mend(link.id)
    await relay.reshape(link.id, { toTarget: { delayMs: 0 } })
    const again = dial(link)
    again.write('hello')
    expect(await next(again)).toBe('hello')
    expect(await relay.stats(link.id)).toMatchObject({ connections: 2, open: 1 })
  })

  it('swallows bytes', async () => {
    const link = await open({})
    const socket = dial(link)
    await relay.swallow(link.id, true, 'toTarget')
    socket.write('gone')
    await expect.poll(async () => (await relay.stats(link.id)).toTarget.swallowedBytes).toBe(4)
    await relay.swallow(link.id, false)
    socket.write('here')
    expect(await next(socket)).toBe('here')
  })

  it('takes another shape', async () => {
    const link = await open({ fromTarget: { delayMs: 3_600_000 } })
    const socket = dial(link)
    await relay.reshape(link.id, { fromTarget: { delayMs: 0 } })
    socket.write('soon')
    expect(await next(socket)).toBe('soon')
  })

  it('shares a line among links', async () => {
    await relay.share('uplink', 8 * mebi)
    const target = await echo()
    const links = [
      await relay.open({ target, shared: { fromTarget: 'uplink' } }),
      await relay.open({ target, shared: { fromTarget: 'uplink' } })
    ]
    const startMs = performance.now()
    await Promise.all(
      links.map(async (link) => {
        const socket = dial(link)
        socket.end(content.subarray(0, 2 * mebi))
        expect((await buffer(socket)).byteLength).toBe(2 * mebi)
      })
    )
    expect(performance.now() - startMs).toBeGreaterThan(499)
    await relay.share('uplink', 1000 * mebi)
  })

  it('passes on that the target has reset, behind its last bytes', async () => {
    const target = await listen((socket) => {
      socket.write('last', () => setTimeout(() => socket.resetAndDestroy(), 50))
    })
    const link = await relay.open({ target, fromTarget: { delayMs: 200 } })
    const socket = dial(link)
    const ended = closed(socket)
    expect(await next(socket)).toBe('last')
    await ended
    // Its own end of the connection is over a moment after ours.
    await expect.poll(async () => (await relay.stats(link.id)).open).toBe(0)
  })

  it('ends connections whose target is not there', async () => {
    const target = await echo()
    await stops.pop()?.()
    const link = await relay.open({ target })
    await closed(dial(link))
    await expect.poll(async () => (await relay.stats(link.id)).open).toBe(0)
  })

  it('refuses what makes no sense', async () => {
    const target = '/ip4/127.0.0.1/tcp/1'
    await expect(relay.open({ target: '/dns4/example/tcp/1' })).rejects.toThrow('no TCP address')
    await expect(relay.open({ target, toTarget: { bytesPerS: 0 } })).rejects.toThrow('no shape')
    await expect(relay.open({ target, shared: { toTarget: 'nobody' } })).rejects.toThrow('no shared line nobody')
    await expect(relay.share('none', 0)).rejects.toThrow('no rate')
    await expect(relay.cut(99)).rejects.toThrow('no link 99')
  })
})

describe('an address behind a relay', () => {
  it('keeps the peer that the target names', async () => {
    const relay = new Relay()
    stops.push(async () => await relay.stop())
    const { address } = await relay.open({ target: '/ip4/127.0.0.1/tcp/1/p2p/12D3KooW' })
    expect(address).toMatch(/^\/ip4\/127\.0\.0\.1\/tcp\/\d+\/p2p\/12D3KooW$/)
  })
})
