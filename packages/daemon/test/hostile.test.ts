import { connect } from 'node:net'
import { expect, test } from 'vitest'
import type { Daemon } from '../src/index.ts'
import { newDaemon } from './setup.ts'

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
