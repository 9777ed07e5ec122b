import { type BlockSink, InvalidParametersError, TooLargeError } from '@shardswap/interface'
import { addedEntriesMax, addTreeEntriesMax } from '../limits.ts'
import { throwIfAborted } from '../local.ts'
import type { AddedEntry, AddOptions, AddSource } from '../types.ts'
import { type Named, putDirectory } from './directory.ts'
import { chunkBytesOf, type Layout, putFile, putSymlink } from './file.ts'
import { type Attributes, type Child, formatOf, type Format } from './format.ts'
import { BoundedSink } from './sink.ts'

/** A directory being gathered: its block is made once all its entries are known. */
interface Folder {
  readonly path: string
  readonly entries: Map<string, Folder | Child>
  attributes: Attributes
}

function folder(path: string): Folder {
  return { path, entries: new Map(), attributes: {} }
}

function isFolder(entry: Folder | Child): entry is Folder {
  return 'entries' in entry
}

interface Job {
  readonly sink: BoundedSink
  readonly options: AddOptions
  readonly format: Format
  readonly layout: Layout
  readonly onBytes: (bytes: number) => void
  /** One more file or directory is held. */
  readonly onEntry: () => void
}

/**
 * Adds files, directories and symlinks. An entry comes out once its blocks are
 * in the sink: files as they are read, directories after all that is in them,
 * the root last. Without `wrapWithDirectory` each first name is a root of its
 * own. A file with the path '' is named by its CID.
 * Errors: InvalidParametersError, AbortError, TooLargeError for a tree of too many entries, those of contents and of the sink.
 */
export async function* add(
  sources: AsyncIterable<AddSource> | Iterable<AddSource>,
  sink: BlockSink,
  options: AddOptions = {}
): AsyncGenerator<AddedEntry, void, undefined> {
  const job = jobOf(sink, options)
  const root = folder('')
  const waiting: Waiting[] = []
  try {
    for await (const source of sources) {
      throwIfAborted(options.signal)
      const added = await addOne(job, root, source)
      if (added !== undefined) waiting.push(waitFor(job, added))
      yield* storedOf(job, waiting, addedEntriesMax)
    }
    yield* storedOf(job, waiting, 0)
    yield* closeFolders(job, root, options.wrapWithDirectory === true)
  } finally {
    await job.sink.settle()
  }
}

/** An entry whose blocks are on their way into the sink. */
interface Waiting {
  readonly added: AddedEntry
  readonly stored: Promise<void>
  isStored: boolean
}

function waitFor(job: Job, added: AddedEntry): Waiting {
  const stored = job.sink.mark().then(() => {
    waiting.isStored = true
  })
  const waiting: Waiting = { added, stored, isStored: false }
  return waiting
}

/** The first entries that are stored, in order; waits while more than `keep` are not. */
async function* storedOf(job: Job, waiting: Waiting[], keep: number): AsyncGenerator<AddedEntry, void, undefined> {
  for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
    if (!first.isStored && waiting.length <= keep) return
    await first.stored
    job.sink.throwIfFailed()
    waiting.shift()
    yield first.added
  }
}

function jobOf(sink: BlockSink, options: AddOptions): Job {
  let taken = 0
  let entries = 0
  const entriesMax = options.treeEntriesMax ?? addTreeEntriesMax
  return {
    sink: new BoundedSink(sink, options),
    options,
    format: formatOf(options),
    layout: { chunkBytes: chunkBytesOf(options.chunker), trickle: options.trickle === true },
    onBytes: (bytes) => {
      taken += bytes
      options.onProgress?.(taken)
    },
    onEntry: () => {
      entries += 1
      if (entries > entriesMax)
        throw new TooLargeError(`more than ${entriesMax} files and directories at once: add parts of the tree, one after another`)
    }
  }
}

async function addOne(job: Job, root: Folder, source: AddSource): Promise<AddedEntry | undefined> {
  const names = namesOf(source.path)
  const attributes: Attributes = { mode: source.mode, mtime: source.mtime }
  if (source.content === undefined && source.symlinkTarget === undefined) {
    folderAt(job, root, names).attributes = attributes
    return undefined
  }
  const child = await putEntry(job, source, attributes)
  const name = names.pop() ?? child.cid.toString()
  const parent = folderAt(job, root, names)
  if (parent.entries.has(name)) throw new InvalidParametersError(`two things to add are named "${source.path}"`)
  job.onEntry()
  parent.entries.set(name, child)
  return { path: source.path === '' ? name : source.path, cid: child.cid, size: BigInt(child.dagBytes) }
}

async function putEntry(job: Job, source: AddSource, attributes: Attributes): Promise<Child> {
  if (source.content !== undefined) {
    return await putFile(job.sink, formatFor(job, attributes), job.layout, source.content, attributes, job.onBytes)
  }
  return await putSymlink(job.sink, job.format, source.symlinkTarget ?? '', attributes)
}

/** A raw block has no room for mode and time: as in Kubo, a file with either has no raw leaves. */
function formatFor(job: Job, { mode, mtime }: Attributes): Format {
  if (mode === undefined && mtime === undefined) return job.format
  if (job.options.rawLeaves === true) throw new InvalidParametersError('raw leaves have no room for mode and modification time')
  return { ...job.format, rawLeaves: false }
}

function namesOf(path: string): string[] {
  if (path === '') return []
  const names = path.split('/')
  for (const name of names) {
    if (name === '' || name === '.' || name === '..') throw new InvalidParametersError(`"${path}" is not a path of plain names`)
  }
  return names
}

function folderAt(job: Job, root: Folder, names: readonly string[]): Folder {
  let here = root
  for (const [i, name] of names.entries()) {
    let next = here.entries.get(name)
    if (next === undefined) {
      job.onEntry()
      next = folder(names.slice(0, i + 1).join('/'))
      here.entries.set(name, next)
    }
    if (!isFolder(next)) throw new InvalidParametersError(`"${names.slice(0, i + 1).join('/')}" is both a file and a directory`)
    here = next
  }
  return here
}

/** Makes directories from the deepest up, without recursion: a tree may be deep. */
async function* closeFolders(job: Job, root: Folder, wrap: boolean): AsyncGenerator<AddedEntry, void, undefined> {
  const stack: { folder: Folder; made: Named[]; rest: Iterator<[string, Folder | Child]>; name: string }[] = []
  const enter = (folder: Folder, name: string): void => {
    stack.push({ folder, made: [], rest: folder.entries.entries(), name })
  }
  enter(root, '')
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const next = top.rest.next()
    if (next.done !== true) {
      const [name, entry] = next.value
      if (isFolder(entry)) enter(entry, name)
      else top.made.push({ name, cid: entry.cid, dagBytes: entry.dagBytes })
      continue
    }
    stack.pop()
    const parent = stack.at(-1)
    if (parent === undefined && !wrap) return
    const { cid, dagBytes } = await putDirectory(job.sink, job.format, top.made, top.folder.attributes)
    await job.sink.drain()
    yield { path: top.folder.path, cid, size: BigInt(dagBytes) }
    parent?.made.push({ name: top.name, cid, dagBytes })
  }
}
