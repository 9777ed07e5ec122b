import { randomBytes } from 'node:crypto'
import { chmod, lstat, lutimes, mkdir, open, rename, stat, symlink, unlink, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type AbortOptions, asError, assert } from '@shardswap/interface'
import { NotAFileError, UnsafePathError } from '../errors.ts'
import { treeFilesMax } from '../limits.ts'
import { throwIfAborted } from '../local.ts'
import type { ReadOptions, TreeEntry, UnixTime } from '../types.ts'
import { checkName, staysInside } from './names.ts'

/** How a tree is written to disk. */
export interface WriteTreeOptions extends AbortOptions {
  /** The name of a lone file where the target is a folder that exists; by default its name, else its CID. */
  readonly name?: string
  /** Restore setuid, setgid and sticky bits too. Off: content from strangers must not grant rights. */
  readonly specialBits?: boolean
  /** Make symlinks too that lead out of the target. Off: whoever follows one later would write or read elsewhere. */
  readonly unsafeLinks?: boolean
  /** Bytes written so far. */
  readonly onProgress?: (bytes: number) => void
  /** What could not be done and does no harm: a mode or a time that could not be set, a block of no UnixFS. */
  readonly onWarning?: (path: string, error: Error) => void
  /** Files written at once, `treeFilesMax` by default. With 1 a file is whole before the next entry is asked for, as entries of one stream need it. */
  readonly filesMax?: number
}

/** What was written to disk. */
export interface WriteTreeResult {
  readonly files: number
  readonly directories: number
  readonly symlinks: number
  readonly bytes: number
}

interface Job {
  readonly options: WriteTreeOptions
  readonly signal: AbortSignal
  readonly abort: AbortController
  readonly count: { files: number; directories: number; symlinks: number; bytes: number }
  /** Directories whose mode and time are set last, parents first. */
  readonly pending: { readonly entry: TreeEntry; readonly file: string }[]
  readonly writing: Set<Promise<void>>
  failure: { readonly error: unknown } | undefined
}

/**
 * Writes a tree to disk as Kubo's `get` does: a directory becomes the folder
 * `target`, a file or symlink becomes the file `target`, or lies within
 * `target` where that is a folder already. Parents come before children.
 *
 * Nothing outside `target` is written, whatever names and links the tree
 * holds: names that are no names are refused, and no link below `target` is
 * followed. A symlink that leads out of `target` is left out, with a warning, and
 * refused where it is all there is. A file has its final name only once it is whole; after an error or an abort what is whole stays.
 * Errors: UnsafePathError, NotAFileError for a root of no UnixFS, AbortError, the source's, the file system's.
 */
export async function writeTree(
  entries: AsyncIterable<TreeEntry>,
  target: string,
  options: WriteTreeOptions = {}
): Promise<WriteTreeResult> {
  const abort = new AbortController()
  const signal = options.signal === undefined ? abort.signal : AbortSignal.any([abort.signal, options.signal])
  const count = { files: 0, directories: 0, symlinks: 0, bytes: 0 }
  const job: Job = { options, signal, abort, count, pending: [], writing: new Set(), failure: undefined }
  try {
    await writeEntries(job, entries, target)
    await Promise.all(job.writing)
    if (job.failure !== undefined) throw job.failure.error
    for (const { entry, file } of job.pending.reverse()) await restore(job, entry, file)
  } finally {
    abort.abort()
    await Promise.all(job.writing)
  }
  return count
}

async function writeEntries(job: Job, entries: AsyncIterable<TreeEntry>, target: string): Promise<void> {
  // The folders from the target down to the one being filled: all made or checked by us.
  const folders: { readonly path: string; readonly file: string }[] = []
  for await (const entry of entries) {
    throwIfAborted(job.options.signal)
    if (job.failure !== undefined) throw job.failure.error
    const isRoot = folders.length === 0
    const { symlinkTarget: to } = entry
    if (isRoot && to !== undefined && job.options.unsafeLinks !== true && !staysInside(to, 0, process.platform)) throw leadsOut(to)
    // Within a directory it is passed over with a warning; alone it is all that was asked for.
    if (isRoot && isNoFile(entry)) throw new NotAFileError(`${entry.cid.toString()} is neither a file nor a directory of UnixFS`)
    const file = isRoot ? await rootFile(entry, target, job.options) : childFile(entry, folders)
    if (entry.type === 'directory') {
      await makeFolder(entry, file, isRoot)
      job.count.directories++
      job.pending.push({ entry, file })
      folders.push({ path: entry.path, file })
    } else if (isRoot || isSafe(job, entry, folders.length - 1)) await writeLeaf(job, entry, file)
    if (isRoot && entry.type !== 'directory') return
  }
}

function isNoFile(entry: TreeEntry): boolean {
  return entry.type !== 'directory' && entry.symlinkTarget === undefined && entry.content === undefined
}

async function rootFile(entry: TreeEntry, target: string, options: WriteTreeOptions): Promise<string> {
  if (entry.type === 'directory') return target
  const found = await stat(target).catch(() => undefined)
  if (found?.isDirectory() !== true) return target
  const name = options.name ?? (entry.name === '' ? entry.cid.toString() : entry.name)
  checkName(name, name, process.platform)
  return join(target, name)
}

