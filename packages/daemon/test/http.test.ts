import { request, type IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import type { Daemon } from '../src/index.ts'
import { newDaemon, someBytes, urlOf } from './setup.ts'

const missing = 'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy'

interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly trailers: NodeJS.Dict<string>
}

/** As `fetch`, which may not set Host and hides trailers. */
async function send(daemon: Daemon, path: string, headers: Record<string, string> = {}, method = 'POST', body?: Buffer): Promise<Answer> {
  const url = new URL(`${urlOf(daemon)}/${path}`)
  const asked = request(url, { method, headers, agent: false })
  asked.end(body)
  const response = await new Promise<IncomingMessage>((resolve, reject) => asked.once('response', resolve).once('error', reject))
  let text = ''
  for await (const part of response) text += String(part)
  return { status: response.statusCode ?? 0, headers: response.headers, body: text, trailers: response.trailers }
}

function form(content: Buffer, name = 'f'): { headers: Record<string, string>; body: Buffer } {
  const head = `--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: application/octet-stream\r\n\r\n`
  const body = Buffer.concat([Buffer.from(head), content, Buffer.from('\r\n--b--\r\n')])
  return { headers: { 'Content-Type': 'multipart/form-data; boundary=b' }, body }
}

test('pages of others and names of others are refused, with 403', async () => {
  const daemon = await newDaemon()
  const port = daemon.api.split('/').at(-1) ?? ''
  const refused = [
    { Origin: 'http://example.com' },
    { Origin: 'null' },
    { Origin: 'http://localhost:1' },
    { Origin: `https://localhost:${port}` },
    { Host: 'example.com' },
    { Host: `rebound.example.com:${port}` },
    { Host: '192.0.2.1' },
    { Referer: 'http://example.com/page' },
    { 'User-Agent': 'Mozilla/5.0' }
  ]
  for (const headers of refused) {
    const answer = await send(daemon, 'shutdown', headers)
    expect({ headers, status: answer.status }).toEqual({ headers, status: 403 })
    expect(JSON.parse(answer.body)).toMatchObject({ Type: 'error', ErrorCode: 'ERR_REFUSED' })
  }
  const allowed = [
    {},
    { Host: 'localhost' },
    { Host: `127.0.0.1:${port}` },
    { Host: `[::1]:${port}` },
    { Origin: `http://localhost:${port}`, 'User-Agent': 'Mozilla/5.0' },
    { Origin: `http://127.0.0.1:${port}` }
  ]
  for (const headers of allowed)
    expect({ headers, status: (await send(daemon, 'version', headers)).status }).toEqual({ headers, status: 200 })
})

test('GET is 405, an unknown call is 404, both with a message', async () => {
  const daemon = await newDaemon()
  const get = await send(daemon, 'id', {}, 'GET')
  expect(get.status).toBe(405)
  expect(get.headers.allow).toBe('POST')
  expect(JSON.parse(get.body)).toMatchObject({ Message: expect.stringContaining('POST') as string })
  for (const path of ['frob', 'constructor', '../../x', '']) {
    const unknown = await send(daemon, path)
    expect(unknown.status).toBe(404)
    expect(JSON.parse(unknown.body)).toMatchObject({ Message: expect.stringContaining('block/get') as string, Type: 'error' })
  }
})

test('the API listens on loopback only, and says which port is taken', async () => {
  const daemon = await newDaemon()
  const { memoryRepo } = await import('@shardswap/repo')
  const { startDaemon } = await import('../src/index.ts')
  const listen = ['/ip4/127.0.0.1/tcp/0']
  await expect(startDaemon({ repo: await memoryRepo(), listen, api: '/ip4/0.0.0.0/tcp/0' })).rejects.toMatchObject({ code: 'ERR_LISTEN' })
  const port = daemon.api.split('/').at(-1) ?? ''
  await expect(startDaemon({ repo: await memoryRepo(), listen, api: daemon.api })).rejects.toThrow(`port ${port} is in use`)
  const taken = daemon.addresses[0]?.replace(/\/p2p\/.*/, '') ?? ''
  const clash = startDaemon({ repo: await memoryRepo(), listen: [taken], api: '/ip4/127.0.0.1/tcp/0' })
  await expect(clash).rejects.toThrow(`port ${taken.split('/').at(-1) ?? ''} is in use`)
  for (const [address, why] of [
    ['/ip4/192.0.2.1/tcp/0', 'listen EADDRNOTAVAIL: address not available 192.0.2.1'],
    ['/ip4/127.0.0.1/udp/0/quic-v1', 'No transport was configured to listen on this address']
  ] as const) {
    const nowhere = startDaemon({ repo: await memoryRepo(), listen: [address], api: '/ip4/127.0.0.1/tcp/0' })
    await expect(nowhere).rejects.toMatchObject({ code: 'ERR_LISTEN', message: `cannot listen for peers on ${address}: ${why}` })
  }
})

