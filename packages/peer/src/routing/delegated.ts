/** A delegated router: somebody else's server that answers, over HTTP, who has a block (`/routing/v1`). */
import { type CID, MalformedError, messageOf, readWhole } from '@shardswap/interface'
import type { Logger, PeerId } from '@libp2p/interface'
import { peerIdFromCID, peerIdFromString } from '@libp2p/peer-id'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { CID as Cid } from 'multiformats/cid'
import { RouterError } from '../errors.ts'
import type { Provider } from '../types.ts'
import { addressesPerPeerMax, delegatedAnswerBytesMax, delegatedLineBytesMax, delegatedRequestsMax } from './limits.ts'
import { Turns } from './turns.ts'
import type { Router, RouterOptions } from './types.ts'

const bitswap = 'transport-bitswap'

/** Protocols that a router must not leave out where it filters: those of whom it does not know, and Bitswap. */
const wantedProtocols = `unknown,${bitswap}`

/** Asks one router. Only reads: no server of `/routing/v1` takes announcements any more. Errors: RouterError. */
export class DelegatedRouter implements Router {
  readonly name: string
  readonly #base: string
  readonly #log: Logger
  readonly #turns = new Turns(delegatedRequestsMax)

  constructor(url: string, log: Logger) {
    this.name = new URL(url).host
    this.#base = `${url.replace(/\/+$/, '')}/routing/v1`
    this.#log = log
  }

  async *findProviders(cid: CID, options: RouterOptions): AsyncGenerator<Provider> {
    yield* this.#peers(`providers/${cid.toString()}?filter-protocols=${wantedProtocols}`, 'Providers', options)
  }

  async findPeer(peer: PeerId, options: RouterOptions): Promise<Provider | undefined> {
    for await (const found of this.#peers(`peers/${peer.toCID().toString()}`, 'Peers', options)) if (found.id.equals(peer)) return found
    return undefined
  }

  async *#peers(path: string, list: string, { signal }: RouterOptions): AsyncGenerator<Provider> {
    const done = await this.#turns.take(signal)
    const ending = new AbortController()
    try {
      const response = await this.#ask(path, AbortSignal.any([ending.signal, signal]))
      for await (const record of recordsOf(response, list)) {
        const provider = this.#providerOf(record)
        if (provider !== undefined) yield provider
      }
    } finally {
      // What is still on its way is not wanted any more.
      ending.abort()
      done()
    }
  }

  async #ask(path: string, signal: AbortSignal): Promise<Response> {
    const headers = { accept: 'application/x-ndjson, application/json;q=0.9', 'user-agent': 'shardswap' }
    let response: Response
    try {
      response = await fetch(`${this.#base}/${path}`, { signal, headers })
    } catch (error) {
      if (signal.aborted) throw signal.reason
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
      throw new RouterError(`${this.name} does not answer: ${messageOf(cause)}`, { cause: error })
    }
    // Servers of earlier days say so where they know nobody.
    if (response.ok || response.status === 404) return response
    throw new RouterError(`${this.name} answers with status ${response.status}`)
  }

  #providerOf(record: unknown): Provider | undefined {
    if (typeof record !== 'object' || record === null) return undefined
    const { ID, Addrs, Protocols, Protocol } = record as Record<string, unknown>
    const protocols = Array.isArray(Protocols) ? (Protocols as readonly unknown[]) : Protocol === undefined ? [] : [Protocol]
    if (protocols.length > 0 && !protocols.includes(bitswap)) return undefined
    try {
      if (typeof ID !== 'string') return undefined
      return { id: peerIdOf(ID), multiaddrs: Array.isArray(Addrs) ? addressesOf(Addrs as readonly unknown[]) : [] }
    } catch (error) {
      this.#log('%s names what is no peer - %e', this.name, error)
      return undefined
    }
  }
}

function peerIdOf(text: string): PeerId {
  return /^(12D3|16U|Qm|1)/.test(text) ? peerIdFromString(text) : peerIdFromCID(Cid.parse<string, unknown, 0x72, 0x00 | 0x12, 1>(text))
}

function addressesOf(texts: readonly unknown[]): Multiaddr[] {
  return texts.slice(0, addressesPerPeerMax).flatMap((text) => {
    try {
      return typeof text === 'string' ? [multiaddr(text)] : []
    } catch {
      // Of a kind that this version does not know.
      return []
    }
  })
}

async function* recordsOf(response: Response, list: string): AsyncGenerator {
  if (response.status === 404 || response.body === null) return
  const body = bounded(response.body)
  if (response.headers.get('content-type')?.startsWith('application/x-ndjson') === true) {
    for await (const line of linesOf(body)) yield jsonOf(line)
    return
  }
  const bytes = await readWhole(body, () => undefined)
  const answer = jsonOf(new TextDecoder().decode(bytes))
  const records = typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>)[list] : undefined
  if (Array.isArray(records)) yield* records as readonly unknown[]
}

async function* bounded(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let sum = 0
  for await (const bytes of body) {
    sum += bytes.byteLength
    if (sum > delegatedAnswerBytesMax) throw new RouterError(`the answer is longer than ${delegatedAnswerBytesMax} bytes`)
    yield bytes
  }
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > delegatedLineBytesMax) throw new RouterError(`a line of the answer is longer than ${delegatedLineBytesMax} bytes`)
    for (const line of lines) if (line.trim() !== '') yield line
  }
  if (rest.trim() !== '') yield rest
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new MalformedError(`the router's answer is not JSON: ${messageOf(error)}`)
  }
}
