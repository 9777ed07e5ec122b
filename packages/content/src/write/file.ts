import { InvalidParametersError } from '@shardswap/interface'
import { importer, importFile } from 'ipfs-unixfs-importer'
import { type Chunker, fixedSize } from 'ipfs-unixfs-importer/chunker'
import { balanced, trickle } from 'ipfs-unixfs-importer/layout'
import * as limits from '../limits.ts'
import type { AddSource } from '../types.ts'
import type { Attributes, Child, Format } from './format.ts'
import { withLargeNodes } from './large.ts'
import type { BoundedSink } from './sink.ts'
import { ImporterStore } from './store.ts'

/** How a file is cut and laid out. */
export interface Layout {
  readonly chunkBytes: number
  readonly trickle: boolean
}

/** Bytes of a chunk, as `size-N` states them. Errors: InvalidParametersError. */
export function chunkBytesOf(chunker: string | undefined): number {
  if (chunker === undefined || chunker === 'default') return limits.chunkBytesDefault
  const bytes = Number(/^size-(\d{1,9})$/.exec(chunker)?.[1] ?? Number.NaN)
  if (!(bytes >= 1)) throw new InvalidParametersError(`unsupported chunker "${chunker}": ours are size-N, N in bytes`)
  if (bytes > limits.chunkBytesMax)
    throw new InvalidParametersError(`${chunker} makes blocks over the bound of ${limits.chunkBytesMax} bytes (chunkBytesMax)`)
  return bytes
}

function chunkerOf({ chunkBytes, trickle }: Layout, onBytes: (bytes: number) => void): Chunker {
  const fixed = fixedSize({ chunkSize: chunkBytes })
  return async function* (parts) {
    for await (const chunk of fixed(parts)) {
      onBytes(chunk.byteLength)
      // An empty file has one empty chunk, and a trickle no leaf for it.
      if (chunk.byteLength > 0 || !trickle) yield chunk
    }
  }
}

/** Writes a file and gives its root. Errors: the content's, the sink's. */
export async function putFile(
  sink: BoundedSink,
  format: Format,
  layout: Layout,
  content: NonNullable<AddSource['content']>,
  attributes: Attributes,
  onBytes: (bytes: number) => void
): Promise<Child> {
  const store = new ImporterStore(sink, format)
  const maxChildrenPerNode = limits.fileLinksMax
  const shape = layout.trickle ? trickle({ maxChildrenPerNode, layerRepeat: limits.trickleRepeat }) : balanced({ maxChildrenPerNode })
  await importFile({ content }, store, {
    cidVersion: format.cidVersion,
    rawLeaves: format.rawLeaves,
    chunker: chunkerOf(layout, onBytes),
    layout: withLargeNodes(shape, format, store),
    // Kubo gives the leaves of a trickle the type Raw, and a lone leaf a root.
    leafType: layout.trickle ? 'raw' : 'file',
    reduceSingleLeafToSelf: !layout.trickle,
    // The sink lets many puts run; here each needs only the room to start.
    blockWriteConcurrency: 1
  })
  return await store.finish(attributes)
}

/** Writes a symlink. Kubo keeps its time, not its mode. Errors: the sink's. */
export async function putSymlink(sink: BoundedSink, format: Format, target: string, attributes: Attributes): Promise<Child> {
  const store = new ImporterStore(sink, format)
  for await (const _ of importer([{ path: 'link', link: target }], store, { cidVersion: format.cidVersion }));
  return await store.finish({ mtime: attributes.mtime })
}
