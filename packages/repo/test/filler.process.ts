/**
 * Puts large and small blocks into the repo named on its command line, where no
 * file may grow beyond a limit, and reports which were stored and which failed.
 */
import { openRepo } from '../src/index.ts'
import { randomBlock } from './blocks.ts'

const path = process.argv[2]
if (path === undefined) throw new Error('usage: filler REPO')
const repo = await openRepo(path, { create: true })
const stored: string[] = []
const failed: { cid: string; code: unknown; message: string }[] = []

async function put(length: number): Promise<boolean> {
  const { cid, bytes } = randomBlock(length)
  try {
    await repo.blocks.put(cid, bytes)
    stored.push(cid.toString())
    return true
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const { code, message } = cause as Error & { code?: unknown }
    failed.push({ cid: cid.toString(), code, message })
    return false
  }
}

for (let i = 0; i < 10; i++) await put(100_000)
// Larger than a file may be: the block's own file cannot be written.
await put(300_000)
await put(100_000)
// Small ones go to LevelDB, whose log cannot grow beyond the limit.
for (let i = 0; i < 1_000; i++) if (!(await put(1_000))) break
await put(100_000)
await repo.close()
process.stdout.write(JSON.stringify({ stored, failed }))
