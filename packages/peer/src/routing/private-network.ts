/** Keeps peers of other networks out: what is said on a connection is enciphered with the network's key. */
import type { AbortOptions, ComponentLogger, ConnectionProtector, MultiaddrConnection } from '@libp2p/interface'
import { preSharedKey } from '@libp2p/pnet'
import { PrivateNetworkError } from '../errors.ts'
import { nonceTimeoutMs } from './limits.ts'
import { parseSwarmKey, swarmKeyText } from './swarm-key.ts'

/** What both ends say first, as soon as the line is enciphered: that they choose a protocol by multistream-select 1. */
const greeting = new TextEncoder().encode('\x13/multistream/1.0.0\n')

/** The parts of libp2p's connections that their interface does not show. */
interface ReadingConnection {
  onData(data: Bytes): void
  onRemoteReset(): void
  readonly readBuffer: Bytes
}

interface Bytes {
  readonly byteLength: number
  subarray(from?: number, to?: number): Uint8Array
}

function isReading(connection: MultiaddrConnection | ReadingConnection): connection is MultiaddrConnection & ReadingConnection {
  return 'onData' in connection && 'onRemoteReset' in connection && 'readBuffer' in connection
}

/**
 * Ends a connection whose other end does not begin as a peer with the same key
 * does. Without that it would stay until a time-out: deciphered with another
 * key the first byte is as likely as not the length of a message that never comes.
 * A connection that ends before it began says so too: then it was the other end that noticed.
 */
function checked<T extends MultiaddrConnection>(connection: T): T {
  if (!isReading(connection)) return connection
  const where = connection.remoteAddr.toString()
  let seen = 0
  const onData = connection.onData.bind(connection)
  const abort = connection.abort.bind(connection)
  const send = connection.send.bind(connection)
  const onRemoteReset = connection.onRemoteReset.bind(connection)
  let refusal: Error | undefined
  const refuse = (words: string, cause?: Error): void => {
    refusal = new PrivateNetworkError(`the peer at ${where} ${words}`, { cause })
    abort(refusal)
  }
  const take = (data: Bytes): boolean => {
    const next = data.subarray(0, Math.min(data.byteLength, greeting.byteLength - seen))
    const isRight = next.every((byte, at) => byte === greeting[seen + at])
    seen += next.byteLength
    if (!isRight) refuse('is not on this private network: it has another swarm.key')
    return isRight
  }
  connection.onData = (data) => {
    if (seen >= greeting.byteLength || take(data)) onData(data)
  }
  connection.abort = (error) => {
    if (seen < greeting.byteLength && !isGivenUp(error)) refuse(unbegun, error)
    else abort(error)
  }
  connection.onRemoteReset = () => {
    if (seen < greeting.byteLength) refuse(unbegun)
    else onRemoteReset()
  }
  // Whoever writes to what was refused learns why, and not only that it is closed.
  connection.send = (data) => {
    if (refusal !== undefined) throw refusal
    return send(data)
  }
  // It may have spoken before we could listen.
  if (connection.readBuffer.byteLength > 0) take(connection.readBuffer)
  return connection
}

const unbegun = 'ended the connection before it began: it may have another swarm.key, or none'

function isGivenUp(error: Error): boolean {
  return error.name === 'AbortError' || error.name === 'TimeoutError'
}

/** Lets only peers connect that have this `swarm.key`. Errors: SwarmKeyError. */
export function privateNetwork(swarmKey: string | Uint8Array): (components: { logger: ComponentLogger }) => ConnectionProtector {
  const psk = swarmKeyText(parseSwarmKey(swarmKey))
  return () => {
    const inner = preSharedKey({ psk })()
    const protect = async (connection: MultiaddrConnection, options?: AbortOptions): Promise<MultiaddrConnection> => {
      const late = AbortSignal.timeout(nonceTimeoutMs)
      const signal = options?.signal === undefined ? late : AbortSignal.any([options.signal, late])
      try {
        // What it gives is a connection, as its types should say.
        return checked((await inner.protect(connection, { signal })) as MultiaddrConnection)
      } catch (error) {
        const where = connection.remoteAddr.toString()
        throw new PrivateNetworkError(`the peer at ${where} does not begin as one of a private network: it has no swarm.key`, {
          cause: error
        })
      }
    }
    return { protect }
  }
}
