/**
 * Keeps peers of other networks out: what is said on a connection is enciphered with the network's key, as libp2p's
 * specification of private networks has it. `@libp2p/pnet` does the same with a cipher (xsalsa20 1.2) whose memory grows with each call
 * once more than 600 KiB were enciphered in one, or 5,000 connections were made, until it throws and ends the process.
 */
import { randomBytes } from 'node:crypto'
import type { AbortOptions, ConnectionProtector, MultiaddrConnection } from '@libp2p/interface'
import { AbstractMultiaddrConnection, byteStream } from '@libp2p/utils'
import type { Uint8ArrayList } from 'uint8arraylist'
import { PrivateNetworkError } from '../errors.ts'
import { StreamCipher } from './cipher.ts'
import { nonceTimeoutMs } from './limits.ts'
import { parseSwarmKey } from './swarm-key.ts'

const nonceBytes = 24

/** What both ends say first, as soon as the line is enciphered: that they choose a protocol by multistream-select 1. */
const greeting = new TextEncoder().encode('\x13/multistream/1.0.0\n')

interface PrivateConnectionInit {
  readonly inner: MultiaddrConnection
  /** Enciphers what is sent. */
  readonly out: StreamCipher
  /** Deciphers what arrives. */
  readonly in: StreamCipher
}

/**
 * A connection over which only those with the same key understand each other. It
 * ends where the other end does not begin as a peer with that key
 * does. Without that it would stay until a time-out: deciphered with another
 * key the first byte is as likely as not the length of a message that never comes.
 * One that ends before it began says so too: then it was the other end that noticed.
 */
class PrivateConnection extends AbstractMultiaddrConnection {
  readonly #inner: MultiaddrConnection
  readonly #out: StreamCipher
  readonly #in: StreamCipher
  /** Bytes of the other end's greeting that came. */
  #greeted = 0
  #refusal: Error | undefined

  constructor(init: PrivateConnectionInit) {
    const { inner } = init
    super({ remoteAddr: inner.remoteAddr, direction: inner.direction, log: inner.log.newScope('private') })
    this.#inner = inner
    this.#out = init.out
    this.#in = init.in
    inner.addEventListener('message', ({ data }) => {
      for (const part of data instanceof Uint8Array ? [data] : data) this.#take(this.#in.next(part))
    })
    inner.addEventListener('drain', () => this.onMuxerDrain())
    inner.addEventListener('close', ({ error, local }) => {
      const isEarly = this.#greeted < greeting.byteLength && this.status === 'open' && !isGivenUp(error)
      if (isEarly) this.#refuse('ended the connection before it began: it may have another swarm.key, or none', error)
      else if (error === undefined) this.onTransportClosed()
      else if (local === true) this.abort(error)
      else this.onRemoteReset()
    })
  }

  #take(data: Uint8Array): void {
    if (this.#greeted < greeting.byteLength) {
      const next = data.subarray(0, greeting.byteLength - this.#greeted)
      const from = this.#greeted
      this.#greeted += next.byteLength
      if (!next.every((byte, at) => byte === greeting[from + at])) {
        this.#greeted = 0
        this.#refuse('is not on this private network: it has another swarm.key')
      }
    }
    if (this.#refusal === undefined) this.onData(data)
  }

  #refuse(words: string, cause?: Error): void {
    this.#refusal ??= new PrivateNetworkError(`the peer at ${this.remoteAddr.toString()} ${words}`, { cause })
    this.abort(this.#refusal)
  }

  /** Whoever writes to what was refused learns why, and not only that it is closed. */
  override send(data: Uint8Array | Uint8ArrayList): boolean {
    if (this.#refusal !== undefined) throw this.#refusal
    return super.send(data)
  }

  sendData(data: Uint8ArrayList): { sentBytes: number; canSendMore: boolean } {
    // In one piece: a frame of Noise comes as some small parts and a large one, and each call of the cipher has its price.
    return { sentBytes: data.byteLength, canSendMore: this.#inner.send(this.#out.next(data.subarray())) }
  }

  sendReset(error: Error): void {
    this.#inner.abort(error)
  }

  sendPause(): void {
    this.#inner.pause()
  }

  sendResume(): void {
    this.#inner.resume()
  }

  async sendClose(options?: AbortOptions): Promise<void> {
    await this.#inner.close(options)
  }
}

function isGivenUp(error: Error | undefined): boolean {
  return error !== undefined && (error.name === 'AbortError' || error.name === 'TimeoutError')
}

/** Lets only peers connect that have this `swarm.key`. Errors: SwarmKeyError. */
export function privateNetwork(swarmKey: string | Uint8Array): () => ConnectionProtector {
  const key = parseSwarmKey(swarmKey)
  const protect = async (inner: MultiaddrConnection, options?: AbortOptions): Promise<MultiaddrConnection> => {
    const late = AbortSignal.timeout(nonceTimeoutMs)
    const signal = options?.signal === undefined ? late : AbortSignal.any([options.signal, late])
    const ours = new Uint8Array(randomBytes(nonceBytes))
    const bytes = byteStream(inner)
    try {
      const [theirs] = await Promise.all([bytes.read({ bytes: nonceBytes, signal }), bytes.write(ours, { signal })])
      const ciphers = { out: new StreamCipher(key, ours), in: new StreamCipher(key, theirs.slice()) }
      return new PrivateConnection({ inner: bytes.unwrap(), ...ciphers })
    } catch (error) {
      if (options?.signal?.aborted === true) throw error
      const where = inner.remoteAddr.toString()
      throw new PrivateNetworkError(`the peer at ${where} does not begin as one of a private network does: it may have no swarm.key`, {
        cause: error
      })
    }
  }
  return () => ({ protect })
}
