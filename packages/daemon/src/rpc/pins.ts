/** `pin/add`, `pin/ls`, `pin/rm`, `pin/update`, `pin/verify`. */
import { InvalidParametersError } from '@shardswap/interface'
import type { PinListOptions, PinType } from '../api/pins.ts'
import { pinCheckShape, type PinEntryShape, pinEntryShape, type PinKeyShape, pinsShape } from '../pin-shapes.ts'
import { type Call, fetchOptions, type Handlers } from './call.ts'
import { ProgressSlot, withProgress } from './progress.ts'
import type { Query } from './query.ts'
import type { Reply } from './reply.ts'

const types: readonly (PinType | 'all')[] = ['direct', 'indirect', 'recursive', 'all']

function add(call: Call): Reply {
  const { node, query } = call
  const progress = query.flag('progress') === true ? new ProgressSlot() : undefined
  const options = {
    ...fetchOptions(call),
    isRecursive: query.flag('recursive') ?? true,
    name: query.text('name'),
    onProgress: progress === undefined ? undefined : (blocks: number, bytes: number) => progress.set({ Progress: blocks, Bytes: bytes })
  }
  const paths = query.args()
  const lines = async function* (): AsyncGenerator<object> {
    yield pinsShape(await node.pins.add(paths, options))
  }
  return { kind: 'lines', lines: progress === undefined ? lines() : withProgress(lines(), progress) }
}

function listOptions(query: Query, signal: AbortSignal): PinListOptions {
  const type = query.text('type') ?? 'all'
  const found = types.find((known) => known === type)
  if (found === undefined) throw new InvalidParametersError(`invalid type '${type}', must be one of {${types.join(', ')}}`)
  return { type: found, name: query.text('name'), paths: query.argsIfAny(), signal }
}

/** Kubo's one document, written as it comes: of a repo with millions of blocks below pins it is large. */
async function* keys(entries: AsyncIterable<PinEntryShape>): AsyncGenerator<Uint8Array> {
  let before = '{"Keys":{'
  for await (const { Cid, Type, Name = '' } of entries) {
    const shape: PinKeyShape = { Type, Name }
    yield Buffer.from(`${before}${JSON.stringify(Cid)}:${JSON.stringify(shape)}`)
    before = ','
  }
  // As Kubo: no keys at all where there are none.
  yield Buffer.from(before === ',' ? '}}\n' : '{}\n')
}

function ls({ node, query, signal }: Call): Reply {
  const options = listOptions(query, signal)
  const withNames = query.flag('names') === true || options.name !== undefined
  const entries = async function* (): AsyncGenerator<PinEntryShape> {
    for await (const entry of node.pins.ls(options)) yield pinEntryShape(entry, withNames)
  }
  if (query.flag('stream') === true) return { kind: 'lines', lines: entries() }
  return { kind: 'bytes', bytes: keys(entries()), contentType: 'application/json' }
}

async function rm(call: Call): Promise<Reply> {
  const { node, query } = call
  const options = { ...fetchOptions(call), isRecursive: query.flag('recursive') ?? true }
  return { kind: 'json', value: pinsShape(await node.pins.rm(query.args(), options)) }
}

async function update(call: Call): Promise<Reply> {
  const { node, query } = call
  const [from, to, ...others] = query.args()
  if (to === undefined || others.length > 0) throw new InvalidParametersError('two arguments are required: the old path and the new one')
  const options = { ...fetchOptions(call), unpin: query.flag('unpin') ?? true }
  return { kind: 'json', value: pinsShape(await node.pins.update(from, to, options)) }
}

async function* verify({ node, query, signal }: Call): AsyncGenerator<object> {
  const verbose = query.flag('verbose') ?? false
  const quiet = query.flag('quiet') ?? false
  if (verbose && quiet) throw new InvalidParametersError('the --verbose and --quiet options can not be used at the same time')
  for await (const check of node.pins.verify({ signal })) {
    const shape = pinCheckShape(check)
    if (shape.Ok !== true) yield quiet ? { Cid: shape.Cid } : shape
    else if (verbose) yield shape
  }
}

export const pinHandlers: Handlers = {
  'pin/add': add,
  'pin/ls': ls,
  'pin/rm': rm,
  'pin/update': update,
  'pin/verify': (call) => ({ kind: 'lines', lines: verify(call) })
}
