/** A server of `/routing/v1`, as the specification of delegated routing has it, on a free port. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Peer } from '../../src/index.ts'

export interface PeerRecord {
  readonly Schema: 'peer'
  readonly ID: string
  readonly Addrs: readonly string[]
  readonly Protocols?: readonly string[]
}

export interface RouterServer {
  readonly url: string
  /** Paths asked for, in their order. */
  readonly asked: readonly string[]
  /** Requests whose client has gone before the answer's end. */
  readonly givenUp: () => number
}

export type Answer = (response: ServerResponse, request: IncomingMessage) => void

export async function startRouter(answer: Answer): Promise<RouterServer> {
  const asked: string[] = []
  let givenUp = 0
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.on('close', () => {
      if (!response.writableFinished) givenUp++
    })
    answer(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, givenUp: () => givenUp }
}

export function recordOf(peer: Peer, more: Partial<PeerRecord> = {}): PeerRecord {
  const Addrs = peer.addresses().map((address) => address.replace(/\/p2p\/[^/]+$/, ''))
  return { Schema: 'peer', ID: peer.peerId.toString(), Addrs, Protocols: ['transport-bitswap'], ...more }
}

/** All records in one document. */
export function asJson(list: 'Providers' | 'Peers', ...records: readonly unknown[]): Answer {
  return (response) => {
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ [list]: records }))
  }
}

/** One record a line, as they come. */
export function asLines(...records: readonly unknown[]): Answer {
  return (response) => {
    response.setHeader('Content-Type', 'application/x-ndjson')
    response.end(records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  }
}
