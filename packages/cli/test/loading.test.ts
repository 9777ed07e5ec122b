/** What a command loads before it does anything: most of the time that a short one takes. */
import { expect, test } from 'vitest'
import { fileURLToPath } from 'node:url'
import { ok } from './command.ts'

const listing = fileURLToPath(new URL('./loaded.ts', import.meta.url))

/** Packages that only a node in this process needs, or one that talks to peers. */
const heavy = [
  'libp2p',
  '@libp2p/crypto',
  '@libp2p/peer-id',
  'classic-level',
  'datastore-level',
  'ipfs-unixfs-importer',
  '@ipld/car',
  'helia'
]

test('help loads no store, no network and no importer', async () => {
  const stdout = await ok(['add', '--help'], { env: { NODE_OPTIONS: `--import=${listing}` } })
  const loaded = stdout.split('\n').flatMap((line) => /^loaded (.*)$/.exec(line)?.[1] ?? [])
  expect(loaded).toContain('commander')
  for (const name of heavy) expect(loaded).not.toContain(name)
})
