import { connect } from 'node:net'
import { expect, test, vi } from 'vitest'
import type { Daemon } from '../src/index.ts'
import { newDaemon, urlOf } from './setup.ts'

/** Sends bytes as they are, and gives the first line of the answer, '' where there is none. */
async function say(daemon: Daemon, text: string): Promise<string> {
  const socket = connect(Number(daemon.api.split('/').at(-1)), '127.0.0.1')
  let answer = ''
  socket.on('data', (data) => {
    answer += data.toString('latin1')
  })
  // The other side may reset what it refuses.
  socket.on('error', () => {})
  socket.end(text, 'latin1')
  await new Promise((resolve) => socket.once('close', resolve))
  return answer.split('\r\n')[0] ?? ''
}

test('a request whose target is no URL is answered, and the daemon goes on', async () => {
  const daemon = await newDaemon()
  const targets = [
    '//',
    '///',
    '//[',
    'http://',
    'http://[::1',
    '//:99999999/api/v0/version',
    '*',
    '?',
    '/api/v0/%00',
    '/api/v0/../v0/x',
    '//@:/'
  ]
  for (const target of targets) {
    for (const method of ['POST', 'GET', 'OPTIONS', 'PUT']) {
      const line = await say(daemon, `${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`)
      expect({ method, target, line }).toEqual({ method, target, line: expect.stringMatching(/^HTTP\/1\.1 4\d\d /) })
    }
  }
  expect(await say(daemon, 'POST /api/v0/version HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n')).toBe('HTTP/1.1 200 OK')
})

test('a part of a form that has no name is added like any other', async () => {
  const daemon = await newDaemon()
  const headers = { 'Content-Type': 'multipart/form-data; boundary=b' }
  const body = '--b\r\nContent-Disposition: form-data\r\nContent-Type: application/octet-stream\r\n\r\nhello\r\n--b--\r\n'
  const answer = await fetch(`${urlOf(daemon)}/add`, { method: 'POST', headers, body })
  expect({ status: answer.status, body: await answer.json() }).toMatchObject({
    status: 200,
    body: { Hash: 'QmWfVY9y3xjsixTgbd9AorQxH7VtMpzfx2HaWtsoUYecaX' }
  })
})

test('clients that go in the middle of a call leave no want', async () => {
  const daemon = await newDaemon()
  const peer = await daemon.node.peer()
  const sockets = ['cat', 'get', 'ls', 'block/get', 'block/stat', 'dag/export'].map((name) => {
    const socket = connect(Number(daemon.api.split('/').at(-1)), '127.0.0.1')
    const path = `/api/v0/${name}?arg=QmWfVY9y3xjsixTgbd9AorQxH7VtMpzfx2HaWtsoUYecaX&timeout=1h`
    socket.write(`POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n`)
    return socket
  })
  await vi.waitUntil(() => peer.stat().wantlist.length === 1, 10_000)
  for (const socket of sockets) socket.destroy()
  await vi.waitUntil(() => peer.stat().wantlist.length === 0, 10_000)
  expect(peer.wantlist()).toEqual([])
})

test('modes and times that no file can have are refused, and those at the edge are kept', async () => {
  const daemon = await newDaemon()
  const headers = { 'Content-Type': 'multipart/form-data; boundary=b' }
  const add = async (field: string): Promise<number> => {
    const body = `--b\r\nContent-Disposition: form-data; name="file?${field}"; filename="x"\r\n\r\nhi\r\n--b--\r\n`
    return (await fetch(`${urlOf(daemon)}/add?preserve-mode=true&preserve-mtime=true`, { method: 'POST', headers, body })).status
  }
  const nines = '9'.repeat(500)
  for (const field of [
    `mode=${'7'.repeat(28)}`,
    `mtime=${nines}`,
    `mtime=-${nines}`,
    'mtime=9223372036854775807',
    'mtime=1&mtime-nsecs=1000000000'
  ]) {
    expect([field, await add(field)]).toEqual([field, 400])
  }
  for (const field of ['mode=37777777777', `mtime=${Number.MAX_SAFE_INTEGER}`, 'mtime=-1&mtime-nsecs=999999999']) {
    expect([field, await add(field)]).toEqual([field, 200])
  }
})

test('an upload that has no files, or a part that is none, is refused, not passed over', async () => {
  const daemon = await newDaemon()
  const send = async (type: string, body: string): Promise<unknown> => {
    const answer = await fetch(`${urlOf(daemon)}/add`, { method: 'POST', headers: { 'Content-Type': type }, body })
    return { status: answer.status, body: await answer.json() }
  }
  expect(await send('application/x-www-form-urlencoded', 'file=hello')).toMatchObject({
    status: 400,
    body: { Message: expect.stringContaining('without files') as string }
  })
  const field = '--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nhello\r\n--b--\r\n'
  expect(await send('multipart/form-data; boundary=b', field)).toMatchObject({
    status: 400,
    body: { Message: expect.stringContaining('no file name') as string }
  })
})
