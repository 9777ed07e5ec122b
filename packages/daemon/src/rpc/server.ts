/** The HTTP shell of the RPC: who may call, which handler, when to give up. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AbortError, ShardswapError, StoppedError } from '@shardswap/interface'
import { hostPort, isLoopback, tcpMultiaddr } from '../address.ts'
import { startDeadline } from '../deadline.ts'
import { ListenError, reasonFor, UnauthorizedError } from '../errors.ts'
import {
  lingerMs,
  rpcBlockBytesMax,
  rpcConnectionsMax,
  rpcHeaderBytesMax,
  rpcHeadersMs,
  rpcReadAheadBytesMax,
  rpcReadAheadBytesMin,
  rpcRequestsAheadMax
} from '../limits.ts'
import type { LocalNode } from '../local/local-node.ts'
import type { DaemonMetrics } from '../metrics/daemon-metrics.ts'
import { addHandlers } from './add.ts'
import { argsInBody } from './body-args.ts'
import { bitswapHandlers } from './bitswap.ts'
import { blockHandlers } from './block.ts'
import type { Handlers } from './call.ts'
import { commandHandlers, missingText } from './commands.ts'
import { configHandlers } from './config.ts'
import { dagHandlers } from './dag.ts'
import { allowOrigin, answerPreflight } from './cors.ts'
import { foreignOrigin, refusal } from './guard.ts'
import { inTurn } from './in-turn.ts'
import { nodeHandlers } from './node.ts'
import { pinHandlers } from './pins.ts'
import { Query } from './query.ts'
import { Gathering } from './gathering.ts'
import { ReadAhead, type ReadAheadShare } from './read-ahead.ts'
import { readHandlers } from './read.ts'
import { refsHandlers } from './refs.ts'
import { repoHandlers } from './repo.ts'
import { isCallersMistake, writeError, writeReply } from './reply.ts'
import { reportHandlers } from './report.ts'
import { scoreHandlers } from './scores.ts'
import { registrationHandlers } from './registration.ts'
import { servingHandlers } from './serving.ts'
import { statsHandlers } from './stats.ts'
import { routingHandlers } from './routing.ts'
import { swarmHandlers } from './swarm.ts'

const handlers: Handlers = {
  ...addHandlers,
  ...bitswapHandlers,
  ...blockHandlers,
  ...commandHandlers(() => Object.keys(handlers)),
  ...configHandlers,
  ...dagHandlers,
  ...nodeHandlers,
  ...pinHandlers,
  ...readHandlers,
  ...refsHandlers,
  ...repoHandlers,
  ...reportHandlers,
  ...scoreHandlers,
  ...servingHandlers,
  ...registrationHandlers,
  ...statsHandlers,
  ...routingHandlers,
  ...swarmHandlers
}

const prefix = '/api/v0/'

/** Where Kubo has them. */
const metricsPath = '/debug/metrics/prometheus'

export interface RpcServerInit {
  readonly node: LocalNode
  readonly repoPath: string
  readonly metrics: DaemonMetrics
  /** The token that callers must show; undefined: none, and the API listens on loopback only. */
  readonly token: string | undefined
  /** How long a client may take to send a request's headers, in milliseconds; `rpcHeadersMs` by default. */
  readonly headersMs?: number | undefined
  /** Origins of web pages that may call. */
  readonly origins: readonly string[]
  /** Called when a client asks the daemon to stop. */
  readonly onShutdown: () => void
}

/** A call that there is. */
interface Asked {
  readonly name: string
  readonly handler: Handlers[string]
  readonly url: URL
}

/** Serves a node at `POST /api/v0/…` on loopback. */
export class RpcServer {
  readonly #init: RpcServerInit
  readonly #server: Server
  readonly #stopping = new AbortController()
  readonly #gathering = new Gathering(rpcBlockBytesMax)
  readonly #readAhead = new ReadAhead(rpcReadAheadBytesMax, rpcReadAheadBytesMin)
  #port = 0

