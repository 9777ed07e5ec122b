import { constants } from 'node:fs'
import { lstat, open, readdir, readlink } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { type AbortOptions, InvalidParametersError } from '@shardswap/interface'
import { readBytes } from '../limits.ts'
import { throwIfAborted } from '../local.ts'
import type { AddSource, UnixTime } from '../types.ts'

/** What of a folder on disk is taken. */
export interface WalkOptions extends AbortOptions {
  /** Go into directories; without it a directory is an error, as for Kubo. */
  readonly recursive?: boolean
  /** Take hidden files within directories too. A hidden path that is named itself is always taken. */
  readonly hidden?: boolean
  /** Takes permissions along. */
  readonly preserveMode?: boolean
  /** Takes times of change along. */
  readonly preserveMtime?: boolean
}

interface Found {
  readonly file: string
  readonly path: string
}

type Stat = Awaited<ReturnType<typeof statOf>>

const statOf = (file: string) => lstat(file, { bigint: true })

/**
 * What `add` takes for files and folders on disk. Symlinks come as links and
 * are never followed, so loops and dangling links are harmless. Names are in
 * order of their bytes. Errors: InvalidParametersError for a directory without
 * `recursive`, for a socket, pipe or device and for a name that is not UTF-8;
 * those of the file system.
 */
export async function* walkFiles(files: readonly string[], options: WalkOptions = {}): AsyncGenerator<AddSource, void, undefined> {
  const stack: Found[] = files.map((file) => ({ file, path: basename(resolve(file)) })).reverse()
  for (let found = stack.pop(); found !== undefined; found = stack.pop()) {
    throwIfAborted(options.signal)
    const stat = await statOf(found.file)
    yield await sourceOf(found, stat, options)
    if (stat.isDirectory()) stack.push(...(await entriesOf(found, options)).reverse())
  }
}

async function sourceOf({ file, path }: Found, stat: Stat, options: WalkOptions): Promise<AddSource> {
  const attributes = {
    ...(options.preserveMode === true ? { mode: Number(stat.mode & 0o7777n) } : {}),
    ...(options.preserveMtime === true ? { mtime: timeOf(stat.mtimeNs) } : {})
  }
  if (stat.isSymbolicLink()) return { path, symlinkTarget: await readlink(file), ...attributes }
  if (stat.isFile()) return { path, content: contentOf(file, stat.size), ...attributes }
  if (!stat.isDirectory()) throw new InvalidParametersError(`${file} is neither a file, a directory nor a symlink`)
  if (options.recursive !== true) throw new InvalidParametersError(`${file} is a directory: use -r (recursive) to add directories`)
  return { path, ...attributes }
}

function timeOf(ns: bigint): UnixTime {
  const nsecs = ((ns % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n
  return { secs: (ns - nsecs) / 1_000_000_000n, nsecs: Number(nsecs) }
}

async function entriesOf({ file, path }: Found, options: WalkOptions): Promise<Found[]> {
  const raw = await readdir(file, { encoding: 'buffer' })
  const found: Found[] = []
  for (const bytes of raw.sort((a, b) => Buffer.compare(a, b))) {
    const name = bytes.toString('utf8')
    if (name.startsWith('.') && options.hidden !== true) continue
    if (!Buffer.from(name, 'utf8').equals(bytes))
      throw new InvalidParametersError(`a name in ${file} is not UTF-8: ${JSON.stringify(name)}`)
    found.push({ file: join(file, name), path: `${path}/${name}` })
  }
  return found
}

/** A file's bytes, read when they are asked for; a link that took its place is not followed. */
async function* contentOf(file: string, size: bigint): AsyncGenerator<Uint8Array, void, undefined> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const step = size < BigInt(readBytes) ? Math.max(Number(size), 1) : readBytes
    for (;;) {
      // A new buffer for each read: blocks are slices of it.
      const buffer = new Uint8Array(step)
      const { bytesRead } = await handle.read(buffer, 0, step)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await handle.close()
  }
}
