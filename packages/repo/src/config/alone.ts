import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { ConfigError } from '../errors.ts'
import { errorCode, isRunning, readOptional } from '../files.ts'
import { configWaitMs } from '../limits.ts'

const lookEveryMs = 10

/**
 * Runs a change of a file while no other process, and nobody else in this one, makes one: who begins writes its pid into
 * `lockFile`. That of a process which has ended counts for nothing. Errors: ConfigError where somebody takes too long.
 */
export async function alone<T>(lockFile: string, task: () => Promise<T>): Promise<T> {
  await take(lockFile)
  try {
    return await task()
  } finally {
    await rm(lockFile, { force: true })
  }
}

async function take(lockFile: string): Promise<void> {
  let holder = ''
  for (let waitedMs = 0; waitedMs < configWaitMs; waitedMs += lookEveryMs) {
    if (await made(lockFile)) return
    holder = (await readOptional(lockFile))?.toString('utf8').trim() ?? ''
    // Empty for the moment between its making and its first byte.
    if (/^[1-9][0-9]*$/.test(holder) && !isRunning(Number(holder))) await leftBehind(lockFile, holder)
    else await delay(lookEveryMs)
  }
  throw new ConfigError(`config: process ${holder} is changing it, and does not end; if there is no such process, remove ${lockFile}`)
}

async function made(lockFile: string): Promise<boolean> {
  let handle: FileHandle | undefined
  try {
    handle = await open(lockFile, 'wx', 0o600)
    await handle.writeFile(`${process.pid}\n`)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  } finally {
    await handle?.close()
  }
}

/** Takes the file of an ended process away. Of several that see it one does: it moves what it saw, under a name of its own. */
async function leftBehind(lockFile: string, holder: string): Promise<void> {
  const aside = `${lockFile}.${process.pid}`
  try {
    if ((await readOptional(lockFile))?.toString('utf8').trim() === holder) await rename(lockFile, aside)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
  }
  await rm(aside, { force: true })
}
