import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '@shardswap/interface'
import { ClassicLevel, type OpenOptions } from 'classic-level'
import { RepoCorruptError, RepoLockedError } from './errors.ts'
import { errorCode, isRunning, readOptional, writeAtomic } from './files.ts'
import { holderWaitMs, levelCacheBytes, levelFilesMax } from './limits.ts'

/**
 * One process per repo. What decides is the lock that the operating system
 * holds for LevelDB on the datastore's folder: it ends with its process,
 * however that ends, so it can be neither stale nor fooled by a pid that
 * another process has now. The file `repo.lock` only tells others the pid, and
 * tells the next start whether the last one ended in order.
 */
const levelOptions: OpenOptions = { compression: false, cacheSize: levelCacheBytes, maxOpenFiles: levelFilesMax }

/** Whether LevelDB refused because its folder is locked. */
function isLocked(error: unknown): boolean {
  return errorCode(error) === 'LEVEL_LOCKED' || (error instanceof Error && errorCode(error.cause) === 'LEVEL_LOCKED')
}

async function readHolder(lockFile: string): Promise<number | undefined> {
  const text = (await readOptional(lockFile))?.toString('utf8').trim() ?? ''
  return /^[1-9][0-9]*$/.test(text) ? Number(text) : undefined
}

/** The pid in the lock file. The holder writes it right after it got the lock, so it may take a moment. */
async function waitForHolder(lockFile: string): Promise<number | undefined> {
  for (let waitedMs = 0; waitedMs < holderWaitMs; waitedMs += 50) {
    const pid = await readHolder(lockFile)
    if (pid !== undefined && isRunning(pid)) return pid
    await delay(50)
  }
  return undefined
}

/** Opens a LevelDB. Errors: the locked error as LevelDB gives it; RepoCorruptError. */
export async function openLevel<Key>(location: string, keyEncoding: 'utf8' | 'view'): Promise<ClassicLevel<Key, Uint8Array>> {
  const db = new ClassicLevel<Key, Uint8Array>(location, { keyEncoding, valueEncoding: 'view', ...levelOptions })
  try {
    await db.open()
    return db
  } catch (error) {
    await db.close()
    if (isLocked(error)) throw error
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const why = messageOf(cause)
    throw new RepoCorruptError(
      `the database ${location} cannot be opened (${why}): if its disk is full or not writable, mend that; ` +
        'if it is damaged, restore it from a backup, or move that folder away and start with an empty one',
      { cause }
    )
  }
}

/**
 * Forces what was written to the disk: LevelDB writes one log after another, and the last write takes those before it in
 * its log along. An older log is on the disk once LevelDB has made a table of it, which takes it a moment.
 */
export async function forceToDisk<Key>(db: ClassicLevel<Key, Uint8Array>, key: Key): Promise<void> {
  await db.put(key, new Uint8Array(0), { sync: true })
}

/** What the holder of a repo has. */
export interface HeldLock {
  /** The database whose folder is locked. */
  readonly db: ClassicLevel<string, Uint8Array>
  /** Whether the last holder ended without giving the repo back. */
  readonly afterCrash: boolean
  /** Gives the repo back; closes the database. */
  release(): Promise<void>
}

/** Takes the repo for this process. Errors: RepoLockedError, RepoCorruptError. */
export async function takeLock(repo: string, lockFile: string, datastore: string): Promise<HeldLock> {
  let db: ClassicLevel<string, Uint8Array>
  try {
    db = await openLevel(datastore, 'utf8')
  } catch (error) {
    if (!isLocked(error)) throw error
    throw new RepoLockedError(repo, await waitForHolder(lockFile))
  }
  try {
    const afterCrash = (await readOptional(lockFile)) !== undefined
    await writeAtomic(lockFile, `${process.pid}\n`)
    return {
      db,
      afterCrash,
      release: async () => {
        await rm(lockFile, { force: true })
        await db.close()
      }
    }
  } catch (error) {
    await db.close()
    throw error
  }
}
