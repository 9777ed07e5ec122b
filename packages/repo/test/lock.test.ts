import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openRepo } from '../src/index.ts'

let folder: string
let path: string
const children: ChildProcess[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shardswap-lock-'))
  path = join(folder, 'repo')
})

afterEach(async () => {
  for (const child of children.splice(0)) await end(child, 'SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill(signal)
  await exit
}

/** A child that has the repo open. */
async function holder(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'holder.process.ts'), path], { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  for await (const line of createInterface({ input: child.stdout })) if (line === 'open') return child
  throw new Error('the holder ended before it opened the repo')
}

describe('[F65] one process per repo', () => {
  test('a second process is refused with the pid of the first', async () => {
    const { pid } = await holder()
    await expect(openRepo(path)).rejects.toMatchObject({
      name: 'RepoLockedError',
      code: 'ERR_REPO_LOCKED',
      pid,
      message: expect.stringContaining(`(pid ${pid})`) as string
    })
  })

  test('a second open in this process is refused too, and does not end the first', async () => {
    const first = await openRepo(path, { create: true })
    await expect(openRepo(path)).rejects.toMatchObject({ name: 'RepoLockedError', pid: process.pid })
    await expect(openRepo(path)).rejects.toThrow(/this very process/)
    expect((await first.stat()).blocks).toBe(0)
    await first.close()
    await (await openRepo(path)).close()
  })

  test('of many that open at once, one has it', async () => {
    await (await openRepo(path, { create: true })).close()
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(async () => await openRepo(path)))
    const won = outcomes.filter((outcome) => outcome.status === 'fulfilled')
    const lost = outcomes.filter((outcome) => outcome.status === 'rejected')
    expect([won.length, lost.length]).toEqual([1, 3])
    for (const { reason } of lost) expect(reason).toMatchObject({ name: 'RepoLockedError', pid: process.pid })
    await won[0]?.value.close()
  })

  test('what kill -9 left is no lock', async () => {
    const child = await holder()
    await end(child, 'SIGKILL')
    expect((await readFile(join(path, 'repo.lock'), 'utf8')).trim()).toBe(String(child.pid))
    await (await openRepo(path)).close()
  })

  test('nor is it if another process has that pid by now', async () => {
    await (await openRepo(path, { create: true })).close()
    // The parent of this process runs, and has nothing to do with the repo.
    await writeFile(join(path, 'repo.lock'), `${process.ppid}\n`)
    const repo = await openRepo(path)
    expect((await readFile(join(path, 'repo.lock'), 'utf8')).trim()).toBe(String(process.pid))
    await repo.close()
  })

  test('a holder that has not told its pid yet is waited for', async () => {
    const child = await holder()
    const file = join(path, 'repo.lock')
    const text = await readFile(file, 'utf8')
    // As it looks to others between a start after a crash and the new holder's first write: a dead process's pid.
    const dead = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
    await once(dead, 'exit')
    await writeFile(file, `${dead.pid}\n`)
    const refusal = openRepo(path).then(
      () => undefined,
      (error: unknown) => error
    )
    await writeFile(file, text)
    expect(await refusal).toMatchObject({ name: 'RepoLockedError', pid: child.pid })
  })

  test('close gives it back, and leaves the process free to exit', async () => {
    const child = await holder()
    const exit = once(child, 'exit')
    child.stdin?.end()
    expect(await exit).toEqual([0, null])
    await expect(readFile(join(path, 'repo.lock'))).rejects.toMatchObject({ code: 'ENOENT' })
    await (await openRepo(path)).close()
  })
})
