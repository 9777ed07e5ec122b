/** Calls that bring more than is taken of them: what waits is bounded. */
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Daemon, rpcRequestsAheadMax } from '../src/index.ts'
import { ProgressSlot, withProgress } from '../src/rpc/progress.ts'
import { uploadParts } from '../src/rpc/upload.ts'
import { collect, newDaemon, urlOf } from './setup.ts'

const missing = 'QmWfVY9y3xjsixTgbd9AorQxH7VtMpzfx2HaWtsoUYecaX'

function post(path: string): string {
  return `POST /api/v0/${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n`
}

async function open(daemon: Daemon): Promise<Socket> {
  const socket = connect(Number(daemon.api.split('/').at(-1)), '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

async function openCalls(daemon: Daemon): Promise<number> {
  const page = await (await fetch(new URL('/debug/metrics/prometheus', urlOf(daemon)))).text()
  return Number(/^shardswap_rpc_calls_open (\d+)$/m.exec(page)?.[1] ?? 0)
}

test('requests that a client sends ahead are answered in turn, one at a time', async () => {
  const daemon = await newDaemon()
  const socket = await open(daemon)
  let said = ''
  socket.on('data', (data) => {
    said += data.toString('latin1')
  })
  socket.write(post('version') + post(`block/get?arg=${missing}&timeout=500ms`) + post('id'))
  await vi.waitUntil(() => said.includes('AgentVersion'), 10_000)
  expect(said.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 500', 'HTTP/1.1 200'])
  socket.write(post(`block/get?arg=${missing}&timeout=1h`).repeat(10))
  await vi.waitUntil(async () => (await openCalls(daemon)) > 0, 10_000)
  expect(await openCalls(daemon)).toBe(1)
  socket.destroy()
  await vi.waitUntil(async () => (await openCalls(daemon)) === 0, 10_000)
  expect((await daemon.node.peer()).wantlist()).toEqual([])
})

test('who sends more ahead than anybody needs is cut off', async () => {
  const daemon = await newDaemon()
  const socket = await open(daemon)
  socket.resume()
  socket.write(post(`block/get?arg=${missing}&timeout=1h`).repeat(rpcRequestsAheadMax + 2))
  await once(socket, 'close')
  await vi.waitFor(async () => expect(await openCalls(daemon)).toBe(0), 10_000)
})

test('of a body of small parts no more is read than their reader takes', async () => {
  const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nhi\r\n'
  const parts = 20_000
  const read = async (request: IncomingMessage): Promise<{ taken: number; aheadBytesMax: number }> => {
    let taken = 0
    let aheadBytesMax = 0
    for await (const { content } of uploadParts(request, new AbortController().signal)) {
      await collect(content)
      await setImmediate()
      taken += 1
      aheadBytesMax = Math.max(aheadBytesMax, request.socket.bytesRead - taken * part.length)
    }
    return { taken, aheadBytesMax }
  }
  const result = Promise.withResolvers<Awaited<ReturnType<typeof read>>>()
  const server = createServer((request, response) => {
    result.resolve(read(request).finally(() => response.end()))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const upload = httpRequest({ port, host: '127.0.0.1', method: 'POST', headers: { 'Content-Type': 'multipart/form-data; boundary=b' } })
  upload.on('response', (response) => response.resume())
  upload.end(`${part.repeat(parts)}--b--\r\n`)
  const { taken, aheadBytesMax } = await result.promise
  expect(taken).toBe(parts)
  // One read of the socket, what waits in the request, and a read that is being parsed.
  expect(aheadBytesMax).toBeLessThan(300_000)
})

test('notes of progress cost nothing once they are told, however long the line after them takes', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const progress = new ProgressSlot()
  const line = Promise.withResolvers<object>()
  const lines = async function* (): AsyncGenerator<object> {
    yield await line.promise
  }
  const told = withProgress(lines(), progress)
  const heapBytes = (): number => {
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const before = heapBytes()
  for (let at = 0; at < 100_000; at++) {
    const next = told.next()
    progress.set({ at })
    await next
  }
  expect(heapBytes() - before).toBeLessThan(5_000_000)
  line.resolve({ done: true })
  expect(await collect(told)).toEqual([{ done: true }])
})
