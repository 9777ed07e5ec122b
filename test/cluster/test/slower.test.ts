/** The one test of links whose clock counts; `pnpm test:quiet` runs it where nothing else does. */
import { expect, test } from 'vitest'
import { addToAll, cluster, download, linksTo } from './downloads.ts'

const MiB = 1024 * 1024
const file = { seed: 1, bytes: 64 * MiB }
/** Of the file's bytes, so many may come twice. */
const duplicateShareMax = 0.005
// So slow that two cores carry them all, and that what a download begins and ends with is a small part of it.
const fastBytesPerS = 3e6
const slowBytesPerS = fastBytesPerS / 10
// Beside other tests on two cores the clock says little. An even split would come to 0.13.
const part = process.env['SHARDSWAP_QUIET'] === undefined ? 0.5 : 0.9

test(
  '[B3][B16][B17][B18] a provider ten times slower does not slow the three others below what their links carry',
  { timeout: 90_000 },
  async () => {
    const peers = cluster()
    const providers = await peers.peers(4, { announceNothing: true })
    const { root, sha256 } = await addToAll(providers, file)
    const addresses = await linksTo(peers, providers, [fastBytesPerS, fastBytesPerS, fastBytesPerS, slowBytesPerS])
    const fetched = await download(peers, root, addresses)
    expect(fetched.sha256).toBe(sha256)
    expect(fetched.stat.fetch.duplicateBytes).toBeLessThanOrEqual(file.bytes * duplicateShareMax)
    const ofFast = file.bytes / fetched.seconds / (3 * fastBytesPerS)
    process.stdout.write(`beside a provider ten times slower, ${ofFast.toFixed(2)} of what the fast links carry\n`)
    expect(ofFast).toBeGreaterThanOrEqual(part)
  }
)
