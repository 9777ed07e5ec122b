/** What the processes share in reading content. */
import { createHash } from 'node:crypto'
import { CID } from 'multiformats/cid'
import type { Reading } from './node-api.ts'

/** Seconds since a reading of `performance.now()`. */
export function secondsSince(startMs: number): number {
  return (performance.now() - startMs) / 1000
}

/** Reads to the end, hashing as it goes. */
export async function readingOf(content: AsyncIterable<Uint8Array>): Promise<Reading> {
  const startMs = performance.now()
  const hash = createHash('sha256')
  let bytes = 0
  for await (const part of content) {
    hash.update(part)
    bytes += part.byteLength
  }
  return { bytes, sha256: hash.digest('hex'), seconds: secondsSince(startMs) }
}

/** `CID/name/name` as its root and names. */
export function splitPath(path: string): { root: CID; segments: string[] } {
  const [root = '', ...segments] = path.split('/')
  return { root: CID.parse(root), segments }
}