test('wrong arguments are 400 with the code of the library', async () => {
  const daemon = await newDaemon()
  for (const [path, code] of [
    ['cat', 'ERR_INVALID_PARAMETERS'],
    ['cat?arg=frob', 'ERR_INVALID_CID'],
    [`cat?arg=${missing}&offset=x`, 'ERR_INVALID_PARAMETERS'],
    [`cat?arg=${missing}&timeout=10`, 'ERR_INVALID_PARAMETERS'],
    [`block/get?arg=${missing}/path`, 'ERR_INVALID_CID'],
    ['add', 'ERR_INVALID_PARAMETERS'],
    ['swarm/connect?arg=frob', 'ERR_INVALID_PARAMETERS']
  ]) {
    const answer = await send(daemon, path ?? '')
    expect({ path, status: answer.status }).toEqual({ path, status: 400 })
    expect(JSON.parse(answer.body)).toMatchObject({ ErrorCode: code, Code: 1, Type: 'error' })
  }
})

test('an error before the first byte has a status, one after it stands in the trailers', async () => {
  const daemon = await newDaemon()
  const early = await send(daemon, `cat?arg=${missing}&offline=true`)
  expect(early.status).toBe(500)
  expect(JSON.parse(early.body)).toMatchObject({ Name: 'NotFoundError', ErrorCode: 'ERR_NOT_FOUND', Code: 0 })
  const content = someBytes(3_000_000)
  const { headers, body } = form(Buffer.from(content))
  const { Hash } = JSON.parse((await send(daemon, 'add?cid-version=1', headers, 'POST', body)).body) as { Hash: string }
  // The last leaf goes, so that the first ones are sent before it is missed.
  const leaf = await daemon.node.blockPut(content.subarray(11 * 262_144))
  await daemon.node.repo.blocks.delete(leaf.cid)
  const late = await send(daemon, `cat?arg=${Hash}&offline=true`)
  expect(late.status).toBe(200)
  expect(late.trailers['x-stream-error']).toContain('not found')
  expect(late.trailers['x-stream-error-code']).toBe('ERR_NOT_FOUND')
  // Nobody guesses a page out of the bytes; and a header takes no letters but those of ASCII.
  expect(late.headers['x-content-type-options']).toBe('nosniff')
  const foreign = await send(daemon, `ls/?stream=true&arg=${Hash}&arg=${Hash}/${encodeURIComponent('ä')}`)
  expect([foreign.status, foreign.trailers['x-stream-error']]).toEqual([200, expect.stringContaining(`${Hash}/?`)])
})

test("arguments come in the body too, where Kubo's command sends those of its standard input", async () => {
  const daemon = await newDaemon()
  const pinned = async (): Promise<string[]> => (await Array.fromAsync(daemon.node.pins.ls())).map(({ cid }) => cid.toString()).toSorted()
  const blocks = [1, 2, 3].map((at) => Buffer.from(`block ${at}`))
  const cids: string[] = []
  for (const bytes of blocks) cids.push((await daemon.node.blockPut(bytes)).cid.toString())
  const rest = form(Buffer.from(`${cids[1]}\n ${cids[2]}\r\n\n`), 'stdin')
  const added = await send(daemon, `pin/add?arg=${cids[0]}`, rest.headers, 'POST', rest.body)
  expect(JSON.parse(added.body)).toEqual({ Pins: cids })
  expect(await pinned()).toEqual(cids.toSorted())
  // Without one among the parameters, and one that takes several for `cat`; a call that takes one looks at no more.
  expect((await send(daemon, 'cat', rest.headers, 'POST', rest.body)).body).toBe('block 2block 3')
  expect((await send(daemon, `block/get?arg=${cids[0]}`, rest.headers, 'POST', rest.body)).body).toBe('block 1')
  const large = form(Buffer.alloc(600 * 1024, 'x'), 'stdin')
  // Twice the same part: each alone would do.
  const twice = Buffer.concat([large.body.subarray(0, -'--\r\n'.length), Buffer.from('\r\n'), large.body.subarray('--b\r\n'.length)])
  const refused = await send(daemon, `pin/rm?arg=${cids[0]}`, large.headers, 'POST', twice)
  expect({ status: refused.status, code: (JSON.parse(refused.body) as { ErrorCode: string }).ErrorCode }).toEqual({
    status: 400,
    code: 'ERR_TOO_LARGE'
  })
  expect(await pinned()).toEqual(cids.toSorted())
})

