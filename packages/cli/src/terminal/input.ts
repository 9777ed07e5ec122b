import { createReadStream } from 'node:fs'
import { addAbortSignal } from 'node:stream'

/** The bytes of a file, or of standard input for `-`. A read that waits for more ends with the signal. */
export function readInput(path: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
  return addAbortSignal(signal, path === '-' ? process.stdin : createReadStream(path)) as AsyncIterable<Uint8Array>
}
