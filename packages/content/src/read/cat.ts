import type { BlockSource } from '@shardswap/interface'
import { NotAFileError } from '../errors.ts'
import type { ReadOptions } from '../types.ts'
import { readFile } from './file.ts'
import { resolvePath } from './resolve.ts'

/**
 * The bytes of the file that a path leads to, or a range of them.
 * Errors: those of resolve, NotAFileError, NotUnixFSError, SizeMismatchError, TooDeepError, the source's.
 */
export async function* cat(source: BlockSource, text: string, options: ReadOptions = {}): AsyncGenerator<Uint8Array, void, undefined> {
  const { cid, type, bytes } = await resolvePath(source, text, options)
  if (type === 'other') throw new NotAFileError(`${text} is not a file: its codec is 0x${cid.code.toString(16)}`)
  if (type === 'directory' || type === 'symlink') throw new NotAFileError(`${text} is a ${type}, not a file`)
  yield* readFile(source, cid, options, bytes)
}