test('a block that is too large is refused while it is still being sent', async () => {
  const daemon = await newDaemon()
  const { headers, body } = form(Buffer.alloc(3 * 1024 * 1024))
  const refused = await send(daemon, 'block/put', headers, 'POST', body)
  expect(refused.status).toBe(400)
  expect(JSON.parse(refused.body)).toMatchObject({ ErrorCode: 'ERR_TOO_LARGE' })
  expect((await send(daemon, 'block/put?allow-big-block=true', headers, 'POST', body)).status).toBe(200)
})

test('an upload that is cut off is refused, and stores no file', async () => {
  const daemon = await newDaemon()
  const { headers, body } = form(Buffer.from(someBytes(100_000)))
  const cut = await send(daemon, 'add', headers, 'POST', body.subarray(0, 60_000))
  expect(cut.status).toBe(500)
  expect(JSON.parse(cut.body)).toMatchObject({ ErrorCode: 'ERR_MALFORMED' })
})

test('an upload whose client goes in the middle of it ends', async () => {
  const daemon = await newDaemon()
  const open = async (): Promise<string | undefined> => {
    const page = await (await fetch(urlOf(daemon).replace('/api/v0', '/debug/metrics/prometheus'))).text()
    return /^shardswap_rpc_calls_open (\d+)$/m.exec(page)?.[1]
  }
  const { headers, body } = form(Buffer.from(someBytes(1_000_000)))
  const asked = request(`${urlOf(daemon)}/add`, {
    method: 'POST',
    headers: { ...headers, 'Content-Length': body.byteLength },
    agent: false
  })
  asked.on('error', () => {})
  asked.write(body.subarray(0, 500_000))
  await expect.poll(open).toBe('1')
  asked.destroy()
  await expect.poll(open).toBe('0')
})

test('timeout ends a call with TimeoutError, and its wants with it', async () => {
  const daemon = await newDaemon()
  const answer = await send(daemon, `block/get?arg=${missing}&timeout=200ms`)
  expect(answer.status).toBe(500)
  expect(JSON.parse(answer.body)).toMatchObject({ Name: 'TimeoutError', ErrorCode: 'ERR_TIMEOUT' })
  expect((await daemon.node.peer()).wantlist()).toEqual([])
})

test('a client that goes cancels its wants', async () => {
  const daemon = await newDaemon()
  const peer = await daemon.node.peer()
  const asked = request(`${urlOf(daemon)}/cat?arg=${missing}&timeout=1h`, { method: 'POST', agent: false })
  asked.on('error', () => {})
  asked.end()
  await expect.poll(() => peer.wantlist().map(String)).toEqual([missing])
  asked.destroy()
  await expect.poll(() => peer.wantlist()).toEqual([])
})

test('stopping ends calls that wait, and shutdown asks for it', async () => {
  const daemon = await newDaemon()
  const waiting = send(daemon, `block/get?arg=${missing}&timeout=1h`)
  const peer = await daemon.node.peer()
  await expect.poll(() => peer.wantlist().length).toBe(1)
  expect((await send(daemon, 'shutdown')).status).toBe(200)
  await daemon.shutdownAsked
  await daemon.stop()
  expect(JSON.parse((await waiting).body)).toMatchObject({ ErrorCode: 'ERR_STOPPED' })
})
