/** Fetches a block, leaves a want open, stops, and must then exit by itself. */
import { createPeer } from '../src/index.ts'
import { connect, rawBlock } from './support.ts'

const block = rawBlock('exit', 100_000)
const provider = await createPeer()
const peer = await createPeer()
await provider.put(block.cid, block.bytes)
await connect(peer, provider)
if (Buffer.from(await peer.get(block.cid)).equals(block.bytes)) process.stdout.write('fetched\n')
const open = peer.get(rawBlock('never').cid).catch(() => undefined)
await Promise.all([peer.stop(), provider.stop(), open])
