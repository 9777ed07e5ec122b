import { request, type IncomingMessage } from 'node:http'
import { create } from 'kubo-rpc-client'
import { memoryRepo, type RepoConfig } from '@shardswap/repo'
import { expect, onTestFinished, test } from 'vitest'
import { connectDaemon, type Daemon, startDaemon } from '../src/index.ts'
import { urlOf } from './setup.ts'

const token = 'a-token-of-30-letters-and-more'

async function guarded(config: Partial<RepoConfig['api']>, api = '/ip4/127.0.0.1/tcp/0'): Promise<Daemon> {
  const repo = await memoryRepo()
  const own = { ...repo, config: { ...repo.config, api: { ...repo.config.api, ...config } } }
  const daemon = await startDaemon({ repo: own, listen: ['/ip4/127.0.0.1/tcp/0'], api })
  onTestFinished(async () => await daemon.stop())
  return daemon
}

/** As `fetch`, which may set neither Host nor Origin. */
async function send(daemon: Daemon, path: string, headers: Record<string, string>, method = 'POST'): Promise<IncomingMessage> {
  const asked = request(new URL(path, urlOf(daemon)), { method, headers, agent: false })
  asked.end()
  const response = await new Promise<IncomingMessage>((resolve, reject) => asked.once('response', resolve).once('error', reject))
  response.resume()
  return response
}

test('where there is a token, nothing is told or done without it', async () => {
  const daemon = await guarded({ auth: token })
  const wrong = ['', `Bearer`, `Bearer `, `Bearer ${token}x`, `Bearer ${token.slice(0, -1)}`, `Basic ${token}`, token, `Bearer x ${token}`]
  for (const path of ['/api/v0/id', '/api/v0/shutdown', '/api/v0/frob', '/debug/metrics/prometheus']) {
    for (const authorization of wrong) {
      const { statusCode, headers } = await send(daemon, path, authorization === '' ? {} : { Authorization: authorization })
      expect({ path, authorization, statusCode, asks: headers['www-authenticate'] }).toEqual({
        path,
        authorization,
        statusCode: 401,
        asks: 'Bearer'
      })
    }
  }
  expect((await send(daemon, '/api/v0/id', { Authorization: `Bearer ${token}` })).statusCode).toBe(200)
  expect((await send(daemon, '/api/v0/id', { Authorization: `bearer ${token}`, Host: 'node.example.com' })).statusCode).toBe(200)
  expect((await send(daemon, '/debug/metrics/prometheus', { Authorization: `Bearer ${token}` }, 'GET')).statusCode).toBe(200)
})

test("our client and Kubo's show the token, and one without it hears why it is refused", async () => {
  const daemon = await guarded({ auth: token })
  expect((await (await connectDaemon(daemon.api, undefined, token)).id()).id).toMatch(/^12D3/)
  const kubo = create({ url: urlOf(daemon), headers: { Authorization: `Bearer ${token}` } })
  expect((await kubo.id()).id.toString()).toMatch(/^12D3/)
  await expect(connectDaemon(daemon.api)).rejects.toMatchObject({ name: 'UnauthorizedError', code: 'ERR_UNAUTHORIZED' })
  await expect(create(urlOf(daemon)).id()).rejects.toThrow(/takes a token/)
})

test('only with a token the API leaves loopback, and then it is reached by any name', async () => {
  await expect(guarded({}, '/ip4/0.0.0.0/tcp/0')).rejects.toMatchObject({ code: 'ERR_LISTEN' })
  const daemon = await guarded({ auth: token }, '/ip4/0.0.0.0/tcp/0')
  expect(daemon.api).toMatch(/^\/ip4\/0\.0\.0\.0\/tcp\/\d+$/)
  expect((await (await connectDaemon(daemon.api, undefined, token)).id()).id).toMatch(/^12D3/)
})

test('pages of the origins that the config names may call and read, others may not', async () => {
  const daemon = await guarded({ origins: ['https://app.example.com'] })
  const own = { Origin: 'https://app.example.com', 'User-Agent': 'Mozilla/5.0' }
  const preflight = await send(daemon, '/api/v0/id', { ...own, 'Access-Control-Request-Method': 'POST' }, 'OPTIONS')
  expect(preflight.statusCode).toBe(204)
  expect(preflight.headers).toMatchObject({
    'access-control-allow-origin': 'https://app.example.com',
    'access-control-allow-methods': 'POST'
  })
  const called = await send(daemon, '/api/v0/id', own)
  expect(called.statusCode).toBe(200)
  expect(called.headers).toMatchObject({ 'access-control-allow-origin': 'https://app.example.com', vary: 'Origin' })
  for (const origin of ['https://example.com', 'http://app.example.com', 'https://app.example.com.evil.example', 'null']) {
    const refused = await send(daemon, '/api/v0/id', { ...own, Origin: origin })
    expect({ origin, status: refused.statusCode, allowed: refused.headers['access-control-allow-origin'] }).toEqual({
      origin,
      status: 403,
      allowed: undefined
    })
    expect((await send(daemon, '/api/v0/id', { Origin: origin }, 'OPTIONS')).statusCode).toBe(403)
  }
  // A rebound name is refused still, whatever page it shows.
  expect((await send(daemon, '/api/v0/id', { ...own, Host: 'app.example.com' })).statusCode).toBe(403)
})
