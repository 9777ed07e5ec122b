import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { configFile, configKeys, configTable, configValueOf, initRepo, type KeySpec, newConfig, openRepo } from '../src/index.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shardswap-config-'))
  await initRepo(folder)
  onTestFinished(async () => await rm(folder, { recursive: true, force: true }))
})

async function written(): Promise<unknown> {
  return JSON.parse(await readFile(join(folder, 'config'), 'utf8')) as unknown
}

test('a key is read, changed, and taken out again, and a node that starts goes by it', async () => {
  const config = configFile(folder)
  const before = await written()
  expect(await config.get('serve.cap')).toBe(1024)
  expect(await config.get('routing.dht')).toBe('off')
  expect(await config.get('api.auth')).toBeUndefined()
  await config.set('serve.cap', 16)
  await config.set('routing.dht', 'client')
  expect(await config.get('serve.freeScore')).toBe(2)
  expect(await config.get('serve')).toEqual({ mode: 'open', cap: 16, freeScore: 2, tests: true })
  const repo = await openRepo(folder)
  await repo.close()
  expect(repo.config).toMatchObject({ serve: { cap: 16 }, routing: { dht: 'client', mdns: false } })
  await config.set('routing.dht', null)
  await config.set('serve.cap', 1024)
  expect(await written()).toEqual(before)
})

test.each([
  ['serve.cap', 0, /serve\.cap must be a whole number/],
  ['serve.frob', 1, /serve\.frob is not a key.*serve\.mode/],
  ['frob', 1, /frob is not a key.*addresses, api/],
  ['serve', {}, /serve is not a key/],
  ['addresses.api', '/ip4/0.0.0.0/tcp/5001', /unless api\.auth is set/],
  ['api.auth', 'short', /api\.auth must be a token of 16 to 512/],
  ['api.auth', 'sixteen letters, but spaces', /api\.auth must be a token/],
  ['api.origins', ['http://localhost:3000/'], /api\.origins\[0\] must be an origin/],
  ['routing.bootstrap', ['/ip4/192.0.2.1/tcp/4001'], /routing\.bootstrap\[0\] must be the multiaddr of a peer/],
  ['routing.bootstrap', ['/ip4/192.0.2.1/tcp/4001/p2p/x'], /routing\.bootstrap\[0\] must be the multiaddr of a peer/],
  ['routing.peering', [7], /routing\.peering\[0\] must be the multiaddr of a peer.*not 7/],
  ['routing.delegated', ['ftp://example.com'], /routing\.delegated\[0\] must be a URL/],
  ['routing.provideEveryMs', 2 ** 31, /routing\.provideEveryMs must be a whole number of milliseconds from 60000 to 2147483647/],
  ['repo.gcAtShare', 1.5, /repo\.gcAtShare must be a number above 0 and up to 1/]
])('%s is not set to %j, and the file stays as it was', async (key, value, message) => {
  const before = await readFile(join(folder, 'config'), 'utf8')
  await expect(configFile(folder).set(key, value)).rejects.toMatchObject({
    code: 'ERR_CONFIG',
    message: expect.stringMatching(message) as string
  })
  expect(await readFile(join(folder, 'config'), 'utf8')).toBe(before)
})

test('a value that keeps the repo from being opened can be mended by setting it', async () => {
  await writeFile(join(folder, 'config'), '{"serve":{"cap":-1,"tests":false}}')
  await expect(openRepo(folder)).rejects.toMatchObject({ code: 'ERR_CONFIG' })
  await configFile(folder).set('serve.cap', 5)
  expect(await written()).toEqual({ serve: { cap: 5, tests: false } })
})

test('of twenty that set a key each at once none is lost, and nothing is left beside the file', async () => {
  const config = configFile(folder)
  const addresses = Array.from({ length: 20 }, (_, at) => `/ip4/127.0.0.1/tcp/${at + 1}`)
  await Promise.all([
    ...addresses.map(async (address) => await config.set('addresses.swarm', [address])),
    config.set('routing.mdns', true),
    config.set('serve.mode', 'off')
  ])
  expect(await written()).toMatchObject({ addresses: { swarm: [addresses[19]] }, routing: { mdns: true }, serve: { mode: 'off' } })
  expect((await readdir(folder)).toSorted()).toEqual(['config', 'identity.key', 'version'])
})

test('the token is shown nowhere but where it is asked for, and stays when what was shown is put in place', async () => {
  const config = configFile(folder)
  await config.set('api.auth', 'a-token-of-some-length')
  await config.set('addresses.api', '/ip4/0.0.0.0/tcp/5001')
  const shown = await config.show()
  expect(JSON.stringify(shown)).not.toContain('a-token')
  expect(await config.get('api')).toEqual({ origins: [] })
  await config.replace(newConfig({ serve: { mode: 'registered' } }))
  expect(await config.get('api.auth')).toBe('a-token-of-some-length')
  expect(await config.get('serve.mode')).toBe('registered')
  await expect(config.replace({ serve: { mode: 'closed' } })).rejects.toMatchObject({ code: 'ERR_CONFIG' })
  expect(await config.get('serve.mode')).toBe('registered')
})

test('words of a command line become values', () => {
  expect(configValueOf('serve.cap', ['64'])).toBe(64)
  expect(configValueOf('serve.mode', ['off'])).toBe('off')
  expect(configValueOf('addresses.swarm', ['/ip4/1.2.3.4/tcp/1', '/ip6/::1/tcp/2'])).toEqual(['/ip4/1.2.3.4/tcp/1', '/ip6/::1/tcp/2'])
  expect(configValueOf('addresses.swarm', ['["/ip4/1.2.3.4/tcp/1"]'])).toEqual(['/ip4/1.2.3.4/tcp/1'])
  expect(configValueOf('addresses.swarm', [])).toEqual([])
  expect(() => configValueOf('serve.cap', ['many'])).toThrow(/serve\.cap must be a whole number of requests above 0, not "many"/)
  expect(() => configValueOf('serve.mode', ['open', 'off'])).toThrow(/serve\.mode must be one of open/)
})

/** A row of docs/config.md. */
function row(key: (typeof configKeys)[number]): string {
  const { check, byDefault, isWritten, purpose }: KeySpec<unknown> = configTable[key]
  const value = typeof byDefault === 'function' ? 'follows' : byDefault === undefined ? 'none' : `\`${JSON.stringify(byDefault)}\``
  return `| \`${key}\` | ${check.words} | ${value}${isWritten ? ', written' : ''} | ${purpose} |`
}

test('docs/config.md has a row for each key, and none beside', async () => {
  const text = await readFile(join(import.meta.dirname, '../../../docs/config.md'), 'utf8')
  expect(text.split('\n').filter((line) => /^\| `[a-z]+\./.test(line))).toEqual(configKeys.map(row))
})

test('changes that several processes make at once are all there, and one that was killed holds nobody up', async () => {
  const lock = join(folder, 'config.lock')
  // More than a pid can be, so that no process has it.
  await writeFile(lock, '99999999\n')
  const changes = { 'serve.cap': 64, 'serve.freeScore': 3, 'repo.maxBytes': 1e9, 'routing.mdns': true, 'reliability.backups': false }
  // Each has a turn of its own, as each process would.
  await Promise.all(Object.entries(changes).map(async ([key, value]) => await configFile(folder).set(key, value)))
  for (const [key, value] of Object.entries(changes)) expect([key, await configFile(folder).get(key)]).toEqual([key, value])
  expect(await readdir(folder)).not.toContain('config.lock')
})
