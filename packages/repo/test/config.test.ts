import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { initRepo, openRepo, type RepoConfig } from '../src/index.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shardswap-config-'))
  await initRepo(folder)
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

async function configOf(text: string | undefined): Promise<RepoConfig> {
  if (text === undefined) await rm(join(folder, 'config'))
  else await writeFile(join(folder, 'config'), text)
  const repo = await openRepo(folder)
  await repo.close()
  return repo.config
}

describe('the config file', () => {
  test('a new repo writes out the defaults, so that each can be changed by itself', async () => {
    const text = await readFile(join(folder, 'config'), 'utf8')
    expect(JSON.parse(text)).toEqual({
      addresses: { swarm: ['/ip4/0.0.0.0/tcp/4001'], api: '/ip4/127.0.0.1/tcp/5001' },
      reliability: { share: 'proportional', backups: true },
      serve: { mode: 'open', cap: 1024, tests: true }
    })
    expect(await configOf(text)).toEqual(await configOf(undefined))
    expect((await configOf(text.replace('"cap": 1024', '"cap": 16'))).serve).toEqual({ mode: 'open', cap: 16, freeScore: 2, tests: true })
  })

  test('what is left out, the file itself too, has its default', async () => {
    const defaults = await configOf(undefined)
    const { addresses, reliability } = defaults
    expect(await configOf('{}')).toEqual(defaults)
    expect(await configOf('{"addresses":{"swarm":[]}}')).toEqual({ ...defaults, addresses: { ...addresses, swarm: [] } })
    expect(await configOf('{"addresses":{"api":"/ip6/::1/tcp/0"}}')).toEqual({
      ...defaults,
      addresses: { ...addresses, api: '/ip6/::1/tcp/0' }
    })
    expect(await configOf('{"reliability":{"backups":false}}')).toEqual({ ...defaults, reliability: { ...reliability, backups: false } })
  })

  test.each(['proportional', 'equal', 'percentile'])('[P21] the map from score to share may be %s', async (share) => {
    expect((await configOf(JSON.stringify({ reliability: { share } }))).reliability).toEqual({ share, backups: true })
  })

  test.each(['open', 'registered', 'off'])('[I14] what becomes of requests that are not admitted may be %s', async (mode) => {
    expect((await configOf(JSON.stringify({ serve: { mode } }))).serve).toEqual({ mode, cap: 1024, freeScore: 128, tests: true })
  })

  test.each([
    [{ cap: 64 }, { cap: 64, freeScore: 8 }],
    [{ cap: 5 }, { cap: 5, freeScore: 1 }],
    [
      { cap: 64, freeScore: 0 },
      { cap: 64, freeScore: 0 }
    ],
    [
      { cap: 1, freeScore: 0.5, tests: false },
      { cap: 1, freeScore: 0.5, tests: false }
    ]
  ])('[I9] the free score follows the cap where it is not given, and may be 0 or a fraction: %j', async (serve, expected) => {
    expect((await configOf(JSON.stringify({ serve }))).serve).toEqual({ mode: 'open', tests: true, ...expected })
  })

  test.each([
    ['{', /config is not JSON/],
    ['[]', /the file must be an object/],
    ['{"adresses":{}}', /adresses is not a key.*addresses/],
    ['{"addresses":1}', /addresses must be an object/],
    ['{"addresses":{"swram":[]}}', /addresses\.swram is not a key.*swarm, api/],
    ['{"addresses":{"swarm":"/ip4/1.2.3.4/tcp/1"}}', /addresses\.swarm must be a list/],
    ['{"addresses":{"swarm":["/ip4/1.2.3.4/tcp/1",7]}}', /addresses\.swarm\[1\] must be a multiaddr.*not 7/],
    ['{"addresses":{"swarm":["1.2.3.4:1"]}}', /addresses\.swarm\[0\] must be a multiaddr/],
    ['{"addresses":{"api":5001}}', /addresses\.api must be a multiaddr/],
    ['{"addresses":{"api":"/ip4/0.0.0.0/tcp/5001"}}', /addresses\.api must be on loopback/],
    ['{"reliability":[]}', /reliability must be an object/],
    ['{"reliability":{"shares":"equal"}}', /reliability\.shares is not a key.*share, backups/],
    ['{"reliability":{"share":"fair"}}', /reliability\.share must be one of proportional, equal, percentile, not "fair"/],
    ['{"reliability":{"share":null}}', /reliability\.share must be one of.*not null/],
    ['{"reliability":{"backups":"no"}}', /reliability\.backups must be true or false, not "no"/],
    ['{"serve":true}', /serve must be an object/],
    ['{"serve":{"limit":5}}', /serve\.limit is not a key.*mode, cap, freeScore, tests/],
    ['{"serve":{"mode":"closed"}}', /serve\.mode must be one of open, registered, off, not "closed"/],
    ['{"serve":{"mode":null}}', /serve\.mode must be one of.*not null/],
    ['{"serve":{"cap":0}}', /serve\.cap must be a whole number of requests above 0, not 0/],
    ['{"serve":{"cap":1.5}}', /serve\.cap must be a whole number.*not 1\.5/],
    ['{"serve":{"cap":"64"}}', /serve\.cap must be a whole number.*not "64"/],
    ['{"serve":{"freeScore":-1}}', /serve\.freeScore must be a number from 0 to serve\.cap, which is 1024, not -1/],
    ['{"serve":{"cap":64,"freeScore":65}}', /serve\.freeScore must be a number from 0 to serve\.cap, which is 64, not 65/],
    ['{"serve":{"tests":1}}', /serve\.tests must be true or false, not 1/],
    ['{"serve":{"freeScore":null}}', /serve\.freeScore must be a number.*not null/]
  ])('%s is refused with the name of the key, and the repo is left unlocked', async (text, message) => {
    await expect(configOf(text)).rejects.toMatchObject({
      name: 'ConfigError',
      code: 'ERR_CONFIG',
      message: expect.stringMatching(message) as string
    })
    await configOf('{}')
  })
})
