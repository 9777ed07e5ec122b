import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { newRepo, ok, someBytes, start, startDaemon } from './command.ts'

const ghost = '12D3KooWGC6TvWhfapngX6wvJHMYvKpDMXPb3ZnCZ6dMoaMtimQ5'

/** Where somebody takes connections and says nothing. */
async function blackHole(): Promise<{ address: string; dialled: Promise<unknown> }> {
  const sockets: Socket[] = []
  const server = createServer((socket) => sockets.push(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { address: `/ip4/127.0.0.1/tcp/${port}/p2p/${ghost}`, dialled: once(server, 'connection') }
}

test('[F35] a daemon whose provider is frozen, with a dial that never ends and reads that wait, ends at SIGTERM within 5 s', async () => {
  const [repo, otherRepo] = [await newRepo(), await newRepo()]
  const provider = await startDaemon(otherRepo)
  const root = await ok(['add', '-Q', '--cid-version=1'], { repo: otherRepo, stdin: someBytes(1_000_000) })
  const { daemon } = await startDaemon(repo)
  await ok(['swarm', 'connect', provider.address], { repo })
  provider.daemon.child.kill('SIGSTOP')
  onTestFinished(() => {
    provider.daemon.child.kill('SIGKILL')
  })
  const readers = Array.from({ length: 5 }, () => start(['cat', root], { repo }))
  const hole = await blackHole()
  const dialling = start(['swarm', 'connect', hole.address], { repo })
  await hole.dialled
  const startMs = performance.now()
  daemon.child.kill('SIGTERM')
  expect((await daemon.finished).code).toBe(0)
  expect(performance.now() - startMs).toBeLessThan(5000)
  for (const waiting of [...readers, dialling]) expect((await waiting.finished).code).not.toBe(0)
})
