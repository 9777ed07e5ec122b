import { asError, MalformedError } from '@shardswap/interface'
import { encodeFrame, FrameDecoder } from '@shardswap/protocol'
import type { Connection, Stream } from '@libp2p/interface'

/**
 * The one frame that a stream is to bring: a length, then so many bytes. Rejects where it is longer than
 * `bytesMax`, malformed, broken off or not here by the time that the signal ends; the stream is the caller's to end.
 * To be called as soon as there is a stream, for its end is told once.
 */
export async function readFrame(stream: Stream, bytesMax: number, signal: AbortSignal): Promise<Uint8Array> {
  signal.throwIfAborted()
  const decoder = new FrameDecoder({ messageBytesMax: bytesMax })
  const answered = Promise.withResolvers<Uint8Array>()
  const onMessage = (event: { data: Uint8Array | Iterable<Uint8Array> }): void => {
    decoder.push(event.data)
    try {
      for (const frame of decoder.frames()) answered.resolve(frame)
    } catch (error) {
      answered.reject(asError(error))
    }
  }
  const onEnd = (): void => answered.reject(new MalformedError('the stream ended before its message did'))
  /** A reset ends it at once; after an orderly end what is buffered is still handed out, until `end`. */
  const onClose = (event: { error?: Error | undefined }): void => {
    if (event.error !== undefined || stream.readableEnded) onEnd()
  }
  const onAbort = (): void => answered.reject(asError(signal.reason))
  signal.addEventListener('abort', onAbort)
  stream.addEventListener('close', onClose)
  stream.addEventListener('end', onEnd)
  // Last, for what arrived before is handed out as soon as somebody listens.
  stream.addEventListener('message', onMessage)
  try {
    return await answered.promise
  } finally {
    signal.removeEventListener('abort', onAbort)
    stream.removeEventListener('message', onMessage)
    stream.removeEventListener('close', onClose)
    stream.removeEventListener('end', onEnd)
  }
}

/** Writes one frame and closes our end; resolves once the transport has it all. */
export async function sendFrame(stream: Stream, frame: Uint8Array, signal: AbortSignal): Promise<void> {
  stream.send(encodeFrame(frame))
  await stream.close({ signal })
}

/** What one exchange is by. */
export interface ExchangeInit<Answer> {
  readonly protocol: string
  /** Streams of the protocol on one connection at once. */
  readonly streamsMax: number
  readonly answerBytesMax: number
  /** What the answer says; the stream of one that it throws at is reset. */
  readonly read: (frame: Uint8Array) => Answer
}

/** Sends one frame on a stream of its own, and reads the one that answers it. Rejects as `readFrame` does, or where no stream can be had. */
export async function exchangeFrames<Answer>(
  connection: Connection,
  frame: Uint8Array,
  init: ExchangeInit<Answer>,
  signal: AbortSignal
): Promise<Answer> {
  const stream = await connection.newStream(init.protocol, { signal, maxOutboundStreams: init.streamsMax })
  try {
    const answer = readFrame(stream, init.answerBytesMax, signal)
    await Promise.all([answer, sendFrame(stream, frame, signal)])
    return init.read(await answer)
  } catch (error) {
    stream.abort(asError(error))
    throw error
  }
}

/** Resolves once the other side has closed its end too; rejects where it does not by the time that the signal ends. */
export async function ended(stream: Stream, signal: AbortSignal): Promise<void> {
  if (stream.status !== 'open') return
  const closed = Promise.withResolvers<void>()
  const onAbort = (): void => closed.reject(asError(signal.reason))
  signal.addEventListener('abort', onAbort)
  stream.addEventListener('close', () => closed.resolve(), { once: true })
  try {
    await closed.promise
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
