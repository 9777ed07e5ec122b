/** Arguments in the body of a call: Kubo's command sends there, one a line, what it reads from its standard input. */
import type { IncomingMessage } from 'node:http'
import { readWhole, TooLargeError } from '@shardswap/interface'
import { bodyArgsBytesMax } from '../limits.ts'
import { uploadedFiles } from './upload.ts'

/** Calls whose body is what they are about, as is that of our own; of all others it holds arguments, if it is a form at all. */
const uploads: ReadonlySet<string> = new Set(['add', 'block/put', 'config/replace', 'dag/import', 'dag/put'])
const ownPrefix = 'shardswap/'

/**
 * The arguments that a call has in its body. All of it is read, for a client that is answered before it has sent its last
 * byte may take that for a failure. Errors: TooLargeError, MalformedError.
 */
export async function argsInBody(name: string, request: IncomingMessage, signal: AbortSignal): Promise<readonly string[]> {
  if (uploads.has(name) || name.startsWith(ownPrefix) || !/^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '')) return []
  const args: string[] = []
  let before = 0
  for await (const content of uploadedFiles(request, signal)) {
    const bytes = await readWhole(content, (length) => {
      if (before + length > bodyArgsBytesMax) throw new TooLargeError(`arguments in a body take ${bodyArgsBytesMax} bytes at most`)
    })
    before += bytes.byteLength
    const lines = new TextDecoder().decode(bytes).split('\n')
    args.push(...lines.map((line) => line.trim()).filter((line) => line !== ''))
  }
  return args
}
