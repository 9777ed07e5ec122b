import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { CID, readBlock } from '@shardswap/interface'
import { base32 } from 'multiformats/bases/base32'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openRepo } from '../src/index.ts'
import { randomBlock } from './blocks.ts'

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shardswap-crash-'))
  path = join(folder, 'repo')
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

const putter = join(import.meta.dirname, 'putter.process.ts')

/** Lets a process put blocks and kills it after so many were acknowledged. All that it had acknowledged by its end. */
async function putUntilKilled(seed: string, acknowledgedMin: number): Promise<string[]> {
  const child = spawn(process.execPath, [putter, path, seed], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (lines.length === acknowledgedMin) child.kill('SIGKILL')
  }
  expect(await exit).toEqual([null, 'SIGKILL'])
  // The kill may have cut the last line.
  return lines.filter((line) => line !== 'open' && line.length === 59)
}

/** Where the block's file is; as the layout has it. */
function fileOf(cid: CID): string {
  const name = base32.baseEncode(cid.multihash.bytes)
  return join(path, 'blocks', name.slice(-3, -1), name)
}

describe('kill -9', () => {
  test('loses nothing that was acknowledged, at whatever point it comes', async () => {
    const acknowledged: string[] = []
    for (let round = 0; round < 7; round++) {
      acknowledged.push(...(await putUntilKilled(String(round), 2 + round * round * 8)))
      const repo = await openRepo(path)
      const here = new Set<string>()
      for await (const { cid, ok, reason } of repo.verify()) {
        expect([ok, reason]).toEqual([true, undefined])
        here.add(cid.toString())
      }
      for (const text of acknowledged) expect(here.has(text)).toBe(true)
      expect(await readdir(join(path, 'blocks', 'unfinished'))).toEqual([])
      await repo.close()
    }
    expect(acknowledged.length).toBeGreaterThan(700)
  }, 120_000)

  test('takes in a file that was in place before the index knew it', async () => {
    await (await openRepo(path, { create: true })).close()
    const whole = randomBlock(100_000)
    const torn = randomBlock(100_000)
    const tiny = randomBlock(100)
    for (const { cid, bytes } of [whole, { ...torn, bytes: torn.bytes.subarray(0, 50_000) }, tiny]) {
      await mkdir(dirname(fileOf(cid)), { recursive: true })
      await writeFile(fileOf(cid), bytes)
    }
    await writeFile(join(dirname(fileOf(whole.cid)), 'not a block'), 'x')
    // As a process that ended without giving the repo back leaves it.
    await writeFile(join(path, 'repo.lock'), '1\n')
    const repo = await openRepo(path)
    expect(await readBlock(repo.blocks, whole.cid)).toEqual(whole.bytes)
    await expect(readBlock(repo.blocks, torn.cid)).rejects.toMatchObject({ name: 'NotFoundError' })
    expect(await repo.blocks.has(tiny.cid)).toBe(false)
    expect((await repo.stat()).blocks).toBe(1)
    await repo.close()
  })
})

/** Runs a process of ours under a limit that the shell sets; what it wrote. */
async function runLimited(limit: string, name: string): Promise<string> {
  const child = spawn('/bin/bash', ['-c', `${limit}; exec "$0" "$@"`, process.execPath, join(import.meta.dirname, name), path], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const exit = once(child, 'exit')
  let text = ''
  for await (const part of child.stdout.setEncoding('utf8')) text += String(part)
  expect(await exit).toEqual([0, null])
  return text
}

describe('a full disk', () => {
  test('is an error of the put that met it, and costs no block that was stored', async () => {
    // A file may not grow beyond 200 KiB, and a write that would is an error (EFBIG) instead of a signal.
    const report = await runLimited(`trap '' XFSZ; ulimit -f 200`, 'filler.process.ts')
    const { stored, failed } = JSON.parse(report) as { stored: string[]; failed: { cid: string; code: string; message: string }[] }
    expect(stored.length).toBeGreaterThan(10)
    expect(failed.length).toBeGreaterThan(1)
    for (const { code, message } of failed) expect(`${code} ${message}`).toMatch(/EFBIG|File too large|EIO|IO error/)
    const repo = await openRepo(path)
    for (const text of stored) await readBlock(repo.blocks, CID.parse(text))
    for (const { cid } of failed) expect(await repo.blocks.has(CID.parse(cid))).toBe(false)
    for await (const { ok } of repo.verify()) expect(ok).toBe(true)
    await repo.close()
  })
})

describe('few open files', () => {
  test('are enough for any number of large blocks asked for at once', async () => {
    expect((await runLimited('ulimit -n 200', 'reader.process.ts')).trim()).toBe('5000')
  })
})
