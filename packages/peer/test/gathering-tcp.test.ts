import { createServer, type AddressInfo, type Server, Socket } from 'node:net'
import type { Connection, MultiaddrConnection, Upgrader } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import { multiaddr } from '@multiformats/multiaddr'
import { afterEach, describe, expect, it } from 'vitest'
import { gatheredBytesMax, gatheringTcp } from '../src/network/gathering-tcp.ts'

/** What the far end of a dialled connection received, and the connection as an upgrader gets it. */
interface Dialled {
  readonly connection: MultiaddrConnection
  readonly socket: Socket
  readonly received: Buffer[]
  readonly far: Socket
}

const servers: Server[] = []
const sockets: Socket[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await Promise.all(servers.splice(0).map(async (server) => await new Promise((resolve) => server.close(resolve))))
})

async function dial(): Promise<Dialled> {
  const received: Buffer[] = []
  const accepted = Promise.withResolvers<Socket>()
  const server = createServer((far) => {
    sockets.push(far)
    accepted.resolve(far)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  let connection: MultiaddrConnection | undefined
  const upgrader = {
    upgradeOutbound: async (raw: MultiaddrConnection) => {
      connection = raw
      return {} as Connection
    }
  } as unknown as Upgrader
  const transport = gatheringTcp()({ logger: defaultLogger() })
  await transport.dial(multiaddr(`/ip4/127.0.0.1/tcp/${port}`), { upgrader, signal: AbortSignal.timeout(60_000) })
  const socket = connection !== undefined && 'socket' in connection ? connection.socket : undefined
  if (connection === undefined || !(socket instanceof Socket)) throw new Error('the upgrader got no TCP connection')
  sockets.push(socket)
  const far = await accepted.promise
  far.on('data', (bytes) => received.push(bytes))
  return { connection, socket, received, far }
}

async function until(isDone: () => boolean): Promise<void> {
  while (!isDone()) await new Promise((resolve) => setImmediate(resolve))
}

function bytesIn(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.byteLength, 0)
}

describe('gathered writes', () => {
  it('leave at the end of the turn, all at once', async () => {
    const { connection, socket, received } = await dial()
    for (const part of ['two', ' or ', 'three']) connection.send(Buffer.from(part))
    expect(socket.writableLength).toBe(12)
    await until(() => bytesIn(received) === 12)
    expect(received.map(String)).toEqual(['two or three'])
    expect(socket.writableCorked).toBe(0)
  })

  it('leave at once where they are many', async () => {
    const { connection, socket, received } = await dial()
    connection.send(new Uint8Array(100))
    connection.send(new Uint8Array(gatheredBytesMax))
    expect(socket.writableCorked).toBe(0)
    await until(() => bytesIn(received) === gatheredBytesMax + 100)
  })

  it('wait for a reader that is behind, and go on when it has read', async () => {
    const { connection, received, far } = await dial()
    far.pause()
    const drained = new Promise<void>((resolve) => connection.addEventListener('drain', () => resolve(), { once: true }))
    let sent = 0
    let canSendMore = true
    for (; canSendMore; sent++) canSendMore = connection.send(new Uint8Array(60_000).fill(sent))
    far.resume()
    await drained
    await until(() => bytesIn(received) === sent * 60_000)
    const all = Buffer.concat(received)
    for (let index = 0; index < sent; index++) expect(all[index * 60_000 + 59_999]).toBe(index % 256)
  })

  it('of a connection that ends meanwhile are flushed by an orderly end', async () => {
    const { connection, received } = await dial()
    connection.send(Buffer.from('the last words'))
    await connection.close()
    await until(() => bytesIn(received) === 14)
    expect(Buffer.concat(received).toString()).toBe('the last words')
  })
})
