/**
 * A file on two peers, and a web server on a third that streams it: `node main.ts` leaves in the middle of it, then asks
 * for the whole, for parts of it and for what there is not. `node main.ts --serve` goes on and prints an address for a player.
 */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { add } from '@shardswap/content'
import { createPeer } from '@shardswap/peer'
import { webServer } from './server.ts'

const content = new Uint8Array(8 * 1024 * 1024).map((_, index) => index % 251)
const providers = await Promise.all([createPeer(), createPeer()])
const reader = await createPeer({ limits: { giveUpMs: 5_000 } })
let root = ''
for (const provider of providers) {
  for await (const entry of add([{ path: 'film.bin', content }], provider)) root = entry.cid.toString()
  await reader.connect(provider.addresses()[0] ?? '')
}

const server = webServer(reader).listen(0, '127.0.0.1')
await once(server, 'listening')
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ipfs/`

/** Asks, reads, and says what came. */
async function ask(title: string, path: string, init: RequestInit = {}): Promise<string> {
  const response = await fetch(base + path, init)
  const body = new Uint8Array(await response.arrayBuffer())
  const from = Number(/^bytes (\d+)/.exec(response.headers.get('content-range') ?? '')?.[1] ?? 0)
  const isRight = response.ok && body.every((byte, index) => byte === (from + index) % 251)
  const told = response.headers.get('content-range') ?? response.headers.get('content-length') ?? '-'
  return `${title}: ${response.status} ${told}${response.ok ? `, ${body.byteLength} bytes ${isRight ? 'right' : 'WRONG'}` : ''}`
}

/** Begins to read the whole, leaves, and says what is still wanted from peers once the server has seen it. */
async function leave(): Promise<string> {
  const leaving = new AbortController()
  const response = await fetch(base + root, { signal: leaving.signal })
  await response.body?.getReader().read()
  leaving.abort()
  while (reader.gauges().sessions > 0) await new Promise((resolve) => setImmediate(resolve))
  return `a reader that leaves: ${reader.wantlist().length} wants stay`
}

if (process.argv.includes('--serve')) {
  console.log(`${base}${root}`)
  await once(process, 'SIGINT')
} else {
  console.log(await leave())
  const answers = await Promise.all([
    ask('the whole', root),
    ask('a part', root, { headers: { Range: 'bytes=1000000-1099999' } }),
    ask('its end', root, { headers: { Range: 'bytes=-500' } }),
    ask('behind its end', root, { headers: { Range: 'bytes=8388608-' } }),
    ask('only the head', root, { method: 'HEAD' }),
    ask('a write', root, { method: 'POST' }),
    ask('no CID', 'film.bin'),
    ask('a bad escape', '%ff'),
    ask('a block that nobody has', 'bafkreibm6jg3ux5qumhcn2b3flc3tyu6dmlb4xa7u5bf44yegnrjhc4yeq')
  ])
  for (const answer of answers) console.log(answer)
}

server.closeAllConnections()
server.close()
await Promise.all([...providers, reader].map((peer) => peer.stop()))