  constructor(init: RpcServerInit) {
    this.#init = init
    // An upload may take hours; a client that sends nothing at all is cut off by the header's timeout.
    const limits = {
      maxHeaderSize: rpcHeaderBytesMax,
      requestTimeout: 0,
      headersTimeout: init.headersMs ?? rpcHeadersMs,
      connectionsCheckingInterval: (init.headersMs ?? rpcHeadersMs) / 4
    }
    const answer = inTurn(async (request, response) => await this.#answer(request, response), rpcRequestsAheadMax)
    this.#server = createServer(limits, (request, response) => {
      // Whatever goes wrong with one request, the daemon goes on.
      answer(request, response).catch(() => response.destroy())
    })
    this.#server.maxConnections = rpcConnectionsMax
  }

  /** Binds a loopback multiaddr, port 0 for a free one; resolves to the multiaddr bound. Errors: ListenError. */
  async listen(address: string): Promise<string> {
    const { host, port } = hostPort(address)
    if (!isLoopback(host) && this.#init.token === undefined) {
      throw new ListenError(
        `the API has full power over the node: without a token (api.auth) it listens on loopback only, not on ${address}`
      )
    }
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) => {
        const why = error.code === 'EADDRINUSE' ? `port ${port} is in use by another program` : error.message
        reject(new ListenError(`cannot listen for the API on ${address}: ${why}`, { cause: error }))
      })
      this.#server.listen(port, host, resolve)
    })
    const bound = this.#server.address() as AddressInfo
    this.#port = bound.port
    return tcpMultiaddr(bound)
  }

  /** Ends every call and closes every connection. */
  async close(): Promise<void> {
    this.#stopping.abort(new StoppedError('the daemon is stopping'))
    if (!this.#server.listening) return
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    // Calls that were given up get a moment to say so.
    const force = setTimeout(() => this.#server.closeAllConnections(), lingerMs)
    this.#server.closeIdleConnections()
    await closed
    clearTimeout(force)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {})
    response.on('finish', () => endBody(request))
    const { token, origins } = this.#init
    const guard = { port: this.#port, token, origins }
    const foreign = foreignOrigin(request.headers, guard)
    if (foreign !== undefined && request.method === 'OPTIONS') {
      answerPreflight(response, foreign)
      return
    }
    const refused = refusal(request.headers, guard)
    if (foreign !== undefined) allowOrigin(response, foreign)
    if (refused !== undefined) {
      const { status, reason } = refused
      if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer')
      fail(request, response, status === 401 ? new UnauthorizedError(reason) : new RefusedError(reason), status)
      return
    }
    const url = URL.parse(request.url ?? '/', 'http://localhost')
    if (url === null) {
      fail(request, response, new UnknownCallError('the request names no call'), 400)
      return
    }
    if (url.pathname === metricsPath) {
      await this.#tellMetrics(request, response)
      return
    }
    const name = url.pathname.startsWith(prefix) ? url.pathname.slice(prefix.length).replace(/\/$/, '') : undefined
    const handler = name !== undefined && Object.hasOwn(handlers, name) ? handlers[name] : undefined
    if (name === undefined || handler === undefined) {
      fail(request, response, new UnknownCallError(missingText(url.pathname, name, Object.keys(handlers))), 404)
      return
    }
    if (request.method !== 'POST') {
      response.setHeader('Allow', 'POST')
      fail(request, response, new UnknownCallError(`method ${request.method ?? ''} is not allowed: the API takes POST`), 405)
      return
    }
    await this.#call(name, handler, url, request, response)
  }

  /** Prometheus reads with GET; who may, `refusal` has said. */
  async #tellMetrics(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'GET') {
      response.setHeader('Allow', 'GET')
      fail(request, response, new UnknownCallError(`method ${request.method ?? ''} is not allowed: metrics are read with GET`), 405)
      return
    }
    const { contentType, body } = await this.#init.metrics.text()
    response.writeHead(200, { 'Content-Type': contentType })
    response.end(body)
  }

  async #call(name: string, handler: Handlers[string], url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const ended = this.#init.metrics.calls.begin(name)
    try {
      await this.#answerCall({ name, handler, url }, request, response)
    } finally {
      ended()
    }
  }

  async #answerCall({ name, handler, url }: Asked, request: IncomingMessage, response: ServerResponse): Promise<void> {
    let timeoutMs: number | undefined
    try {
      timeoutMs = new Query(url.searchParams).timeoutMs()
    } catch (error) {
      this.#init.metrics.calls.failed(true)
      fail(request, response, error)
      return
    }
    const deadline = startDeadline(this.#stopping.signal, timeoutMs)
    response.on('close', () => deadline.abort(new AbortError('the client closed the connection')))
    const { node, repoPath, onShutdown } = this.#init
    let share: ReadAheadShare | undefined
    const readAheadBytesMax = (): number => (share ??= this.#readAhead.take()).bytes
    const shutdown = (): void => {
      response.once('finish', onShutdown)
    }
    try {
      const query = new Query(url.searchParams, await argsInBody(name, request, deadline.signal))
      const { signal } = deadline
      const reply = await handler({ node, query, request, repoPath, shutdown, readAheadBytesMax, gathering: this.#gathering, signal })
      await writeReply(response, reply)
    } catch (error) {
      const reason = reasonFor(error, deadline.signal)
      this.#init.metrics.calls.failed(isCallersMistake(reason))
      fail(request, response, reason)
    } finally {
      share?.release()
      deadline.clear()
    }
  }
}

/** A body goes on after the answer has ended: it is nobody's, and its connection is closed once its sender has had a moment. */
function endBody(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return
  const late = setTimeout(() => request.destroy(), lingerMs)
  request.once('end', () => clearTimeout(late))
  request.once('close', () => clearTimeout(late))
}

/** Answers with an error; what the client still sends is read for a moment, so that it gets to see the answer. */
function fail(request: IncomingMessage, response: ServerResponse, error: unknown, status?: number): void {
  writeError(response, error, status)
  if (request.complete || request.destroyed) {
    response.end()
    return
  }
  // Ended now, the connection would close under a client that still sends, and the answer could be lost.
  const late = setTimeout(() => request.destroy(), lingerMs)
  request.once('end', () => response.end())
  request.once('close', () => clearTimeout(late))
  request.resume()
}

class RefusedError extends ShardswapError {
  override readonly name = 'RefusedError'
  override readonly code = 'ERR_REFUSED'
}

class UnknownCallError extends ShardswapError {
  override readonly name = 'UnknownCallError'
  override readonly code = 'ERR_UNKNOWN_CALL'
}
