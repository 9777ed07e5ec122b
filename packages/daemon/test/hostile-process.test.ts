/** Clients that mean ill, against a daemon in a process of its own, whose memory is measured. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { connectDaemon, type RemoteNode, rpcConnectionsMax, rpcReadAheadBytesMax } from '../src/index.ts'
import { collect, someBytes } from './setup.ts'

const isFull = process.env['SHARDSWAP_SCALE'] === 'full'

/** What a daemon may hold beyond what it holds idle, whatever these clients do: what it reads ahead, and as much again. */
const hostileBytesMax = 2 * rpcReadAheadBytesMax

/** The file that is read slowly. */
const fileBytes = isFull ? 1024 ** 3 : 128 * 1024 ** 2

let repo: string
let child: ChildProcess
let api: string
let port: number
let node: RemoteNode
let idleBytes: number

beforeAll(async () => {
  repo = await mkdtemp(join(tmpdir(), 'shardswap-hostile-'))
  child = spawn(process.execPath, [join(import.meta.dirname, 'daemon.process.ts'), join(repo, 'repo')], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer]
  api = line.toString().trim()
  port = Number(api.split('/').at(-1))
  node = await connectDaemon(api)
  await node.id()
  idleBytes = await residentBytes()
}, 60_000)

afterAll(async () => {
  child.kill('SIGTERM')
  await once(child, 'close')
  await rm(repo, { recursive: true, force: true, maxRetries: 5 })
})

async function metric(name: string): Promise<number> {
  const page = await (await fetch(`http://127.0.0.1:${port}/debug/metrics/prometheus`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(page)?.[1] ?? 0)
}

async function residentBytes(): Promise<number> {
  return await metric('process_resident_memory_bytes')
}

/** A connection that sends what it is told and reads only when it is told to. */
async function open(text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  // The other side may reset what it refuses.
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text, 'latin1')
  return socket
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())))
}

/** The first line of the answer to a request, '' where the connection ends without one. */
async function answer(text: string): Promise<string> {
  const socket = await open(text)
  let read = ''
  socket.on('data', (data) => {
    read += data.toString('latin1')
    if (read.includes('\r\n')) socket.destroy()
  })
  await closed(socket)
  return read.split('\r\n')[0] ?? ''
}

/** That the daemon still answers, and holds no more than it may. */
async function expectWell(bytesMax = hostileBytesMax): Promise<void> {
  expect((await node.id()).id).toMatch(/^12D3/)
  expect((await residentBytes()) - idleBytes).toBeLessThan(bytesMax)
}

const post = (path: string, headers = ''): string => `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}`

/** Many pieces of a body by chunks, for as long as the other side takes them; how many bytes went. */
async function sendWithoutEnd(socket: Socket, part: Uint8Array, bytesMax: number): Promise<number> {
  const frame = Buffer.concat([Buffer.from(`${part.byteLength.toString(16)}\r\n`), part, Buffer.from('\r\n')])
  let bytes = 0
  const gone = closed(socket)
  while (!socket.destroyed && socket.writable && bytes < bytesMax) {
    bytes += part.byteLength
    if (!socket.write(frame)) await Promise.race([once(socket, 'drain').catch(() => undefined), gone])
  }
  return bytes
}

test('pages of others, rebound names and GET on a call that takes POST are refused', async () => {
  const body = 'Content-Length: 0\r\nConnection: close\r\n\r\n'
  expect(await answer(post('/api/v0/shutdown', `Origin: https://example.com\r\n${body}`))).toContain(' 403 ')
  expect(await answer(`POST /api/v0/shutdown HTTP/1.1\r\nHost: rebound.example.com:${port}\r\n${body}`)).toContain(' 403 ')
  expect(await answer(`POST /api/v0/shutdown HTTP/1.1\r\n${body}`)).toContain(' 400 ')
  expect(await answer(`GET /api/v0/shutdown HTTP/1.1\r\nHost: 127.0.0.1\r\n${body}`)).toContain(' 405 ')
  expect(await answer(`GET /api/v0/add?arg=x HTTP/1.1\r\nHost: localhost\r\n${body}`)).toContain(' 405 ')
  await expectWell()
})