function childFile(entry: TreeEntry, folders: { path: string; file: string }[]): string {
  checkName(entry.name, entry.path, process.platform)
  const parentPath = entry.path.length === entry.name.length ? '' : entry.path.slice(0, -entry.name.length - 1)
  while (folders.length > 1 && folders.at(-1)?.path !== parentPath) folders.pop()
  const parent = folders.at(-1)
  assert(parent !== undefined && parent.path === parentPath, 'a tree gives parents before their children')
  return join(parent.file, entry.name)
}

/** Makes a folder, or takes one that is there. Only the target itself may be a link to one. */
async function makeFolder(entry: TreeEntry, file: string, isRoot: boolean): Promise<void> {
  try {
    await mkdir(file)
  } catch (error) {
    const found = await (isRoot ? stat(file) : lstat(file)).catch(() => undefined)
    if (found?.isDirectory() === true) return
    if (found?.isSymbolicLink() === true) {
      throw new UnsafePathError(`${JSON.stringify(entry.path)} cannot be written: a symlink is in its place`, { cause: error })
    }
    throw error
  }
}

async function writeLeaf(job: Job, entry: TreeEntry, file: string): Promise<void> {
  if (entry.symlinkTarget !== undefined) {
    await makeSymlink(job, entry, file, entry.symlinkTarget)
    return
  }
  if (entry.content === undefined) {
    job.options.onWarning?.(entry.path, new Error(`${entry.cid.toString()} is no file of UnixFS and was not written`))
    return
  }
  const filesMax = job.options.filesMax ?? treeFilesMax
  while (job.writing.size >= filesMax) await Promise.race(job.writing)
  const writing = writeFile(job, entry, file, (options) => entry.content?.(options) ?? nothing())
    .catch((error: unknown) => {
      job.failure ??= { error }
      job.abort.abort()
    })
    .finally(() => job.writing.delete(writing))
  job.writing.add(writing)
  if (filesMax === 1) await writing
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** Makes what has a temporary name; the error of a file system that will not have it names the final one. */
async function makeFor<T>(file: string, temporary: string, make: (temporary: string) => Promise<T>): Promise<T> {
  try {
    return await make(temporary)
  } catch (error) {
    if (error instanceof Error) {
      error.message = error.message.replaceAll(temporary, file)
      for (const key of ['path', 'dest']) if (Reflect.get(error, key) === temporary) Reflect.set(error, key, file)
    }
    throw error
  }
}

/** A name beside the final one that no tree is likely to hold. */
function temporaryName(file: string): string {
  return join(dirname(file), `.shardswap-${randomBytes(9).toString('base64url')}.part`)
}

/** Whether an entry may be written that lies so many folders below the target. Of a symlink that leads elsewhere a warning tells. */
function isSafe(job: Job, entry: TreeEntry, depth: number): boolean {
  const { symlinkTarget: to } = entry
  if (to === undefined || job.options.unsafeLinks === true || staysInside(to, depth, process.platform)) return true
  job.options.onWarning?.(entry.path, leadsOut(to))
  return false
}

function leadsOut(to: string): UnsafePathError {
  return new UnsafePathError(`the symlink to ${JSON.stringify(to)} leads out of the target and was left out`)
}

async function makeSymlink(job: Job, entry: TreeEntry, file: string, to: string): Promise<void> {
  const temporary = temporaryName(file)
  await makeFor(file, temporary, async (name) => await symlink(to, name))
  await renameOrRemove(temporary, file)
  job.count.symlinks++
  await restore(job, entry, file)
}

async function renameOrRemove(temporary: string, file: string): Promise<void> {
  try {
    // Replaces a file or a link, and follows neither.
    await rename(temporary, file)
  } catch (error) {
    await unlink(temporary).catch(() => {})
    throw error
  }
}

async function writeFile(
  job: Job,
  entry: TreeEntry,
  file: string,
  content: (options: ReadOptions) => AsyncIterable<Uint8Array>
): Promise<void> {
  const temporary = temporaryName(file)
  // Exclusive creation follows no link.
  const handle = await makeFor(file, temporary, async (name) => await open(name, 'wx'))
  try {
    for await (const part of content({ signal: job.signal })) {
      throwIfAborted(job.signal)
      await writeAll(handle, part)
      job.count.bytes += part.byteLength
      job.options.onProgress?.(job.count.bytes)
    }
    throwIfAborted(job.signal)
    await handle.close()
  } catch (error) {
    await handle.close().catch(() => {})
    await unlink(temporary).catch(() => {})
    throw error
  }
  await restore(job, entry, temporary)
  await renameOrRemove(temporary, file)
  job.count.files++
}

async function writeAll(handle: Awaited<ReturnType<typeof open>>, part: Uint8Array): Promise<void> {
  let at = 0
  while (at < part.byteLength) at += (await handle.write(part, at)).bytesWritten
}

/** Sets mode and time where the tree states them; a failure is a warning. */
async function restore(job: Job, entry: TreeEntry, file: string): Promise<void> {
  const isLink = entry.symlinkTarget !== undefined
  try {
    if (entry.mode !== undefined && !isLink) await chmod(file, entry.mode & (job.options.specialBits === true ? 0o7777 : 0o777))
    if (entry.mtime === undefined) return
    const time = timeOf(entry.mtime)
    await (isLink ? lutimes : utimes)(file, time, time)
  } catch (error) {
    job.options.onWarning?.(entry.path, asError(error))
  }
}

/** Node takes a negative number for "now": times before 1970 go in as a date, to the millisecond. */
function timeOf({ secs, nsecs = 0 }: UnixTime): number | Date {
  const seconds = Number(secs) + nsecs / 1e9
  return seconds < 0 ? new Date(seconds * 1000) : seconds
}
