/** Multipart bodies as a stream of parts: nothing is collected, whatever its size. */
import type { IncomingMessage } from 'node:http'
import { type Readable, Writable } from 'node:stream'
import busboy from 'busboy'
import { InvalidParametersError, MalformedError, messageOf } from '@shardswap/interface'

export interface UploadPart {
  /** Name of the form's field, which may carry `?mode=…&mtime=…`. */
  readonly field: string
  /** Path as sent, percent-decoded; '' where there is none. */
  readonly path: string
  readonly mimeType: string
  /** Must be read, or skipped, before the next part is asked for. */
  readonly content: AsyncIterable<Uint8Array>
  /** Leaves the rest of the content unread. */
  skip(): void
}

/** The parts of a request's body, until the signal ends. Errors: InvalidParametersError for another type of body, MalformedError for one cut off. */
export async function* uploadParts(request: IncomingMessage, signal: AbortSignal): AsyncGenerator<UploadPart> {
  const parser = openParser(request)
  const inbox = new Inbox()
  // The types miss that a part may have no name.
  parser.on('file', (field: string | undefined, content, { filename, mimeType }) => {
    // Its reader gets the error too; without a listener it would end the process.
    content.on('error', () => {})
    inbox.push({
      field: field ?? '',
      path: decodePath(filename),
      mimeType,
      content: wholeContent(content),
      skip: () => void content.resume()
    })
  })
  parser.on('error', (error) => inbox.end(malformed(error)))
  // It would be passed over in silence, and its sender told that all went well.
  parser.on('fieldsLimit', () => {
    inbox.end(new InvalidParametersError('a part of the upload has no file name: send it as a file (with curl: -F file=@PATH)'))
  })
  parser.on('close', () => inbox.end())
  const cutOff = (): void => {
    if (!request.complete) parser.destroy(new Error('it was cut off'))
  }
  const giveUp = (): void => void parser.destroy(new Error('it was given up'))
  request.on('close', cutOff)
  signal.addEventListener('abort', giveUp, { once: true })
  const gate = gateTo(parser, inbox)
  request.pipe(gate)
  try {
    yield* inbox.parts()
  } finally {
    request.off('close', cutOff)
    signal.removeEventListener('abort', giveUp)
    request.unpipe(gate)
    gate.destroy()
    parser.destroy()
  }
}

/** Takes no more of the body while parts wait for their reader: the parser alone waits for readers of content, and small parts, of which one read holds a thousand, have none to wait for. */
function gateTo(parser: busboy.Busboy, inbox: Inbox): Writable {
  return new Writable({
    write(bytes, _encoding, done) {
      parser.write(bytes, (error) => {
        if (error) done(error)
        else inbox.whenEmpty(done)
      })
    },
    final(done) {
      parser.end()
      done()
    }
  }).on('error', () => {})
}

/** The content of the only or first part. */
export async function* uploadedFiles(request: IncomingMessage, signal: AbortSignal): AsyncGenerator<AsyncIterable<Uint8Array>> {
  for await (const part of uploadParts(request, signal)) {
    yield part.content
    part.skip()
  }
}

function malformed(error: unknown): MalformedError {
  const why = messageOf(error)
  return new MalformedError(`the upload cannot be read: ${why}`, { cause: error })
}

async function* wholeContent(content: Readable): AsyncGenerator<Uint8Array> {
  try {
    // A reader may have enough before the end, as of an archive with an index behind its data. Were the part
    // destroyed then, the parser would wait for ever for somebody to take the rest of it.
    for await (const bytes of content.iterator({ destroyOnReturn: false })) yield bytes as Uint8Array
  } catch (error) {
    throw malformed(error)
  }
}

function openParser(request: IncomingMessage): busboy.Busboy {
  try {
    // The parser would take the other kind of forms too, which have no files.
    if (/^\s*application\/x-www-form-urlencoded/i.test(request.headers['content-type'] ?? ''))
      throw new Error('this is a form without files')
    return busboy({ headers: request.headers, preservePath: true, defParamCharset: 'utf8', limits: { fields: 0 } })
  } catch (error) {
    const why = messageOf(error)
    throw new InvalidParametersError(`this call takes its data as multipart/form-data: ${why}`, { cause: error })
  }
}

function decodePath(filename: string | undefined): string {
  if (filename === undefined) return ''
  try {
    return decodeURIComponent(filename)
  } catch {
    return filename
  }
}

/** Parts between the parser and their reader; with `whenEmpty`, at most as many as one read of the socket holds. */
class Inbox {
  readonly #waiting: UploadPart[] = []
  #wake: (() => void) | undefined
  #onEmpty: (() => void) | undefined
  #ended = false
  #failure: Error | undefined

  push(part: UploadPart): void {
    this.#waiting.push(part)
    this.#wake?.()
  }

  end(failure?: Error): void {
    this.#ended = true
    this.#failure ??= failure
    this.#wake?.()
  }

  /** Calls back, once, when no part waits: at once, or when the last one is taken. */
  whenEmpty(then: () => void): void {
    if (this.#waiting.length === 0) then()
    else this.#onEmpty = then
  }

  #take(): UploadPart | undefined {
    const part = this.#waiting.shift()
    if (this.#waiting.length === 0) {
      const then = this.#onEmpty
      this.#onEmpty = undefined
      then?.()
    }
    return part
  }

  async *parts(): AsyncGenerator<UploadPart> {
    for (;;) {
      const part = this.#take()
      if (part !== undefined) yield part
      else if (this.#failure !== undefined) throw this.#failure
      else if (this.#ended) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
