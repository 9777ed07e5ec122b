import { createReadStream } from 'node:fs'
import { addAbortSignal } from 'node:stream'

/** The bytes of a file, or of standard input for `-`. A read that waits for more ends with the signal. */
export async function* readInput(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* addAbortSignal(signal, path === '-' ? process.stdin : createReadStream(path)) as AsyncIterable<Uint8Array>
  } catch (error) {
    // Opening names the file, reading does not: a directory is opened like one.
    if (error instanceof Error && 'syscall' in error && !('path' in error) && path !== '-') Object.assign(error, { path })
    throw error
  }
}
