/** Multipart bodies, made as they are sent. */
import { randomUUID } from 'node:crypto'
import type { AddSource } from '@shardswap/content'
import { modeText } from '../shapes.ts'

export interface Upload {
  readonly contentType: string
  readonly bytes: AsyncIterable<Uint8Array>
}

interface Part {
  readonly field: string
  readonly path: string
  readonly mimeType: string
  readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

/** One file without a name. */
export function uploadOf(content: AsyncIterable<Uint8Array> | Uint8Array): Upload {
  const bytes = content instanceof Uint8Array ? [content] : content
  return multipart([{ field: 'file', path: '', mimeType: 'application/octet-stream', content: bytes }])
}

/** A file for each field that has bytes; undefined where none has. */
export function uploadFields(fields: Readonly<Record<string, Uint8Array | undefined>>): Upload | undefined {
  const parts = Object.entries(fields).flatMap(([field, bytes]): Part[] =>
    bytes === undefined ? [] : [{ field, path: '', mimeType: 'application/octet-stream', content: [bytes] }]
  )
  return parts.length === 0 ? undefined : multipart(parts)
}

/** Sources of `add`, one part each, in Kubo's form. */
export function uploadSources(sources: AsyncIterable<AddSource> | Iterable<AddSource>): Upload {
  const parts = async function* (): AsyncGenerator<Part> {
    for await (const source of sources) yield partOf(source)
  }
  return multipart(parts())
}

function partOf(source: AddSource): Part {
  const { path, content, symlinkTarget, mode, mtime } = source
  const params = new URLSearchParams()
  if (mode !== undefined) params.set('mode', modeText(mode))
  if (mtime !== undefined) params.set('mtime', mtime.secs.toString())
  if (mtime?.nsecs !== undefined) params.set('mtime-nsecs', String(mtime.nsecs))
  const field = params.size === 0 ? 'file' : `file?${params.toString()}`
  if (symlinkTarget !== undefined) return { field, path, mimeType: 'application/symlink', content: [Buffer.from(symlinkTarget)] }
  if (content === undefined) return { field, path, mimeType: 'application/x-directory', content: [] }
  return { field, path, mimeType: 'application/octet-stream', content: content instanceof Uint8Array ? [content] : content }
}

function multipart(parts: AsyncIterable<Part> | Iterable<Part>): Upload {
  const boundary = `shardswap-${randomUUID()}`
  return { contentType: `multipart/form-data; boundary=${boundary}`, bytes: encode(parts, boundary) }
}

async function* encode(parts: AsyncIterable<Part> | Iterable<Part>, boundary: string): AsyncGenerator<Uint8Array> {
  for await (const { field, path, mimeType, content } of parts) {
    const disposition = `form-data; name="${field}"; filename="${encodeURIComponent(path)}"`
    yield Buffer.from(`--${boundary}\r\nContent-Disposition: ${disposition}\r\nContent-Type: ${mimeType}\r\n\r\n`)
    yield* content
    yield Buffer.from('\r\n')
  }
  yield Buffer.from(`--${boundary}--\r\n`)
}
