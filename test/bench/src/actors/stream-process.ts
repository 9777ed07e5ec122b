/** What libp2p alone can do on this machine: the same bytes over one stream, and its ping for the time of a round trip. */
import type { Stream } from '@libp2p/interface'
import { ping } from '@libp2p/ping'
import { multiaddr, type Multiaddr } from '@multiformats/multiaddr'
import { serveCommands } from '@shardswap-test/cluster/child'
import { createLibp2p } from 'libp2p'
import { pEvent } from 'p-event'
import { fileContent, workBytes, type Fetched } from '../work.ts'
import type { Actor } from './api.ts'
import { libp2pOptions, listenAddresses } from './libp2p-options.ts'
import { measures } from './measure.ts'

const protocol = '/shardswap-bench/bytes/1.0.0'

/** Bytes handed to the stream at once: a block's worth. */
const partBytes = 256 * 1024

const options = libp2pOptions()
const libp2p = await createLibp2p({ ...options, services: { ...options.services, ping: ping() } })

let content: Uint8Array[] = []
let provider: Multiaddr | undefined

async function sendAll(stream: Stream): Promise<void> {
  for (const megabyte of content) {
    for (let offset = 0; offset < megabyte.byteLength; offset += partBytes) {
      const room = stream.send(megabyte.subarray(offset, offset + partBytes))
      if (!room) await pEvent(stream, 'drain', { rejectionEvents: ['close'] })
    }
  }
  await stream.close()
}

await libp2p.handle(protocol, (stream) => {
  sendAll(stream).catch((error: unknown) => stream.abort(error instanceof Error ? error : new Error(String(error))))
})

function dialled(): Multiaddr {
  if (provider === undefined) throw new Error('connect first')
  return provider
}

async function readAll(): Promise<Fetched> {
  const startMs = performance.now()
  const stream = await libp2p.dialProtocol(dialled(), protocol)
  let bytes = 0
  for await (const part of stream) bytes += part.byteLength
  return { bytes, seconds: (performance.now() - startMs) / 1000 }
}

async function pingAll(times: number, warmUp: number): Promise<Fetched> {
  const latenciesMs: number[] = []
  for (let i = 0; i < times; i += 1) {
    // The service's own answer is in whole milliseconds.
    const askedMs = performance.now()
    await libp2p.services.ping.ping(dialled())
    latenciesMs.push(performance.now() - askedMs)
  }
  const timed = latenciesMs.slice(warmUp)
  return { bytes: 0, seconds: timed.reduce((sum, ms) => sum + ms, 0) / 1000, latenciesMs: timed }
}

const actor: Actor = {
  ...measures,
  addresses: async () => listenAddresses(libp2p),
  connect: async (address) => {
    provider = multiaddr(address)
    await libp2p.dial(provider)
  },
  provide: async (work) => {
    content = [...fileContent(workBytes(work))]
    return {}
  },
  fetch: async (work) =>
    work.kind === 'blocks' && work.window === 1 ? await pingAll(work.blocks, work.warmUpBlocks ?? 0) : await readAll()
}

serveCommands(actor, async () => {
  await libp2p.stop()
})
