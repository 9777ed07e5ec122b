import { add, cat } from '@shardswap/content'
import { createPeer } from '@shardswap/peer'

// Four peers in one process, each with its own TCP port; blocks are kept in memory.
const providers = await Promise.all([createPeer(), createPeer(), createPeer()])
const reader = await createPeer()

let root = ''
for (const provider of providers) {
  const content = new TextEncoder().encode('hello, swarm\n'.repeat(100_000))
  for await (const entry of add([{ path: 'hello.txt', content }], provider)) root = entry.cid.toString()
  await reader.connect(provider.addresses()[0] ?? '')
}

const session = reader.createSession() // the wants of one file, spread over all who have it
let bytes = 0
for await (const chunk of cat(session, root)) bytes += chunk.byteLength
console.log(`${bytes} bytes of ${root} in ${session.stat().blocks} blocks`)
session.close()
await Promise.all([...providers, reader].map((peer) => peer.stop()))
