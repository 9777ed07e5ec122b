/** Starts two peers, freezes one, tells their process ids, and waits to be killed. */
import { Cluster } from '../src/index.ts'

const [first, second] = await new Cluster().peers(2)
second?.freeze()
process.stdout.write(`${JSON.stringify([first?.pid, second?.pid])}\n`)
