import * as fs from 'node:fs'
import { mkdir, opendir, rename, rm, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { base32 } from 'multiformats/bases/base32'
import { decode as decodeMultihash } from 'multiformats/hashes/digest'
import { errorCode } from '../files.ts'
import { openFilesMax } from '../limits.ts'
import { Permits } from './permits.ts'

// The callback calls are cheaper than FileHandle: no object with a finalizer for each block.
const openFile = promisify(fs.open)
const closeFile = promisify(fs.close)
const statFile = promisify(fs.stat)
// `promisify` would give `{ bytesRead, buffer }` objects through its own hook; these give the count.
const readAt = async (fd: number, into: Uint8Array, offset: number): Promise<number> =>
  await new Promise((resolve, reject) => {
    fs.read(fd, into, offset, into.byteLength - offset, offset, (error, count) => {
      if (error === null) resolve(count)
      else reject(error)
    })
  })
const writeAt = async (fd: number, from: Uint8Array, offset: number): Promise<number> =>
  await new Promise((resolve, reject) => {
    fs.write(fd, from, offset, from.byteLength - offset, offset, (error, count) => {
      if (error === null) resolve(count)
      else reject(error)
    })
  })

const shardPattern = /^[a-z2-7]{2}$/

/**
 * A file for each block: its name is the multihash in base32 (lower case, for
 * file systems that fold case), its folder two characters of it, so that no
 * folder grows large. A block is written aside, then renamed into its place: a
 * file under its final name is whole as far as this process could see.
 */
export class FlatFiles {
  readonly #root: string
  readonly #aside: string
  // Without it, as many files would be open as blocks are asked for: the opens of all come before the first close.
  readonly #permits = new Permits(openFilesMax)
  #asideCount = 0

  constructor(root: string) {
    this.#root = root
    this.#aside = join(root, 'unfinished')
  }

  /** Makes the folders, and clears what an earlier process left unfinished. */
  async open(): Promise<void> {
    await rm(this.#aside, { recursive: true, force: true })
    await mkdir(this.#aside, { recursive: true, mode: 0o700 })
  }

  /** Where the block of a multihash is, or would be. */
  pathOf(key: Uint8Array): string {
    const name = base32.baseEncode(key)
    // The last character carries few bits, so the shard is the two before it.
    return join(this.#root, name.slice(-3, -1), name)
  }

  /** The bytes, or undefined where there is no file. `bytesHint` is how many the caller expects. */
  async read(key: Uint8Array, bytesHint: number): Promise<Uint8Array | undefined> {
    return await this.#permits.run(async () => await readWhole(this.pathOf(key), bytesHint))
  }

  async write(key: Uint8Array, bytes: Uint8Array): Promise<void> {
    await this.#permits.run(async () => {
      await this.#writeAside(this.pathOf(key), bytes)
    })
  }

  async #writeAside(path: string, bytes: Uint8Array): Promise<void> {
    const aside = join(this.#aside, String(this.#asideCount++))
    try {
      await writeWhole(aside, bytes)
      await this.#renameInto(aside, path)
    } catch (error) {
      await rm(aside, { force: true })
      throw error
    }
  }

  async #renameInto(aside: string, path: string): Promise<void> {
    try {
      await rename(aside, path)
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await rename(aside, path)
    }
  }

  async remove(key: Uint8Array): Promise<void> {
    try {
      await unlink(this.pathOf(key))
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error
    }
  }

  /** Every block's multihash, a folder at a time. */
  async *keys(): AsyncIterable<Uint8Array> {
    for await (const shard of await opendir(this.#root)) {
      if (!shard.isDirectory() || !shardPattern.test(shard.name)) continue
      for await (const file of await opendir(join(this.#root, shard.name))) {
        const key = keyOfName(file.name)
        if (key !== undefined) yield key
      }
    }
  }

  /** Bytes of the block's file as the file system knows them. */
  async size(key: Uint8Array): Promise<number | undefined> {
    try {
      return (await statFile(this.pathOf(key))).size
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined
      throw error
    }
  }
}

/** One read, unless the file is not as long as expected. */
async function readWhole(path: string, bytesHint: number): Promise<Uint8Array | undefined> {
  let fd: number
  try {
    fd = await openFile(path, 'r')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
  try {
    // One byte more than expected, so that a longer file is seen as such, not cut to a block that looks whole.
    const into = new Uint8Array(Buffer.allocUnsafeSlow(bytesHint + 1).buffer)
    let length = 0
    for (;;) {
      const count = await readAt(fd, into, length)
      length += count
      if (count === 0 || length >= bytesHint) break
    }
    return into.subarray(0, length)
  } finally {
    await closeFile(fd)
  }
}

async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  const fd = await openFile(path, 'wx', 0o600)
  try {
    let offset = 0
    while (offset < bytes.byteLength) offset += await writeAt(fd, bytes, offset)
  } finally {
    await closeFile(fd)
  }
}

/** The multihash that a file's name stands for, or undefined where it is no block. */
function keyOfName(name: string): Uint8Array | undefined {
  try {
    const key = base32.baseDecode(name)
    decodeMultihash(key)
    return key
  } catch {
    return undefined
  }
}
