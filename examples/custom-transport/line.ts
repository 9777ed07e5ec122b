import { once } from 'node:events'
import type { Socket } from 'node:net'
import { type DecodedMessage, decodeMessage, encodeMessages, FrameDecoder, type OutgoingMessage } from '@shardswap/protocol'

/** One TCP connection to a peer, with Bitswap messages on it: each behind its length, in both directions. */
export class Line {
  readonly #socket: Socket

  constructor(socket: Socket) {
    this.#socket = socket
    // Its end is told by `close`, which follows.
    socket.on('error', () => socket.destroy())
  }

  /** Calls back with each message and its bytes, then once more when the line is dead. Rubbish ends it. */
  read(onMessage: (message: DecodedMessage, bytes: number) => void, onClose: () => void): void {
    const decoder = new FrameDecoder()
    this.#socket.on('data', (arrival: Buffer) => {
      try {
        decoder.push(arrival)
        for (const frame of decoder.frames()) onMessage(decodeMessage(frame), frame.byteLength)
      } catch {
        this.#socket.destroy()
      }
    })
    this.#socket.on('close', onClose)
  }

  /** Resolves once there is room for more: true, or false where the line is dead. A block that is too large for a message throws. */
  async send(message: OutgoingMessage): Promise<boolean> {
    for (const frame of encodeMessages(message, '1.2.0')) {
      if (this.#socket.destroyed) return false
      if (!this.#socket.write(frame)) await this.#room()
    }
    return !this.#socket.destroyed
  }

  async #room(): Promise<void> {
    const waited = new AbortController()
    const either = ['drain', 'close'].map(async (event) => await once(this.#socket, event, { signal: waited.signal }))
    await Promise.race(either).finally(() => waited.abort())
    await Promise.allSettled(either)
  }
}
