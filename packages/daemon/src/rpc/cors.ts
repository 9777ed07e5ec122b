/** What a browser wants to hear before a page of another origin, named in `api.origins`, may call and read. */
import type { ServerResponse } from 'node:http'
import { sizeHeader, streamErrorCodeTrailer, streamErrorNameTrailer, streamErrorTrailer } from './reply.ts'

const exposed = [sizeHeader, 'X-Stream-Output', 'X-Chunked-Output', streamErrorTrailer, streamErrorNameTrailer, streamErrorCodeTrailer]

/** Says that pages of `origin` may read the answer. */
export function allowOrigin(response: ServerResponse, origin: string): void {
  response.setHeader('Access-Control-Allow-Origin', origin)
  response.setHeader('Access-Control-Expose-Headers', exposed.join(', '))
  response.setHeader('Vary', 'Origin')
}

/** Answers the question that a browser asks before a call. It carries no token yet. */
export function answerPreflight(response: ServerResponse, origin: string): void {
  allowOrigin(response, origin)
  response.setHeader('Access-Control-Allow-Methods', 'POST')
  response.setHeader('Access-Control-Allow-Headers', 'Authorization, Content-Type')
  response.setHeader('Access-Control-Max-Age', '600')
  response.writeHead(204)
  response.end()
}
