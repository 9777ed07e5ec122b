/** A daemon on the repo that its command line names, made where there is none, on free ports; tells where its RPC is, and runs until it is killed. */
import { openRepo } from '@shardswap/repo'
import { startDaemon } from '../src/index.ts'

const path = process.argv[2]
if (path === undefined) throw new Error('usage: daemon.process REPO')
const daemon = await startDaemon({
  repo: await openRepo(path, { create: true }),
  listen: ['/ip4/127.0.0.1/tcp/0'],
  api: '/ip4/127.0.0.1/tcp/0'
})
process.stdout.write(`${daemon.api}\n`)
