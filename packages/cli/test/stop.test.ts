import { once } from 'node:events'
import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
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

/** Connections that a daemon cannot end by answering: one that does not read what it asked for, and uploads that do not end. */
async function stubbornClients(address: string, cid: string): Promise<void> {
  const port = Number(address.split('/').at(-1))
  const form = 'Content-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n'
  const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nhalf a fi'
  for (const said of [
    `POST /api/v0/cat?arg=${cid} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n`,
    `POST /api/v0/add HTTP/1.1\r\nHost: 127.0.0.1\r\n${form}${part.length.toString(16)}\r\n${part}\r\n`,
    'POST /api/v0/version HTTP/1.1\r\nHost: 127'
  ]) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    socket.pause()
    await new Promise<void>((resolve) => socket.write(said, () => resolve()))
  }
}

test('[F35] a daemon ends within 5 s beside clients that neither read nor end, and at once at a second Ctrl-C', async () => {
  for (const signals of [['SIGTERM'], ['SIGINT', 'SIGINT']] as const) {
    const repo = await newRepo()
    const { daemon } = await startDaemon(repo)
    const cid = await ok(['add', '-Q', '--cid-version=1'], { repo, stdin: someBytes(20_000_000) })
    const api = /RPC API server listening on (\S+)/.exec(daemon.stdout.toString())?.[1] ?? ''
    await stubbornClients(api, cid)
    const startMs = performance.now()
    for (const signal of signals) {
      daemon.child.kill(signal)
      // Two that come at once are one to the system.
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect((await daemon.finished).code).toBe(signals.length === 1 ? 0 : 130)
    expect(performance.now() - startMs).toBeLessThan(signals.length === 1 ? 5000 : 1000)
    // Whichever way it ended, the repo opens again.
    expect(await ok(['block', 'stat', cid], { repo })).toContain(cid)
  }
})
