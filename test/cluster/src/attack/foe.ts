/** A hostile identity: libp2p and the codec, none of our exchange. */
import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { identify } from '@libp2p/identify'
import type { Connection, Libp2p, Stream } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import { multiaddr } from '@multiformats/multiaddr'
import { encodeMessages, type OutgoingMessage, protocolIds } from '@shardswap/protocol'
import { createLibp2p } from 'libp2p'
import { pEvent } from 'p-event'

export class Foe {
  readonly #libp2p: Libp2p
  readonly #connection: Connection
  #stream: Stream | undefined
  readonly #abreast: Stream[] = []

  private constructor(libp2p: Libp2p, connection: Connection) {
    this.#libp2p = libp2p
    this.#connection = connection
  }

  /** A fresh identity that is connected. Throws where the server does not let it in. */
  static async connect(address: string, { isDeaf, onBytes }: { isDeaf: boolean; onBytes: (bytes: number) => void }): Promise<Foe> {
    const libp2p = await createLibp2p({
      transports: [tcp()],
      connectionEncrypters: [noise()],
      streamMuxers: [yamux()],
      services: { identify: identify() },
      connectionMonitor: { enabled: false },
      connectionManager: { reconnectRetries: 0 }
    })
    try {
      const onStream = (stream: Stream): void => {
        if (isDeaf) stream.pause()
        else stream.addEventListener('message', ({ data }) => onBytes(data.byteLength))
      }
      await libp2p.handle([...protocolIds], onStream, { maxInboundStreams: 1024, maxOutboundStreams: 1024 })
      const connection = await libp2p.dial(multiaddr(address), { signal: AbortSignal.timeout(5000) })
      return new Foe(libp2p, connection)
    } catch (error) {
      await libp2p.stop()
      throw error
    }
  }

  /** Writes on its one stream, with back-pressure. Throws where the server reset it. */
  async send(message: OutgoingMessage): Promise<void> {
    this.#stream ??= await this.#open()
    await write(this.#stream, message)
  }

  /** Writes the message on each of so many long-lived streams, all at once. */
  async sendAbreast(message: OutgoingMessage, streams: number): Promise<void> {
    while (this.#abreast.length < streams) this.#abreast.push(await this.#open())
    await Promise.all(this.#abreast.map(async (stream) => await write(stream, message)))
  }

  /** Writes on a stream that is for this message alone, as Go does. */
  async sendAlone(message: OutgoingMessage): Promise<void> {
    const stream = await this.#open()
    await write(stream, message)
    await stream.close()
  }

  async leave(): Promise<void> {
    this.#connection.abort(new Error('it has had its turn'))
    await this.#libp2p.stop()
  }

  async #open(): Promise<Stream> {
    return await this.#connection.newStream([...protocolIds], { maxOutboundStreams: 1024, signal: AbortSignal.timeout(10_000) })
  }
}

async function write(stream: Stream, message: OutgoingMessage): Promise<void> {
  for (const frame of encodeMessages(message, '1.2.0')) {
    if (!stream.send(frame)) await pEvent(stream, 'drain', { rejectionEvents: ['close'] })
  }
}
