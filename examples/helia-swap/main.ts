/** One line swapped in a Helia app: the same file from the same four providers, with Helia's Bitswap and with Shardswap in its place. */
import { randomBytes } from 'node:crypto'
import { withBitswap } from '@helia/bitswap'
import { unixfs } from '@helia/unixfs'
import { multiaddr } from '@multiformats/multiaddr'
import { add } from '@shardswap/content'
import type { CID } from '@shardswap/interface'
import { createPeer, withShardswap } from '@shardswap/peer'
import { quietHelia } from './quiet-helia.ts'

const content = randomBytes(6 * 1024 * 1024)
const providers = await Promise.all([createPeer(), createPeer(), createPeer(), createPeer()])
const roots: CID[] = []
for (const provider of providers) {
  for await (const entry of add([{ path: 'file.bin', content }], provider)) roots.push(entry.cid)
}

/** What a Helia app does: connect, and read a file. Gives the bytes that all providers sent it. */
async function fetchWith(node: ReturnType<typeof quietHelia>): Promise<number> {
  const helia = await node.start()
  for (const provider of providers) await helia.libp2p.dial(multiaddr(provider.addresses()[0] ?? ''))
  const sentBefore = bytesSent()
  let bytes = 0
  for await (const chunk of unixfs(helia).cat(roots[0] as CID)) bytes += chunk.byteLength
  if (bytes !== content.byteLength) throw new Error(`${bytes} bytes came, not ${content.byteLength}`)
  // Copies that were asked for and not cancelled in time may still be under way.
  await helia.stop()
  return bytesSent() - sentBefore
}

function bytesSent(): number {
  return providers.reduce((sum, provider) => sum + provider.stat().serve.bytesSent, 0)
}

function tell(name: string, bytes: number): number {
  const duplicates = Math.max(bytes - content.byteLength, 0) / content.byteLength
  console.log(
    `${name}: ${(bytes / 1e6).toFixed(1)} MB sent for ${(content.byteLength / 1e6).toFixed(1)} MB, ${Math.round(duplicates * 100)} % duplicates`
  )
  return bytes
}

const before = tell('withBitswap(helia)  ', await fetchWith(withBitswap(quietHelia())))
const after = tell('withShardswap(helia)', await fetchWith(withShardswap(quietHelia())))
console.log(`saved: ${((before - after) / 1e6).toFixed(1)} MB`)

await Promise.all(providers.map((provider) => provider.stop()))
