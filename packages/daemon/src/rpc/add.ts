/** `add`: an upload of files, directories and symlinks becomes UnixFS. */
import type { AddSource, UnixTime } from '@shardswap/content'
import { InvalidParametersError, readWhole } from '@shardswap/interface'
import { symlinkBytesMax } from '../limits.ts'
import type { NodeAddOptions } from '../node.ts'
import { addedShape, unixTime } from '../shapes.ts'
import type { Call, Handlers } from './call.ts'
import { ProgressSlot, withProgress } from './progress.ts'
import type { Query } from './query.ts'
import { type UploadPart, uploadParts } from './upload.ts'

/** Options of Kubo that would give other CIDs, or keep content elsewhere: to ignore them would answer something else. */
const refusedFlags = ['inline', 'nocopy'] as const
const refusedTexts = ['to-files', 'max-file-links', 'max-directory-links', 'max-hamt-fanout'] as const

function refuseOthers(query: Query): void {
  const refused = refusedFlags.find((name) => query.flag(name) === true) ?? refusedTexts.find((name) => query.text(name) !== undefined)
  if (refused !== undefined) throw new InvalidParametersError(`option "${refused}" is not supported by this node`)
}

function addOptions(query: Query): NodeAddOptions {
  refuseOthers(query)
  const chunker = query.text('chunker')
  const cidVersion = query.integer('cid-version')
  const rawLeaves = query.flag('raw-leaves')
  const hash = query.text('hash')
  const pin = query.flag('pin') ?? true
  const pinName = query.text('pin-name')
  if (!pin && pinName !== undefined) throw new InvalidParametersError('pin-name option requires pin to be set')
  if (cidVersion !== undefined && cidVersion !== 0 && cidVersion !== 1) {
    throw new InvalidParametersError(`option "cid-version" is 0 or 1, not ${cidVersion}`)
  }
  return {
    ...(chunker === undefined ? {} : { chunker }),
    ...(cidVersion === undefined ? {} : { cidVersion }),
    ...(rawLeaves === undefined ? {} : { rawLeaves }),
    ...(hash === undefined ? {} : { hash }),
    ...(pinName === undefined ? {} : { pinName }),
    pin,
    trickle: query.flag('trickle') ?? false,
    wrapWithDirectory: query.flag('wrap-with-directory') ?? false,
    onlyHash: query.flag('only-hash') ?? false
  }
}

interface Metadata {
  readonly mode?: number
  readonly mtime?: UnixTime
}

/** Mode and time for everything that is added, whatever it has: as options of the call. */
function givenMetadata(query: Query): Metadata {
  const params = new URLSearchParams()
  for (const name of ['mode', 'mtime', 'mtime-nsecs']) {
    const value = query.text(name)
    // Kubo's command sends a mode in decimal, its other client in octal with a 0 ahead, as Go tells them apart.
    const isDecimal = name === 'mode' && value !== undefined && /^[1-9]\d*$/.test(value)
    if (value !== undefined) params.set(name, isDecimal ? Number(value).toString(8) : value)
  }
  return metadata(`?${params.toString()}`)
}

/**
 * Mode and time stand in the field's name, `file?mode=0644&mtime=…&mtime-nsecs=…`.
 * Kubo's command always sends them, so they count only where they are asked for.
 */
function wantedMetadata({ field }: UploadPart, query: Query): Metadata {
  const { mode, mtime } = metadata(field)
  return {
    ...(mode === undefined || query.flag('preserve-mode') !== true ? {} : { mode }),
    ...(mtime === undefined || query.flag('preserve-mtime') !== true ? {} : { mtime }),
    ...givenMetadata(query)
  }
}

/** Octal digits of at most 32 bits, which is what UnixFS has for it. */
function isMode(text: string): boolean {
  return /^[0-7]+$/.test(text) && Number.parseInt(text, 8) <= 0xffffffff
}

/** Seconds that are whole numbers here: hundreds of millions of years. */
function isTime(text: string): boolean {
  return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text))
}

function metadata(field: string): Metadata {
  const params = new URLSearchParams(field.split('?')[1] ?? '')
  const mode = params.get('mode')
  const secs = params.get('mtime')
  const nsecs = params.get('mtime-nsecs')
  if ((mode !== null && !isMode(mode)) || (secs !== null && !isTime(secs)) || (nsecs !== null && !/^\d{1,9}$/.test(nsecs))) {
    throw new InvalidParametersError(`the field "${field}" has a mode or a time that cannot be read`)
  }
  return {
    ...(mode === null ? {} : { mode: Number.parseInt(mode, 8) }),
    ...(secs === null ? {} : { mtime: unixTime(BigInt(secs), nsecs === null ? undefined : Number(nsecs)) })
  }
}

async function symlinkTarget(part: UploadPart): Promise<string> {
  const target = await readWhole(part.content, (bytes) => {
    if (bytes > symlinkBytesMax)
      throw new InvalidParametersError(`the symlink "${part.path}" has a target of over ${symlinkBytesMax} bytes`)
  })
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(target)
}

async function* counted(part: UploadPart, progress: ProgressSlot): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const data of part.content) {
    bytes += data.byteLength
    progress.set({ Name: part.path, Bytes: bytes })
    yield data
  }
}

async function* sourcesOf(call: Call, progress: ProgressSlot): AsyncGenerator<AddSource> {
  for await (const sent of uploadParts(call.request, call.signal)) {
    // As Kubo does: the paths of `globSource` of Kubo's client begin with a slash.
    const part = { ...sent, path: sent.path.replace(/^\/+/, '') }
    const { path, mimeType } = part
    const common = { path, ...wantedMetadata(part, call.query) }
    if (mimeType === 'application/x-directory') {
      part.skip()
      yield common
    } else if (mimeType === 'application/symlink') {
      yield { ...common, symlinkTarget: await symlinkTarget(part) }
    } else {
      yield { ...common, content: counted(part, progress) }
    }
  }
}

/** Runs, and says nothing. */
async function* silent(lines: AsyncIterable<object>): AsyncGenerator<object> {
  for await (const line of lines) if (!('Hash' in line)) yield line
}

async function* added(call: Call, options: NodeAddOptions, progress: ProgressSlot): AsyncGenerator<object> {
  const sources = sourcesOf(call, progress)
  for await (const entry of call.node.add(sources, { ...options, signal: call.signal })) yield addedShape(entry)
}

export const addHandlers: Handlers = {
  add: (call) => {
    const progress = new ProgressSlot()
    const entries = added(call, addOptions(call.query), progress)
    const lines = call.query.flag('silent') === true ? silent(entries) : entries
    return { kind: 'lines', lines: call.query.flag('progress') === true ? withProgress(lines, progress) : lines }
  }
}
