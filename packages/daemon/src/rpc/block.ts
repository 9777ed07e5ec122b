/** `block/put`, `block/get`, `block/stat`, `block/rm`. */
import { parseCid } from '../cid.ts'
import { checkBlockSize } from '../local/blocks.ts'
import type { BlockPutOptions } from '../node.ts'
import { blockShape, removedShape } from '../shapes.ts'
import { type Call, fetchOptions, type Handlers } from './call.ts'
import type { Query } from './query.ts'
import type { Reply } from './reply.ts'
import { uploadedFiles } from './upload.ts'

function putOptions(query: Query): BlockPutOptions {
  // `format` is the older name of the option, and goes before the other, which Kubo's command always sends; there `v0` and `protobuf` were usual, and
  // `cbor` meant dag-cbor.
  const format = query.text('format')
  const codec = format === 'cbor' ? 'dag-cbor' : (format ?? query.text('cid-codec'))
  const mhtype = query.text('mhtype')
  const mhlen = query.integer('mhlen')
  return {
    ...(codec === undefined ? {} : { codec }),
    ...(mhtype === undefined ? {} : { mhtype }),
    ...(mhlen === undefined ? {} : { mhlen }),
    allowBigBlock: query.flag('allow-big-block') ?? false,
    pin: query.flag('pin') ?? false
  }
}

async function* putAll({ node, query, request, signal, gathering }: Call): AsyncGenerator<object> {
  const options = putOptions(query)
  for await (const content of uploadedFiles(request, signal)) {
    const check = (length: number): void => checkBlockSize(length, options.allowBigBlock === true)
    yield blockShape(await gathering.run(content, check, async (bytes) => await node.blockPut(bytes, { ...options, signal })))
  }
}

async function* getOne(call: Call): AsyncGenerator<Uint8Array> {
  yield await call.node.blockGet(parseCid(call.query.arg()), fetchOptions(call))
}

async function stat(call: Call): Promise<Reply> {
  return { kind: 'json', value: blockShape(await call.node.blockStat(parseCid(call.query.arg()), fetchOptions(call))) }
}

async function* removeAll({ node, query, signal }: Call): AsyncGenerator<object> {
  const quiet = query.flag('quiet') ?? false
  const force = query.flag('force') ?? false
  for await (const removed of node.blockRm(query.cids(), { signal, force })) {
    if (!quiet || removed.error !== undefined) yield removedShape(removed)
  }
}

export const blockHandlers: Handlers = {
  'block/put': (call) => ({ kind: 'lines', lines: putAll(call) }),
  'block/get': (call) => ({ kind: 'bytes', bytes: getOne(call), contentType: 'application/vnd.ipld.raw' }),
  'block/stat': stat,
  'block/rm': (call) => ({ kind: 'lines', lines: removeAll(call) })
}
