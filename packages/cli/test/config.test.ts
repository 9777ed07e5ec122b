import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { initRepo } from '@shardswap/repo'
import { expect, test } from 'vitest'
import { folder, ok, run, startDaemon } from './command.ts'

async function newRepo(): Promise<string> {
  const repo = join(await folder(), 'repo')
  await initRepo(repo)
  return repo
}

test('config shows and changes what the nodes of a repo go by, with a daemon and without', async () => {
  const repo = await newRepo()
  await ok(['config', 'set', 'serve.cap', '64'], { repo })
  await ok(['config', 'reliability.share', 'equal'], { repo })
  expect(JSON.parse(await ok(['config', 'get', '--json', 'serve.freeScore'], { repo }))).toEqual({ Key: 'serve.freeScore', Value: 8 })
  const { daemon } = await startDaemon(repo)
  const set = await run(['config', 'set', 'addresses.swarm', '/ip4/127.0.0.1/tcp/1', '/ip4/127.0.0.1/tcp/2'], { repo })
  expect(set).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('from its next start on') as string })
  await ok(['config', 'unset', 'reliability.share'], { repo })
  const shown = JSON.parse(await ok(['config', 'show'], { repo })) as unknown
  expect(shown).toMatchObject({
    addresses: { swarm: ['/ip4/127.0.0.1/tcp/1', '/ip4/127.0.0.1/tcp/2'] },
    serve: { cap: 64 },
    reliability: { share: 'proportional' }
  })
  expect(JSON.parse(await readFile(join(repo, 'config'), 'utf8'))).toMatchObject({ serve: { cap: 64 } })
  expect(JSON.parse(await ok(['stats', 'bw', '--json'], { repo }))).toEqual({ TotalIn: 0, TotalOut: 0, RateIn: 0, RateOut: 0 })
  expect(await ok(['stats', 'bw'], { repo })).toBe('Bandwidth\nTotalIn: 0 B\nTotalOut: 0 B\nRateIn: 0 B/s\nRateOut: 0 B/s')
  daemon.child.kill('SIGTERM')
  expect((await daemon.finished).code).toBe(0)
})

test('a mistake in the config names the key, and can be mended by the command', async () => {
  const repo = await newRepo()
  const refused = await run(['config', 'set', 'serve.cap', 'many'], { repo })
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toMatch(/ConfigError: .*serve\.cap must be a whole number of requests above 0, not "many"/)
  await writeFile(join(repo, 'config'), '{"serve":{"mode":"closed"}}')
  expect((await run(['daemon'], { repo })).stderr).toMatch(/serve\.mode must be one of open, registered, off, not "closed"/)
  await ok(['config', 'set', 'serve.mode', 'off'], { repo })
  expect(await ok(['config', 'get', 'serve.mode'], { repo })).toBe('off')
  expect((await run(['config', 'show'], { repo: join(repo, 'nowhere') })).stderr).toMatch(/there is no repo/)
})
