/** Starts four peers, lets one fetch for ever, freezes one, tells their process ids and addresses, and waits to be killed. */
import { cidsOf, Cluster } from '../src/index.ts'

const peers = await new Cluster().peers(4)
const [first, second, third] = peers
await first?.connect(third?.address ?? '')
void first?.getMany(cidsOf({ seed: 1, count: 10, blockBytes: 10 }).map(String)).catch(() => undefined)
second?.freeze()
process.stdout.write(`${JSON.stringify(peers.map(({ pid, address }) => ({ pid, address })))}\n`)