test('paths with NUL and ".." name nothing outside, in calls, in content and in uploads', async () => {
  const body = 'Content-Length: 0\r\nConnection: close\r\n\r\n'
  const [added] = await collect(node.add([{ path: 'f', content: someBytes(10) }], { cidVersion: 1 }))
  const cid = String(added?.cid)
  for (const path of [
    '/api/v0/../../etc/passwd',
    '/api/v0/%2e%2e/%2e%2e/etc/passwd',
    '/api/v0/cat%00?arg=x',
    '/api/v0/cat?arg=%00',
    `/api/v0/cat?arg=${cid}/../../../etc/passwd`,
    `/api/v0/get?arg=${cid}%00/..`,
    `/api/v0/ls?arg=/ipfs/../../etc`,
    '/api/v0/block/get?arg=../../identity.key',
    '/api/v0/cat?arg=file:///etc/passwd',
    '/debug/../etc/passwd'
  ]) {
    expect({ path, line: await answer(post(path, body)) }).toEqual({
      path,
      line: expect.stringMatching(/^HTTP\/1\.1 (?:4|5)\d\d /) as string
    })
  }
  for (const name of ['../../evil', '/etc/evil', 'a/../../evil', 'nul%00byte', 'a%2f..%2f..%2fevil', '..', '.']) {
    const form = `--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\nhi\r\n--b--\r\n`
    const head = `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${form.length}\r\nConnection: close\r\n\r\n`
    expect({ name, line: await answer(post('/api/v0/add?wrap-with-directory=true', head) + form) }).toEqual({
      name,
      line: expect.stringMatching(/^HTTP\/1\.1 [245]\d\d /) as string
    })
  }
  await expectWell()
})

test('bodies without end: a call that takes none ends them, others hold no more of them than they need', async () => {
  const part = Buffer.alloc(256 * 1024)
  const chunked = 'Transfer-Encoding: chunked\r\n\r\n'
  // A call without a body answers at once, and its connection is closed while the body goes on.
  const idle = await open(post('/api/v0/version', chunked))
  idle.resume()
  await sendWithoutEnd(idle, part, Number.MAX_SAFE_INTEGER)
  await closed(idle)
  // A block ends at its largest size.
  const form = 'Content-Type: multipart/form-data; boundary=b\r\n'
  const block = await open(post('/api/v0/block/put', form + chunked))
  let said = ''
  block.on('data', (data) => {
    said += data.toString('latin1')
  })
  const head = Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n')
  block.write(Buffer.concat([Buffer.from(`${head.byteLength.toString(16)}\r\n`), head, Buffer.from('\r\n')]))
  await sendWithoutEnd(block, part, Number.MAX_SAFE_INTEGER)
  await closed(block)
  expect(said).toMatch(/^HTTP\/1\.1 400 /)
  // Headers of a part, or what stands before the first one, are not kept.
  for (const begin of ['--b\r\nX-Long: ', 'no part at all ']) {
    const upload = await open(post('/api/v0/add', form + chunked))
    upload.resume()
    upload.write(`${begin.length.toString(16)}\r\n${begin}\r\n`)
    await sendWithoutEnd(upload, part, isFull ? 1024 ** 3 : 192 * 1024 ** 2)
    // Less than was sent: what it may read ahead is for readers.
    await expectWell(rpcReadAheadBytesMax + 32 * 1024 ** 2)
    upload.destroy()
  }
  await expectWell()
}, 120_000)

/** A file of which no two leaves are the same. */
async function* differentMebibytes(): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < fileBytes; sent += 1024 ** 2) {
    const part = Buffer.alloc(1024 ** 2)
    part.writeUInt32LE(sent / 1024 ** 2)
    yield part
  }
}

test('readers that do not read hold no file in memory, and their calls end when they go', async () => {
  const [added] = await collect(node.add([{ path: 'f', content: differentMebibytes() }], { cidVersion: 1, chunker: 'size-1048576' }))
  const readers: Socket[] = []
  for (let at = 0; at < 40; at++) readers.push(await open(post(`/api/v0/cat?arg=${String(added?.cid)}`, 'Content-Length: 0\r\n\r\n')))
  for (const reader of readers) reader.pause()
  await vi.waitFor(async () => expect(await metric('shardswap_rpc_calls_open')).toBe(readers.length), 30_000)
  for (let round = 0; round < 10; round++) {
    await expectWell()
    await setTimeout(isFull ? 1000 : 100)
  }
  for (const reader of readers) reader.destroy()
  await vi.waitFor(async () => expect(await metric('shardswap_rpc_calls_open')).toBe(0), 30_000)
}, 300_000)

test('of 500 connections the first ones are served, those beyond are refused, and who sends no headers is cut off', async () => {
  const sockets = await Promise.all(
    Array.from({ length: 500 }, async (_, at) => await open(at % 2 === 0 ? 'POST /api/v0/version HTTP/1.1\r\nHost: 127' : ''))
  )
  for (const socket of sockets) socket.resume()
  await vi.waitFor(
    () => expect(sockets.filter(({ closed: isClosed }) => isClosed).length).toBeGreaterThanOrEqual(500 - rpcConnectionsMax),
    10_000
  )
  // The others say nothing for longer than anybody may, so that there is room again.
  await Promise.all(sockets.map(closed))
  await expectWell()
}, 60_000)
