/**
 * Puts blocks into the repo named on its command line, many at a time, and
 * writes the CID of each one that was acknowledged to standard output, until it is killed.
 * `putter REPO SEED` — sizes vary from a few bytes to 300 KiB.
 */
import { openRepo } from '../src/index.ts'
import { seededBlock } from './blocks.ts'

const [path, seed] = process.argv.slice(2)
if (path === undefined || seed === undefined) throw new Error('usage: putter REPO SEED')
const repo = await openRepo(path, { create: true })
let next = 0

async function lane(): Promise<void> {
  for (;;) {
    const { cid, bytes } = seededBlock(`${seed} ${next++}`)
    await repo.blocks.put(cid, bytes)
    process.stdout.write(`${cid.toString()}\n`)
  }
}

process.stdout.write('open\n')
await Promise.all(Array.from({ length: 32 }, lane))
