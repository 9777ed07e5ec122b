import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DemoPeer } from '../src/demo/demo-peer.ts'
import { folder, run, type RunOptions, someBytes, start } from './command.ts'

interface DemoJson {
  readonly ok: boolean
  readonly bytes: number
  readonly seconds: number
  readonly contentMatches: boolean
  readonly duplicateBlocks: number
  readonly duplicateBytes: number
  readonly killed: string | null
  readonly providers: readonly { peer: string; blocks: number; bytes: number; timeouts: number; score: number }[]
}

/** A folder for the demo's own folders, so that what it leaves is seen. */
async function newTemp(): Promise<{ temp: string; options: RunOptions }> {
  const temp = join(await folder(), 'tmp')
  await mkdir(temp)
  return { temp, options: { env: { TMPDIR: temp } } }
}

/** Ids of the demo's processes whose folders are under `temp`. */
async function processesOf(temp: string): Promise<string[]> {
  const found: string[] = []
  for (const id of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')
    if (line.includes('peer-main') && line.includes(temp)) found.push(id)
  }
  return found
}

async function expectNothingLeft(temp: string): Promise<void> {
  await expect.poll(async () => await processesOf(temp), { timeout: 60_000 }).toEqual([])
  await expect.poll(async () => await readdir(temp), { timeout: 60_000 }).toEqual([])
}

function lastLine(stdout: string): DemoJson {
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as DemoJson
}

test('the demo fetches from all providers at once, tells it in its last line, and leaves nothing', async () => {
  const { temp, options } = await newTemp()
  const { code, stdout, stderr } = await run(['demo', '--size', '32MiB', '--json'], options)
  expect(stderr).toBe('')
  expect(code).toBe(0)
  const result = lastLine(stdout)
  expect(Object.keys(result)).toEqual([
    'ok',
    'bytes',
    'seconds',
    'contentMatches',
    'duplicateBlocks',
    'duplicateBytes',
    'killed',
    'providers'
  ])
  expect(result).toMatchObject({ ok: true, bytes: 32 * 1024 * 1024, contentMatches: true, killed: null })
  expect(result.seconds).toBeGreaterThan(0)
  expect(result.providers).toHaveLength(3)
  for (const provider of result.providers) {
    expect(Object.keys(provider)).toEqual(['peer', 'blocks', 'bytes', 'timeouts', 'score'])
    expect(provider.score).toBeGreaterThan(0)
    expect(provider.score).toBeLessThanOrEqual(100)
    expect(stdout.split('\n').some((line) => line.startsWith(provider.peer))).toBe(true)
  }
  expect(result.providers.filter((provider) => provider.blocks > 0).length).toBeGreaterThan(1)
  expect(result.providers.reduce((sum, provider) => sum + provider.bytes, 0)).toBeGreaterThanOrEqual(result.bytes)
  expect(stdout).toContain('matches bit for bit')
  await expectNothingLeft(temp)
})

test('with --kill a provider dies in mid-transfer and the file still comes', async () => {
  const { temp, options } = await newTemp()
  const { code, stdout } = await run(['demo', '--size', '24MiB', '--kill', '--json'], options)
  expect(code).toBe(0)
  const result = lastLine(stdout)
  expect(result).toMatchObject({ ok: true, contentMatches: true })
  expect(result.providers.map((provider) => provider.peer)).toContain(result.killed)
  expect(stdout).toContain('(killed)')
  await expectNothingLeft(temp)
})

test('the demo takes a file, and one provider', async () => {
  const { temp, options } = await newTemp()
  const file = join(await folder(), 'own.bin')
  await writeFile(file, someBytes(1_000_001))
  const { code, stdout } = await run(['demo', '--file', file, '--peers', '2', '--json'], options)
  expect(code).toBe(0)
  expect(lastLine(stdout)).toMatchObject({ ok: true, bytes: 1_000_001, providers: [{ timeouts: 0 }] })
  expect((await run(['demo', '--file', '/nonexistent'], options)).stderr).toBe('Error: /nonexistent: no such file or directory\n')
  await expectNothingLeft(temp)
})

test('Ctrl-C in mid-demo leaves nothing and ends with 130', async () => {
  const { temp, options } = await newTemp()
  const running = start(['demo', '--size', '256MiB'], options)
  await running.says('Adding')
  expect(await processesOf(temp)).toHaveLength(4)
  running.child.kill('SIGINT')
  expect((await running.finished).code).toBe(130)
  await expectNothingLeft(temp)
})

test('[F87] kill -9 of the demo leaves nothing', async () => {
  const { temp, options } = await newTemp()
  const running = start(['demo', '--size', '256MiB'], options)
  await running.says('Adding')
  running.child.kill('SIGKILL')
  expect((await running.finished).code).toBeNull()
  await expectNothingLeft(temp)
})

test('a peer that was killed before anything is asked of it is missed at once', async () => {
  const peer = new DemoPeer(join(await folder(), 'peer'))
  const signal = AbortSignal.timeout(60_000)
  await peer.until('ready', signal)
  await peer.kill()
  peer.order({ type: 'add', content: { bytes: 1 } })
  await expect(peer.until('added', signal)).rejects.toThrow('a peer of the demo ended unexpectedly')
})
