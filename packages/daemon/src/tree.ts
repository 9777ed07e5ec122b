import type { TreeEntry } from '@shardswap/content'
import { parsePath, type WriteTreeOptions } from '@shardswap/content/disk'
import type { NodeGetOptions } from './node.ts'

/** Tells the size of a tree that is one file. */
export async function* sizedTree(
  entries: AsyncIterable<TreeEntry>,
  onSize: ((bytes: bigint) => void) | undefined
): AsyncGenerator<TreeEntry> {
  let first = true
  for await (const entry of entries) {
    if (first && entry.type !== 'directory') onSize?.(entry.size)
    first = false
    yield entry
  }
}

/** How `get` writes: a lone file is named as the last part of its path. */
export function writeOptions(path: string, { signal, onProgress, onWarning, unsafeLinks }: NodeGetOptions): WriteTreeOptions {
  const { root, segments } = parsePath(path)
  return {
    signal,
    ...(unsafeLinks === undefined ? {} : { unsafeLinks }),
    name: segments.at(-1) ?? root.toString(),
    ...(onProgress === undefined ? {} : { onProgress }),
    ...(onWarning === undefined ? {} : { onWarning })
  }
}
