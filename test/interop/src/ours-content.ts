/** The same content by our own package, with the options that give Kubo's root CIDs. */
import { add, type AddOptions, type AddSource } from '@shardswap/content'
import type { BlockSink } from '@shardswap/interface'
import { contentOf, filesOf, leafBytes, type DirectorySpec, type FileSpec } from './content.ts'

/** Takes every block and keeps none: for a root CID alone. */
const nowhere: BlockSink = { put: async () => undefined }

async function rootOf(sources: Iterable<AddSource>, sink: BlockSink, options: AddOptions): Promise<string> {
  let root: string | undefined
  // The root comes after everything below it.
  for await (const entry of add(sources, sink, options)) root = entry.cid.toString()
  if (root === undefined) throw new Error('nothing was added')
  return root
}

/** Adds a file; gives its root CID. */
export async function addFile(spec: FileSpec, sink: BlockSink = nowhere): Promise<string> {
  const options = { cidVersion: spec.cidVersion, rawLeaves: spec.rawLeaves, chunker: `size-${leafBytes}` }
  return await rootOf([{ path: 'file', content: contentOf(spec) }], sink, options)
}

/** Adds a directory; gives its root CID. */
export async function addDirectory(spec: DirectorySpec, sink: BlockSink = nowhere): Promise<string> {
  const sources = filesOf(spec).map(({ name, content }) => ({ path: `directory/${name}`, content }))
  return await rootOf(sources, sink, { cidVersion: 1 })
}
