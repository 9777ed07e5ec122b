/** Asks for thousands of large blocks at once, from the repo named on its command line, and tells how many came. */
import { readBlock } from '@shardswap/interface'
import { openRepo } from '../src/index.ts'
import { randomBlock } from './blocks.ts'

const path = process.argv[2]
if (path === undefined) throw new Error('usage: reader REPO')
const repo = await openRepo(path, { create: true })
const blocks = Array.from({ length: 20 }, () => randomBlock(20_000))
await Promise.all(blocks.map(async ({ cid, bytes }) => await repo.blocks.put(cid, bytes)))
const wanted = Array.from({ length: 250 }, () => blocks).flat()
const got = await Promise.all(wanted.map(async ({ cid }) => await readBlock(repo.blocks, cid)))
await repo.close()
process.stdout.write(`${got.filter(({ byteLength }) => byteLength === 20_000).length}\n`)
