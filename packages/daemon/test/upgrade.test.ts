/** Repos of older layouts. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { initRepo, openRepo } from '@shardswap/repo'
import { CID } from 'multiformats/cid'
import { sha256 } from 'multiformats/hashes/sha2'
import { expect, onTestFinished, test } from 'vitest'
import { openLocalNode, startDaemon } from '../src/index.ts'
import { collect, someBytes } from './setup.ts'

/** A folder of the first layout: it has blocks and knows of no pins. */
async function oldRepo(blocks: number): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'shardswap-upgrade-'))
  onTestFinished(async () => await rm(path, { recursive: true, force: true }))
  await initRepo(path)
  const repo = await openRepo(path)
  for (let at = 0; at < blocks; at++) {
    const bytes = someBytes(100, at + 1)
    await repo.blocks.put(CID.createV1(0x70, await sha256.digest(bytes)), bytes)
  }
  await repo.close()
  await writeFile(join(path, 'version'), '1\n')
  return path
}

async function versionOf(path: string): Promise<string> {
  return (await readFile(join(path, 'version'), 'utf8')).trim()
}

test('what a repo from before pins holds outlives the first collection, and can be given up', async () => {
  const path = await oldRepo(1001)
  const warnings: string[] = []
  const onWarning = (message: string): void => void warnings.push(message)
  const node = await openLocalNode({ repo: await openRepo(path), online: false, onWarning })
  expect(await collect(node.garbage.collect())).toEqual([])
  expect(await node.repoStat()).toMatchObject({ version: 2, blocks: 1001 })
  const pins = await collect(node.pins.ls({ type: 'direct', name: 'from before pins' }))
  expect(pins.length).toBe(1001)
  await node.pins.rm(pins.map(({ cid }) => cid.toString()))
  expect((await collect(node.garbage.collect())).length).toBe(1001)
  await node.close()
  const again = await openLocalNode({ repo: await openRepo(path), online: false, onWarning })
  await again.close()
  expect(warnings).toEqual([expect.stringContaining('each of its 1001 blocks got a pin')])
})

test('a repo of the first layout that has pins already gets no more, and one that was cut off goes on', async () => {
  const path = await oldRepo(3)
  const first = await openLocalNode({ repo: await openRepo(path), online: false })
  const [some] = await collect(first.pins.ls({ type: 'direct' }))
  await first.pins.rm([some?.cid.toString() ?? ''])
  await first.close()
  await writeFile(join(path, 'version'), '1\n')
  const second = await openLocalNode({ repo: await openRepo(path), online: false })
  expect((await collect(second.pins.ls({ type: 'direct' }))).length).toBe(3)
  await second.pins.rm([some?.cid.toString() ?? ''])
  await second.pins.add(
    (await collect(second.pins.ls({ type: 'direct' }))).slice(0, 1).map(({ cid }) => cid.toString()),
    {
      isRecursive: false,
      name: 'mine'
    }
  )
  await second.close()
  await writeFile(join(path, 'version'), '1\n')
  const third = await openLocalNode({ repo: await openRepo(path), online: false })
  expect((await collect(third.pins.ls({ type: 'direct' }))).length).toBe(2)
  await third.close()
})

test('a daemon does the same, and gives the repo back where it cannot', async () => {
  const path = await oldRepo(1)
  const repo = await openRepo(path)
  repo.raiseVersion = async () => await Promise.reject(new Error('the disk is full'))
  const listen = ['/ip4/127.0.0.1/tcp/0']
  const api = '/ip4/127.0.0.1/tcp/0'
  await expect(startDaemon({ repo, listen, api })).rejects.toThrow('could not be brought to version 2: the disk is full')
  expect(await versionOf(path)).toBe('1')
  const daemon = await startDaemon({ repo: await openRepo(path), listen, api })
  await daemon.stop()
  expect(await versionOf(path)).toBe('2')
})
