import { assert, InvalidParametersError } from '@shardswap/interface'
import { fixedSize } from 'ipfs-unixfs-importer/chunker'
import * as limits from '../limits.ts'
import type { AddSource } from '../types.ts'
import { type Attributes, type Child, type Format, makeFileNode, makeLeaf, type Made } from './encode.ts'
import type { BoundedSink } from './sink.ts'

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

async function* partsOf(content: NonNullable<AddSource['content']>): AsyncGenerator<Uint8Array, void, undefined> {
  if (content instanceof Uint8Array) yield content
  else yield* content
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
  const chunks = fixedSize({ chunkSize: layout.chunkBytes })(partsOf(content))
  // Kubo gives the leaves of a trickle the type Raw, those of a balanced tree the type File.
  const kind = layout.trickle ? 'RAW' : 'FILE'
  const leaves = async function* (): AsyncGenerator<Leaf, void, undefined> {
    for await (const bytes of chunks) {
      onBytes(bytes.byteLength)
      const made = makeLeaf(format, bytes, kind)
      yield { made, bytes }
    }
  }
  return await (layout.trickle ? putTrickle : putBalanced)(sink, format, leaves(), attributes)
}

interface Leaf {
  readonly made: Made
  readonly bytes: Uint8Array
}

async function put(sink: BoundedSink, made: Made): Promise<Child> {
  await sink.put(made.cid, made.block)
  const { cid, dagBytes, fileBytes } = made
  return { cid, dagBytes, fileBytes }
}

function hasAttributes({ mode, mtime }: Attributes): boolean {
  return mode !== undefined || mtime !== undefined
}

/** Leaves at one depth, `fileLinksMax` to a node. A lone leaf is the file. */
async function putBalanced(sink: BoundedSink, format: Format, leaves: AsyncIterable<Leaf>, attributes: Attributes): Promise<Child> {
  // One open node a level; a level is closed into the one above when it is full.
  const levels: Child[][] = [[]]
  let first: Leaf | undefined
  let count = 0
  for await (const leaf of leaves) {
    count++
    if (count === 1) {
      first = leaf
      continue
    }
    if (count === 2 && first !== undefined) await append(sink, format, levels, await put(sink, first.made))
    await append(sink, format, levels, await put(sink, leaf.made))
  }
  if (first !== undefined && count === 1)
    return await put(
      sink,
      hasAttributes(attributes) ? makeLeaf({ ...format, rawLeaves: false }, first.bytes, 'FILE', attributes) : first.made
    )
  return await close(sink, format, levels, attributes)
}

async function append(sink: BoundedSink, format: Format, levels: Child[][], child: Child, level = 0): Promise<void> {
  const open = levels[level]
  if (open === undefined) {
    levels[level] = [child]
    return
  }
  if (open.length === limits.fileLinksMax) {
    const full = await put(sink, makeFileNode(format, open))
    levels[level] = [child]
    await append(sink, format, levels, full, level + 1)
    return
  }
  open.push(child)
}

/** Closes the levels from the leaves up; the last node is the root. */
async function close(sink: BoundedSink, format: Format, levels: Child[][], attributes: Attributes): Promise<Child> {
  for (let level = 0; ; level++) {
    const open = levels[level] ?? []
    if (level >= levels.length - 1) return await put(sink, makeFileNode(format, open, attributes))
    await append(sink, format, levels, await put(sink, makeFileNode(format, open)), level + 1)
  }
}

/** Leaves one after another, with a look at whether there are more. */
class LeafQueue {
  readonly #leaves: AsyncIterator<Leaf>
  #next: Leaf | undefined

  constructor(leaves: AsyncIterable<Leaf>) {
    this.#leaves = leaves[Symbol.asyncIterator]()
  }

  async isDone(): Promise<boolean> {
    if (this.#next === undefined) {
      const { done, value } = await this.#leaves.next()
      // An empty file has one empty chunk, and a trickle no leaf for it.
      this.#next = done === true || value.bytes.byteLength === 0 ? undefined : value
    }
    return this.#next === undefined
  }

  take(): Leaf {
    const leaf = this.#next
    assert(leaf !== undefined, 'a leaf is taken only where there is one')
    this.#next = undefined
    return leaf
  }
}

/** Leaves first at the root, then sub-trees that grow deeper, `trickleRepeat` of each depth. */
async function putTrickle(sink: BoundedSink, format: Format, leaves: AsyncIterable<Leaf>, attributes: Attributes): Promise<Child> {
  return await fillTrickle(sink, format, new LeafQueue(leaves), Infinity, attributes)
}

async function fillTrickle(sink: BoundedSink, format: Format, leaves: LeafQueue, depthMax: number, attributes: Attributes): Promise<Child> {
  const children: Child[] = []
  while (children.length < limits.fileLinksMax && !(await leaves.isDone())) children.push(await put(sink, leaves.take().made))
  for (let depth = 1; depth < depthMax && !(await leaves.isDone()); depth++) {
    for (let i = 0; i < limits.trickleRepeat && !(await leaves.isDone()); i++) {
      children.push(await fillTrickle(sink, format, leaves, depth, {}))
    }
  }
  return await put(sink, makeFileNode(format, children, attributes))
}
