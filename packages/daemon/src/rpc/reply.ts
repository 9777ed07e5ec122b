/** What a call answers, and how it is written to HTTP. */
import type { ServerResponse } from 'node:http'
import { InvalidCidError, InvalidParametersError, TooLargeError } from '@shardswap/interface'
import { drained } from '../drained.ts'
import { describeError } from '../errors.ts'
import type { ErrorShape } from '../shapes.ts'

export type Reply =
  /** One JSON document. */
  | { readonly kind: 'json'; readonly value: object }
  /** JSON documents, one a line, as they come. */
  | { readonly kind: 'lines'; readonly lines: AsyncIterable<object> }
  | {
      readonly kind: 'bytes'
      readonly bytes: AsyncIterable<Uint8Array>
      readonly contentType: string
      /** How many bytes, where that is known once the first ones are there. */
      readonly size?: () => bigint | undefined
    }
  | { readonly kind: 'empty' }

/** Trailer that carries an error which came after the first byte; Kubo's clients read the first one. */
export const streamErrorTrailer = 'X-Stream-Error'
export const streamErrorNameTrailer = 'X-Stream-Error-Name'
export const streamErrorCodeTrailer = 'X-Stream-Error-Code'

/** The body of a failed call; the command prints the same with `--json`. */
export function errorShape(error: unknown): ErrorShape {
  const { message, name, code } = describeError(error)
  return { Message: message, Code: isCallersMistake(error) ? 1 : 0, Type: 'error', Name: name, ErrorCode: code }
}

/** Whether a call failed by what its caller asked for. */
export function isCallersMistake(error: unknown): boolean {
  return error instanceof InvalidParametersError || error instanceof InvalidCidError || error instanceof TooLargeError
}

/**
 * Answers with an error, unless the answer has begun: then the trailer tells, and the body ends.
 * An answer of its own is whole by its length, and left open: its connection may still bring the request's body.
 */
export function writeError(response: ServerResponse, error: unknown, status?: number): void {
  if (response.destroyed || response.writableEnded) return
  if (response.headersSent) {
    const { message, name, code } = describeError(error)
    response.addTrailers({
      [streamErrorTrailer]: headerText(message),
      [streamErrorNameTrailer]: headerText(name),
      [streamErrorCodeTrailer]: headerText(code)
    })
    response.end()
    return
  }
  const body = `${JSON.stringify(errorShape(error))}\n`
  response.writeHead(status ?? (isCallersMistake(error) ? 400 : 500), {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body)
  })
  response.write(body)
}

/** Writes a reply. Errors of a stream before its first item are thrown, so that they get a status of their own. */
export async function writeReply(response: ServerResponse, reply: Reply): Promise<void> {
  switch (reply.kind) {
    case 'empty':
      response.writeHead(200, { 'Content-Type': 'text/plain' })
      response.end()
      return
    case 'json':
      response.writeHead(200, { 'Content-Type': 'application/json' })
      response.end(`${JSON.stringify(reply.value)}\n`)
      return
    case 'lines':
      await writeStream(response, encodeLines(reply.lines), () => ({ 'Content-Type': 'application/json', 'X-Chunked-Output': '1' }))
      return
    case 'bytes':
      await writeStream(response, reply.bytes, () => bytesHeaders(reply.contentType, reply.size?.()))
  }
}

/** Kubo's name for the size; a real Content-Length would leave no room for the trailers. */
export const sizeHeader = 'X-Content-Length'

function bytesHeaders(contentType: string, size: bigint | undefined): Record<string, string> {
  // One JSON document that is written bit by bit is none the less a document, not a stream of bytes.
  const headers = { 'Content-Type': contentType, ...(contentType === 'application/json' ? {} : { 'X-Stream-Output': '1' }) }
  return size === undefined ? headers : { ...headers, [sizeHeader]: size.toString() }
}

async function* encodeLines(lines: AsyncIterable<object>): AsyncGenerator<Uint8Array> {
  for await (const line of lines) yield Buffer.from(`${JSON.stringify(line)}\n`)
}

async function writeStream(
  response: ServerResponse,
  bytes: AsyncIterable<Uint8Array>,
  headers: () => Record<string, string>
): Promise<void> {
  const iterator = bytes[Symbol.asyncIterator]()
  try {
    let next = await iterator.next()
    response.writeHead(200, {
      ...headers(),
      Trailer: `${streamErrorTrailer}, ${streamErrorNameTrailer}, ${streamErrorCodeTrailer}`,
      // Nobody may guess a page out of somebody's bytes.
      'X-Content-Type-Options': 'nosniff'
    })
    while (next.done !== true) {
      if (response.destroyed) return
      if (!response.write(next.value)) await drained(response)
      next = await iterator.next()
    }
    response.end()
  } finally {
    await iterator.return?.()
  }
}

/** Headers hold visible ASCII; the rest becomes a question mark. */
function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?')
}
