import { createCipheriv, createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { DemoContent } from './messages.ts'

/** Made in steps of this many bytes. */
const stepBytes = 256 * 1024

/** The demo's bytes: a file's, or the same pseudo-random ones at each run (AES-128-CTR of zeros, key 0). */
export async function* demoBytes(content: DemoContent): AsyncGenerator<Uint8Array> {
  if ('file' in content) {
    for await (const bytes of createReadStream(content.file)) yield bytes as Uint8Array
    return
  }
  const cipher = createCipheriv('aes-128-ctr', new Uint8Array(16), new Uint8Array(16))
  const zeros = new Uint8Array(stepBytes)
  for (let left = content.bytes; left > 0; left -= stepBytes) {
    yield cipher.update(left < stepBytes ? zeros.subarray(0, left) : zeros)
  }
}

/** What the fetched copy must hash to, in hex. */
export async function demoHash(content: DemoContent): Promise<string> {
  const hash = createHash('sha256')
  for await (const bytes of demoBytes(content)) hash.update(bytes)
  return hash.digest('hex')
}
