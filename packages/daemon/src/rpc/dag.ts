/** `dag/*`: single nodes in any codec, paths, sizes, and CAR archives. */
import type { DagSizes } from '@shardswap/content'
import { InvalidParametersError } from '@shardswap/interface'
import type { DagPutOptions } from '../api/dag.ts'
import { dagProgressShape, dagSizesShape, placeShape } from '../dag-shapes.ts'
import { checkBlockSize } from '../local/blocks.ts'
import { importShapes } from '../shapes.ts'
import { type Call, fetchOptions, type Handlers } from './call.ts'
import { ProgressSlot, withProgress } from './progress.ts'
import type { Query } from './query.ts'
import type { Reply } from './reply.ts'
import { uploadedFiles } from './upload.ts'

async function* importAll({ node, query, request, signal }: Call): AsyncGenerator<object> {
  const stats = query.flag('stats') ?? false
  for await (const content of uploadedFiles(request, signal)) {
    const result = await node.dagImport(content, { signal, pinRoots: query.flag('pin-roots') ?? true })
    for (const line of importShapes(result)) if (stats || line.Root !== undefined) yield line
  }
}

async function* getOne(call: Call): AsyncGenerator<Uint8Array> {
  yield await call.node.dag.get(call.query.arg(), { ...fetchOptions(call), outputCodec: call.query.text('output-codec') })
}

function putOptions(query: Query): DagPutOptions {
  return {
    inputCodec: query.text('input-codec'),
    storeCodec: query.text('store-codec'),
    hash: query.text('hash'),
    allowBigBlock: query.flag('allow-big-block') ?? false,
    pin: query.flag('pin') ?? false
  }
}

function checkAnySize(bytes: number): void {
  checkBlockSize(bytes, true)
}

async function* putAll({ node, query, request, signal, gathering }: Call): AsyncGenerator<object> {
  const options = putOptions(query)
  let files = 0
  for await (const content of uploadedFiles(request, signal)) {
    files++
    const cid = await gathering.run(content, checkAnySize, async (bytes) => await node.dag.put(bytes, { ...options, signal }))
    yield { Cid: { '/': cid.toString() } }
  }
  if (files === 0) throw new InvalidParametersError('file argument "object data" is required')
}

async function resolve(call: Call): Promise<Reply> {
  return { kind: 'json', value: placeShape(await call.node.dag.resolve(call.query.arg(), fetchOptions(call))) }
}

/** `resolve`: Kubo's command for names, of which this node knows paths alone. */
async function resolveName(call: Call): Promise<Reply> {
  const { cid, rest } = await call.node.dag.resolve(call.query.arg(), fetchOptions(call))
  return { kind: 'json', value: { Path: `/ipfs/${cid.toString()}${rest}` } }
}

async function* statAll(call: Call, onProgress?: (sizes: DagSizes) => void): AsyncGenerator<object> {
  const sizes = await call.node.dag.stat(call.query.args(), { ...fetchOptions(call), onProgress })
  yield dagSizesShape(sizes)
}

function stat(call: Call): Reply {
  if (call.query.flag('progress') === false) return { kind: 'lines', lines: statAll(call) }
  const progress = new ProgressSlot()
  const lines = statAll(call, (sizes) => progress.set(dagProgressShape(sizes)))
  return { kind: 'lines', lines: withProgress(lines, progress) }
}

export const dagHandlers: Handlers = {
  'dag/get': (call) => ({ kind: 'bytes', bytes: getOne(call), contentType: 'text/plain' }),
  'dag/put': (call) => ({ kind: 'lines', lines: putAll(call) }),
  'dag/resolve': resolve,
  resolve: resolveName,
  'dag/stat': stat,
  'dag/import': (call) => ({ kind: 'lines', lines: importAll(call) }),
  'dag/export': (call) => {
    const bytes = call.node.dagExport(call.query.arg(), fetchOptions(call))
    return { kind: 'bytes', bytes, contentType: 'application/vnd.ipld.car' }
  }
}
