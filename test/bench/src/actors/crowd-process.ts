/** See crowd-api.ts. */
import type { Libp2p, Stream } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { decodeMessage, encodeMessages, FrameDecoder, protocolIds } from '@shardswap/protocol'
import { serveCommands } from '@shardswap-test/cluster/child'
import { createLibp2p } from 'libp2p'
import { CID } from 'multiformats/cid'
import type { Crowd } from './crowd-api.ts'
import { libp2pOptions } from './libp2p-options.ts'

/** One client: it asks on a stream of its own, and hears answers on those that the provider opens. */
class Client {
  readonly #libp2p: Libp2p
  readonly #open: () => Promise<Stream>
  #stream: Stream
  blocks = 0
  onBlocks: () => void = () => undefined

  private constructor(libp2p: Libp2p, open: () => Promise<Stream>, stream: Stream) {
    this.#libp2p = libp2p
    this.#open = open
    this.#stream = stream
  }

  static async connect(address: string): Promise<Client> {
    const libp2p = await createLibp2p({ ...libp2pOptions(), addresses: { listen: [] } })
    const heard: { client?: Client } = {}
    await libp2p.handle([...protocolIds], (stream) => read(stream, (blocks) => heard.client?.take(blocks)), {
      maxInboundStreams: 1024,
      maxOutboundStreams: 1024
    })
    const open = async (): Promise<Stream> => await libp2p.dialProtocol(multiaddr(address), [...protocolIds])
    heard.client = new Client(libp2p, open, await open())
    return heard.client
  }

  async ask(cids: readonly CID[]): Promise<void> {
    // A stream that says nothing for long is reset by some.
    if (this.#stream.status !== 'open') this.#stream = await this.#open()
    const entries = cids.map((cid) => ({ cid, priority: 1, cancel: false, wantType: 'block' as const, sendDontHave: false }))
    for (const frame of encodeMessages({ entries }, '1.2.0')) this.#stream.send(frame)
  }

  take(blocks: number): void {
    this.blocks += blocks
    this.onBlocks()
  }

  async stop(): Promise<void> {
    await this.#libp2p.stop()
  }
}

function read(stream: Stream, onBlocks: (blocks: number) => void): void {
  const decoder = new FrameDecoder()
  stream.addEventListener('message', ({ data }) => {
    decoder.push(data)
    for (const frame of decoder.frames()) {
      const { blocks } = decodeMessage(frame)
      if (blocks.length > 0) onBlocks(blocks.length)
    }
  })
  stream.addEventListener('remoteCloseWrite', () => void stream.close().catch(() => undefined))
}

const clients: Client[] = []

function client(index: number): Client {
  const found = clients[index]
  if (found === undefined) throw new Error(`there is no client ${index}`)
  return found
}

const crowd: Crowd = {
  connect: async (address, count) => {
    for (let i = 0; i < count; i += 1) clients.push(await Client.connect(address))
  },
  crave: async (texts) => {
    const cids = texts.map((text) => CID.parse(text))
    for (const each of clients) await each.ask(cids)
  },
  blocks: async () => clients.map((each) => each.blocks),
  want: async (index, cid, withinMs) => {
    const { promise, resolve } = Promise.withResolvers<number | undefined>()
    const asking = client(index)
    const timer = setTimeout(() => resolve(undefined), withinMs)
    const startMs = performance.now()
    asking.onBlocks = () => resolve(performance.now() - startMs)
    await asking.ask([CID.parse(cid)])
    const tookMs = await promise
    clearTimeout(timer)
    return tookMs
  }
}

serveCommands(crowd, async () => {
  await Promise.all(clients.map(async (each) => await each.stop()))
})
