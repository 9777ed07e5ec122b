import { Socket } from 'node:net'
import type { MultiaddrConnection, Transport, Upgrader } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import { isCiphered, noteArrived, spendSent } from './spent-memory.ts'

/** What is gathered leaves at once from so many bytes on: half of what one encrypted frame holds. */
export const gatheredBytesMax = 32 * 1024

/** What libp2p's TCP connections are made of, beyond what their interface shows. */
interface SocketConnection {
  readonly socket: Socket
  sendData(data: Iterable<Uint8Array>): { readonly sentBytes: number; readonly canSendMore: boolean }
}

function isSocketConnection(connection: MultiaddrConnection | SocketConnection): connection is MultiaddrConnection & SocketConnection {
  return 'socket' in connection && connection.socket instanceof Socket && 'sendData' in connection
}

/** What failed may still be on its way. */
function spendWritten(part: Uint8Array, error: Error | null | undefined): void {
  if (error === null || error === undefined) spendSent(part)
}

/**
 * Lets what is written to a TCP connection in one turn of the event loop leave by one call of the system. The
 * transport makes a call of each part, and Noise gives the two bytes of a frame's length as a part of their own: a
 * message would take four calls and as many packets, with the news of a window that Yamux sends beside it.
 * Nothing is held back beyond the turn, nor where it is more than `gatheredBytesMax`. A connection over anything but
 * a socket stays as it is.
 */
function gatherWrites<T extends MultiaddrConnection>(connection: T): T {
  if (!isSocketConnection(connection)) return connection
  const { socket } = connection
  // Before libp2p's own listener, which deciphers within the call.
  socket.prependListener('data', noteArrived)
  let release: NodeJS.Immediate | undefined
  const uncork = (): void => {
    clearImmediate(release)
    release = undefined
    socket.uncork()
  }
  connection.sendData = (data) => {
    let sentBytes = 0
    for (const part of data) {
      if (release === undefined) {
        socket.cork()
        release = setImmediate(uncork)
      }
      sentBytes += part.byteLength
      if (isCiphered(part)) socket.write(part, (error) => spendWritten(part, error))
      else socket.write(part)
      if (socket.writableLength < gatheredBytesMax) continue
      uncork()
      // The system did not take all: its `drain` tells when to go on.
      if (socket.writableLength >= socket.writableHighWaterMark) return { sentBytes, canSendMore: false }
    }
    return { sentBytes, canSendMore: true }
  }
  return connection
}

/** An upgrader whose connections gather their writes. */
function gathering(upgrader: Upgrader): Upgrader {
  return {
    upgradeOutbound: async (connection, options) => await upgrader.upgradeOutbound(gatherWrites(connection), options),
    upgradeInbound: async (connection, options) => await upgrader.upgradeInbound(gatherWrites(connection), options),
    createInboundAbortSignal: (signal) => upgrader.createInboundAbortSignal(signal),
    getConnectionEncrypters: () => upgrader.getConnectionEncrypters(),
    getStreamMuxers: () => upgrader.getStreamMuxers()
  }
}

/** libp2p's TCP transport, with writes gathered as `gatherWrites` says. */
export function gatheringTcp(): (...components: Parameters<ReturnType<typeof tcp>>) => Transport {
  const make = tcp()
  return (...components) => {
    const transport = make(...components)
    const dial = transport.dial.bind(transport)
    const createListener = transport.createListener.bind(transport)
    transport.dial = async (address, options) => await dial(address, { ...options, upgrader: gathering(options.upgrader) })
    transport.createListener = (options) => createListener({ ...options, upgrader: gathering(options.upgrader) })
    return transport
  }
}
