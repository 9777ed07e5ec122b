/** A daemon in a process of its own, on the repo that its command line names; it prints where its API is, and cuts off early whoever sends no headers. */
import { openRepo } from '@shardswap/repo'
import { startDaemon } from '../src/index.ts'

const path = process.argv[2]
if (path === undefined) throw new Error('usage: daemon.process REPO')
const repo = await openRepo(path, { create: true })
const daemon = await startDaemon({ repo, listen: ['/ip4/127.0.0.1/tcp/0'], api: '/ip4/127.0.0.1/tcp/0', rpcHeadersMs: 2000 })
process.once('SIGTERM', () => {
  void daemon.stop()
})
process.stdout.write(`${daemon.api}\n`)
