/** Calls to a daemon: `POST /api/v0/…`, on a connection of their own. */
import { Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http'
import { type AbortOptions, messageOf, readWhole } from '@shardswap/interface'
import type { HostPort } from '../address.ts'
import { drained } from '../drained.ts'
import { DaemonUnreachableError, errorFrom, reasonFor } from '../errors.ts'
import { replyBytesMax } from '../limits.ts'
import { streamErrorCodeTrailer, streamErrorNameTrailer, streamErrorTrailer } from '../rpc/reply.ts'
import type { ErrorShape } from '../shapes.ts'
import type { Upload } from './multipart.ts'

export type Params = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

export interface CallOptions extends AbortOptions {
  readonly upload?: Upload
}

/**
 * Makes a call; resolves once the answer begins, and throws the daemon's error where it is one.
 * Errors: those of the call itself, DaemonUnreachableError, and the signal's reason.
 */
export async function call(daemon: HostPort, command: string, params: Params, options: CallOptions = {}): Promise<IncomingMessage> {
  const { signal, upload } = options
  const query = queryText(params)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const request = httpRequest({
    host: reachableHost(daemon.host),
    port: daemon.port,
    method: 'POST',
    path: `/api/v0/${command}${query === '' ? '' : `?${query}`}`,
    headers: {
      ...(daemon.token === undefined ? {} : { Authorization: `Bearer ${daemon.token}` }),
      ...(upload === undefined ? { 'Content-Length': 0 } : { 'Content-Type': upload.contentType })
    },
    // Kept alive, for else a daemon that ends its answer early closes the connection under an upload. It is used once.
    agent
  })
  request.on('close', () => agent.destroy())
  const giveUp = (): void => void request.destroy(new Error('given up'))
  signal?.addEventListener('abort', giveUp, { once: true })
  request.on('close', () => signal?.removeEventListener('abort', giveUp))
  if (signal?.aborted === true) giveUp()
  try {
    const response = await answer(request, daemon, upload)
    if (response.statusCode !== 200) throw await failure(response)
    return response
  } catch (error) {
    request.destroy()
    throw reasonFor(error, signal)
  }
}

/** A daemon that listens on all addresses is reached at this machine's own. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}

async function answer(request: ClientRequest, daemon: HostPort, upload: Upload | undefined): Promise<IncomingMessage> {
  const answered = Promise.withResolvers<IncomingMessage>()
  request.on('response', (response) => answered.resolve(response))
  request.on('error', (error) => answered.reject(unreachable(daemon, error)))
  if (upload === undefined) {
    request.end()
    return await answered.promise
  }
  // The answer may come before the last byte has left, an error above all; a source that fails ends the call.
  void send(request, upload.bytes).catch((error: unknown) => answered.reject(error))
  return await answered.promise
}

async function send(request: ClientRequest, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const data of bytes) {
      if (request.destroyed) return
      if (!request.write(data)) await drained(request)
    }
    request.end()
  } catch (error) {
    request.destroy(new Error('the source of the upload failed', { cause: error }))
    throw error
  }
}

function unreachable(daemon: HostPort, cause: Error): Error {
  if (cause.message === 'the source of the upload failed' && cause.cause instanceof Error) return cause.cause
  const message = `the daemon at ${daemon.host}:${daemon.port} does not answer (${cause.message}): is it still running?`
  return new DaemonUnreachableError(message, { cause })
}

function queryText(params: Params): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue
    const values = Array.isArray(value) ? (value as readonly string[]) : [String(value)]
    for (const one of values) query.append(name, one)
  }
  return query.toString()
}

async function failure(response: IncomingMessage): Promise<Error> {
  const text = await readText(response)
  try {
    const shape = JSON.parse(text) as Partial<ErrorShape>
    if (typeof shape.Message === 'string') return errorFrom(shape.Message, shape.Name ?? 'Error', shape.ErrorCode ?? 'ERR_UNKNOWN')
  } catch {
    // Not JSON: not a daemon, or one that broke.
  }
  return new DaemonUnreachableError(`what answers at the daemon's address is no daemon (HTTP ${response.statusCode ?? 0})`)
}

async function readText(response: IncomingMessage): Promise<string> {
  const text = await readWhole(response as AsyncIterable<Uint8Array>, (bytes) => {
    if (bytes > replyBytesMax) throw new DaemonUnreachableError(`the answer is longer than ${replyBytesMax} bytes`)
  })
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(text)
}

/** The whole answer as one JSON document. */
export async function json<T>(response: IncomingMessage): Promise<T> {
  return JSON.parse(await readText(response)) as T
}

/** The answer's bytes; an error that the daemon met on the way is thrown at its place. */
export async function* body(response: IncomingMessage, options: AbortOptions = {}): AsyncGenerator<Uint8Array> {
  try {
    for await (const bytes of response as AsyncIterable<Uint8Array>) yield bytes
  } catch (error) {
    const why = messageOf(error)
    throw reasonFor(new DaemonUnreachableError(`the daemon broke off its answer (${why})`, { cause: error }), options.signal)
  } finally {
    response.destroy()
  }
  const trailer = (name: string): string | undefined => response.trailers[name.toLowerCase()]
  const message = trailer(streamErrorTrailer)
  if (message === undefined) return
  const error = errorFrom(message, trailer(streamErrorNameTrailer) ?? 'Error', trailer(streamErrorCodeTrailer) ?? 'ERR_UNKNOWN')
  throw reasonFor(error, options.signal)
}

/** The answer's JSON documents, one a line, as they come. */
export async function* lines<T>(response: IncomingMessage, options: AbortOptions = {}): AsyncGenerator<T> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of body(response, options)) {
    const parts = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = parts.pop() ?? ''
    if (rest.length > replyBytesMax) throw new DaemonUnreachableError(`a line of the answer is longer than ${replyBytesMax} bytes`)
    for (const line of parts) if (line.trim() !== '') yield JSON.parse(line) as T
  }
  if (rest.trim() !== '') yield JSON.parse(rest) as T
}
