/**
 * A tree as a tar stream and back: how `get` travels between daemon and
 * command, in the form that Kubo's clients know. Mode and time go into the
 * usual fields, and once more into records of our own where the tree really
 * has them, as tar cannot leave a field out.
 */
import type { TreeEntry, UnixTime } from '@shardswap/content'
import { NotAFileError } from '@shardswap/content/disk'
import { asError, CID, MalformedError } from '@shardswap/interface'
import { type Extract, extract, type Header, pack, type Pack } from 'tar-stream'
import { drained } from './drained.ts'
import { modeText, unixTime } from './shapes.ts'

const modeRecord = 'SHARDSWAP.mode'
const timeRecord = 'SHARDSWAP.mtime'

type Records = Readonly<Record<string, string>>
type Metadata = Pick<Header, 'mtime'> & { mode?: number; pax?: Records }
type EntryHeader = Metadata & Pick<Header, 'name' | 'type'> & { size?: number; linkname?: string }

/** A tar of `entries`; every path begins with `name`. */
export async function* packTree(entries: AsyncIterable<TreeEntry>, name: string): AsyncGenerator<Uint8Array> {
  const archive = pack()
  // The reader below gets the error; without a listener it would end the process.
  archive.on('error', () => {})
  const written = writeEntries(archive, entries, name)
  // It is awaited below; until then a failure must not count as one that nobody handles.
  written.catch(() => {})
  try {
    for await (const bytes of archive) yield bytes as Uint8Array
    await written
  } catch (error) {
    // What stopped the writer is the cause; the archive's own error only repeats it.
    await written
    throw error
  } finally {
    archive.destroy()
    await written.catch(() => {})
  }
}

async function writeEntries(archive: Pack, entries: AsyncIterable<TreeEntry>, name: string): Promise<void> {
  try {
    for await (const entry of entries) {
      if (archive.destroyed) return
      await writeEntry(archive, entry, name)
    }
    archive.finalize()
  } catch (error) {
    archive.destroy(asError(error))
    throw error
  }
}

async function writeEntry(archive: Pack, entry: TreeEntry, name: string): Promise<void> {
  const path = entry.path === '' ? name : `${name}/${entry.path}`
  if (path.includes('\0')) throw new MalformedError(`the name ${JSON.stringify(path)} contains a NUL, which no file can have`)
  if (entry.type === 'other') {
    // A tar has nothing to say it with, and an empty folder in its place would be a lie.
    throw new NotAFileError(`${entry.cid.toString()} is neither a file nor a directory of UnixFS`)
  }
  const base = { name: path, ...metadataOf(entry) }
  if (entry.symlinkTarget !== undefined) await finished(archive, { ...base, type: 'symlink', linkname: entry.symlinkTarget })
  else if (entry.content === undefined) await finished(archive, { ...base, type: 'directory' })
  else await finished(archive, { ...base, type: 'file', size: Number(entry.size) }, entry.content())
}

function metadataOf({ mode, mtime }: TreeEntry): Metadata {
  const pax: Record<string, string> = {}
  if (mode !== undefined) pax[modeRecord] = modeText(mode)
  if (mtime !== undefined) pax[timeRecord] = `${mtime.secs}.${mtime.nsecs ?? 0}`
  // Tar's own field holds whole seconds from 1970 on.
  const secs = mtime === undefined || mtime.secs < 0n ? 0 : Number(mtime.secs)
  return {
    mtime: new Date(secs * 1000),
    ...(mode === undefined ? {} : { mode: mode & 0o777 }),
    ...(Object.keys(pax).length === 0 ? {} : { pax })
  }
}

async function finished(archive: Pack, header: EntryHeader, content?: AsyncIterable<Uint8Array>): Promise<void> {
  const done = Promise.withResolvers<void>()
  const sink = archive.entry(header, (error) => (error ? done.reject(error) : done.resolve()))
  sink.on('error', (error) => done.reject(error))
  sink.on('close', () => done.resolve())
  // It is awaited at the end; a failure on the way must not count as unhandled.
  done.promise.catch(() => {})
  if (content !== undefined) {
    for await (const bytes of content) {
      if (archive.destroyed) return
      if (!sink.write(bytes)) await drained(sink)
    }
  }
  if (header.type === 'file') sink.end(undefined)
  await done.promise
}

/** The tree in a tar that `packTree` made. The tar carries no CIDs: every entry has the one given. */
export async function* unpackTree(bytes: AsyncIterable<Uint8Array>, cid: CID): AsyncGenerator<TreeEntry> {
  const archive = extract()
  archive.on('error', () => {})
  const fed = feed(archive, bytes)
  fed.catch(() => {})
  try {
    for await (const entry of archive) {
      let read = false
      const content = async function* (): AsyncGenerator<Uint8Array> {
        read = true
        for await (const data of entry) yield data as Uint8Array
      }
      yield treeEntry(entry.header, cid, content)
      if (!read) entry.resume()
    }
    await fed
  } catch (error) {
    await fed
    throw error
  } finally {
    archive.destroy()
    await fed.catch(() => {})
  }
}

async function feed(archive: Extract, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const data of bytes) {
      if (archive.destroyed) return
      if (!archive.write(data)) await drained(archive)
    }
    archive.end(undefined)
  } catch (error) {
    archive.destroy(asError(error))
    throw error
  }
}

function treeEntry(header: Header, cid: CID, content: () => AsyncGenerator<Uint8Array>): TreeEntry {
  const path = header.name.replace(/\/$/, '').split('/').slice(1).join('/')
  const records = (header.pax ?? {}) as Records
  const mode = records[modeRecord]
  const mtime = records[timeRecord]
  const common = {
    path,
    name: path.split('/').at(-1) ?? '',
    cid,
    size: BigInt(header.size),
    ...(mode === undefined ? {} : { mode: Number.parseInt(mode, 8) }),
    ...(mtime === undefined ? {} : { mtime: timeOf(mtime) })
  }
  if (header.type === 'directory') return { ...common, type: 'directory' }
  if (header.type === 'symlink') return { ...common, type: 'symlink', symlinkTarget: header.linkname }
  return { ...common, type: 'file', content }
}

function timeOf(text: string): UnixTime {
  const [secs = '0', nsecs = '0'] = text.split('.')
  return unixTime(BigInt(secs), Number(nsecs))
}
