import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { initRepo } from '@shardswap/repo'
import { expect, test } from 'vitest'
import { folder, ok, run, startDaemon } from './command.ts'

const token = 'a-token-of-30-letters-and-more'

test('commands on a repo show the token of its config, others one that is given; a wrong one is refused', async () => {
  const cwd = await folder()
  const repo = join(cwd, 'repo')
  await initRepo(repo, { config: { api: { auth: token } } })
  await startDaemon(repo)
  const api = (await readFile(join(repo, 'api'), 'utf8')).trim()
  expect(await ok(['health'], { repo })).toBe('the daemon answers, 0 peers are connected')
  await writeFile(join(cwd, 'token'), `${token}\n`)
  expect(JSON.parse(await ok(['health', '--json', '--api', api, '--api-auth', '@token'], { cwd }))).toEqual({ Healthy: true, Peers: 0 })
  expect(await ok(['health', '--api', api], { env: { SHARDSWAP_API_AUTH: `bearer:${token}` } })).toContain('the daemon answers')
  const none = await run(['health', '--api', api])
  expect(none).toMatchObject({ stdout: '', stderr: expect.stringMatching(/UnauthorizedError: .*--api-auth/) as string })
  expect(none.code).not.toBe(0)
  const wrong = await run(['id', '--api-auth', `${token}x`], { repo })
  expect(wrong.stderr).toMatch(/UnauthorizedError/)
  const short = await run(['id', '--api-auth', 'short'], { repo })
  expect(short).toMatchObject({ code: 2, stderr: expect.not.stringContaining('"short"') as string })
})

test('health says so where no daemon runs, or none answers', async () => {
  const repo = join(await folder(), 'repo')
  await initRepo(repo)
  expect(await run(['health'], { repo })).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('no daemon serves') as string
  })
  const { daemon } = await startDaemon(repo)
  daemon.child.kill('SIGSTOP')
  const frozen = await run(['health', '--timeout', '1s'], { repo })
  expect(frozen.code).not.toBe(0)
  daemon.child.kill('SIGCONT')
  daemon.child.kill('SIGTERM')
  expect((await daemon.finished).code).toBe(0)
})
