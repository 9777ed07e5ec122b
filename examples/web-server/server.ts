import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { cat, resolve } from '@shardswap/content'
import type { Peer, Session } from '@shardswap/peer'
import { partOf } from './range.ts'

/** How errors are told to browsers, by their names; others are faults of this server. */
const statusByError: Readonly<Record<string, number | undefined>> = {
  InvalidCidError: 400,
  URIError: 400,
  NotFoundError: 404,
  NotAFileError: 404,
  NotADirectoryError: 404,
  TimeoutError: 504
}

/** A web server that gives files by their CIDs at `/ipfs/CID/path`, whole or in part, while they arrive from the peers. */
export function webServer(peer: Peer): Server {
  return createServer((request, response) => void answer(peer, request, response))
}

async function answer(peer: Peer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // A browser that leaves ends its session, and the wants that nobody else has are cancelled at the peers. One that stays
  // waits for a block no longer than the peer's `giveUpMs` without progress: a signal of its own for each `get` would be waited for.
  const left = new AbortController()
  response.once('close', () => left.abort())
  const session = peer.createSession({ signal: left.signal })
  try {
    if (request.method === 'GET' || request.method === 'HEAD') await giveFile(session, request, response)
    else response.writeHead(405, { Allow: 'GET, HEAD' }).end()
  } catch (error) {
    const status = statusByError[error instanceof Error ? error.name : ''] ?? 500
    if (response.headersSent) response.destroy()
    else response.writeHead(status, { 'Content-Type': 'text/plain' }).end(`${String(error)}\n`)
  } finally {
    session.close()
  }
}

async function giveFile(session: Session, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = decodeURIComponent(URL.parse(request.url ?? '', 'http://localhost')?.pathname ?? '')
  const { cid, type, size } = await resolve(session, path)
  if (type !== 'file' && type !== 'raw') {
    response.writeHead(404, { 'Content-Type': 'text/plain' }).end(`${path} is no file\n`)
    return
  }
  const whole = Number(size)
  // What a CID names never changes, so it is a tag that holds for ever.
  const etag = `"${cid.toString()}"`
  const headers = { 'Accept-Ranges': 'bytes', 'Content-Type': 'application/octet-stream', ETag: etag }
  const asked = request.headers['if-range'] ?? etag
  const part = partOf(asked === etag ? request.headers.range : undefined, whole)
  if (part === 'none') {
    response.writeHead(416, { ...headers, 'Content-Range': `bytes */${whole}` }).end()
    return
  }
  const { offset, length } = part === 'all' ? { offset: 0, length: whole } : part
  const range = part === 'all' ? {} : { 'Content-Range': `bytes ${offset}-${offset + length - 1}/${whole}` }
  response.writeHead(part === 'all' ? 200 : 206, { ...headers, ...range, 'Content-Length': length })
  if (request.method === 'HEAD') response.end()
  else await pipeline(Readable.from(cat(session, path, { offset, length })), response)
}
