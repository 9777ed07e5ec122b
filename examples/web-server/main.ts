/**
 * A file on two peers, and a web server on a third that streams it: `node main.ts` asks it for the whole, for parts of it
 * and for what it does not have, and leaves once in the middle. `node main.ts --serve` goes on and prints an address for a player.
 */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { add } from '@shardswap/content'
import { createPeer } from '@shardswap/peer'
import { webServer } from './server.ts'

const content = new Uint8Array(8 * 1024 * 1024).map((_, index) => index % 251)
const providers = await Promise.all([createPeer(), createPeer()])
const reader = await createPeer({ limits: { giveUpMs: 2_000 } })
let root = ''
for (const provider of providers) {
  for await (const entry of add([{ path: 'film.bin', content }], provider)) root = entry.cid.toString()
  await reader.connect(provider.addresses()[0] ?? '')
}

const server = webServer(reader).listen(0, '127.0.0.1')
await once(server, 'listening')
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ipfs/`

/** Asks, reads, and tells what came. */
async function ask(title: string, path: string, init: RequestInit = {}): Promise<void> {
  const response = await fetch(base + path, init)
  const body = new Uint8Array(await response.arrayBuffer())
  const from = Number(/^bytes (\d+)/.exec(response.headers.get('content-range') ?? '')?.[1] ?? 0)
  const isRight = response.ok && body.every((byte, index) => byte === (from + index) % 251)
  const told = response.headers.get('content-range') ?? response.headers.get('content-length') ?? '-'
  console.log(`${title}: ${response.status} ${told}${response.ok ? `, ${body.byteLength} bytes ${isRight ? 'right' : 'WRONG'}` : ''}`)
}

if (process.argv.includes('--serve')) {
  console.log(`${base}${root}`)
  await once(process, 'SIGINT')
} else {
  await ask('a part', root, { headers: { Range: 'bytes=1000000-1099999' } })
  await ask('its end', root, { headers: { Range: 'bytes=-500' } })
  await ask('behind its end', root, { headers: { Range: 'bytes=8388608-' } })
  await ask('only the head', root, { method: 'HEAD' })
  await ask('a write', root, { method: 'POST' })
  await ask('no CID', 'film.bin')
  await ask('a block that nobody has', 'bafkreibm6jg3ux5qumhcn2b3flc3tyu6dmlb4xa7u5bf44yegnrjhc4yeq')
  const leaving = new AbortController()
  const cut = await fetch(base + root, { signal: leaving.signal })
  await cut.body?.getReader().read()
  leaving.abort()
  while (reader.gauges().sessions > 0) await new Promise((resolve) => setImmediate(resolve))
  console.log(`a reader that leaves: ${reader.wantlist().length} wants stay`)
  await ask('the whole', root)
}

server.closeAllConnections()
server.close()
await Promise.all([...providers, reader].map((peer) => peer.stop()))
