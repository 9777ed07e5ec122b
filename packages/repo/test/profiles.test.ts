import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { initRepo, openRepo, profileConfig, type ProfileName, type RepoConfig } from '../src/index.ts'

/** The config of a new repo of a profile, or of none. */
async function configOf(profile: ProfileName | undefined): Promise<RepoConfig> {
  const folder = await mkdtemp(join(tmpdir(), 'shardswap-profile-'))
  onTestFinished(async () => await rm(folder, { recursive: true, force: true }))
  await initRepo(folder, profile === undefined ? {} : { config: profileConfig(profile) })
  const repo = await openRepo(folder)
  await repo.close()
  return repo.config
}

test.each([undefined, 'local'] as const)('a repo of the profile %s is quiet: nothing is looked up or announced', async (profile) => {
  expect((await configOf(profile)).routing).toEqual({
    bootstrap: [],
    peering: [],
    mdns: false,
    dht: 'off',
    delegated: [],
    provide: 'off',
    provideEveryMs: 22 * 3_600_000
  })
})

test('a public one has peers to begin with, the DHT, a delegated router and the local network', async () => {
  const { routing } = await configOf('public')
  expect(routing).toMatchObject({ mdns: true, dht: 'client', delegated: ['https://delegated-ipfs.dev'], peering: [], provide: 'roots' })
  expect(routing.bootstrap).toHaveLength(5)
})
