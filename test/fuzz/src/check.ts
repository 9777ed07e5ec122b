import { isDeepStrictEqual } from 'node:util'
import { CID, MalformedError, TooLargeError } from '@shardswap/interface'
import { decodeMessage, encodeMessages, FrameDecoder, type DecodedMessage } from '@shardswap/protocol'
import { create as createDigest } from 'multiformats/hashes/digest'
import { meaning } from '../../../packages/protocol/test/meaning.ts'
import { reference } from '../../../packages/protocol/test/reference.ts'
import type { Random } from './random.ts'

/** A promise of the codec that some input broke. */
class Broken extends Error {
  override readonly name = 'Broken'
}

function ensure(condition: boolean, promise: string): void {
  if (!condition) throw new Broken(promise)
}

/** How the reference judged the input: `unknown` where it is no judge. */
export type Outcome = 'taken' | 'refused' | 'unknown'

/** Decodes `bytes` as one message and holds the codec to its promises. Throws Broken. */
export function checkMessage(bytes: Uint8Array): Outcome {
  const decoded = decodeOrRefuse(bytes)
  const expected = reference(bytes)
  if (decoded !== undefined) {
    checkBounds(bytes, decoded)
    checkStable(decoded)
  }
  if (expected === 'unknown') return 'unknown'
  if (expected === 'refused') {
    ensure(decoded === undefined, 'what Go refuses is refused')
    return 'refused'
  }
  if (decoded === undefined) throw new Broken('what Go takes is taken')
  ensure(isDeepStrictEqual(meaning(decoded), expected), 'a message means what the oracle says')
  return 'taken'
}

/** The message, or undefined where it was refused with one of the two errors that are promised. */
function decodeOrRefuse(bytes: Uint8Array): DecodedMessage | undefined {
  try {
    return decodeMessage(bytes)
  } catch (error) {
    if (error instanceof MalformedError || error instanceof TooLargeError) return undefined
    throw new Broken(`an error of another kind: ${String(error)}`, { cause: error })
  }
}

/** What is made of a message is no more than its bytes allow. */
function checkBounds(bytes: Uint8Array, { entries, blocks, presences, skipped }: DecodedMessage): void {
  const items = entries.length + blocks.length + presences.length + skipped.entries + skipped.blocks + skipped.presences
  ensure(items * 2 <= bytes.byteLength, 'an item takes two bytes at least')
  const cids = [...entries, ...presences].map(({ cid }) => cid)
  const cidBytes = cids.reduce((sum, cid) => sum + cid.bytes.byteLength, 0)
  const dataBytes = blocks.reduce((sum, { data }) => sum + data.byteLength, 0)
  ensure(cidBytes + dataBytes <= bytes.byteLength, 'no more comes out than came in')
  const buffers = new Set<ArrayBufferLike>(cids.map((cid) => cid.bytes.buffer))
  ensure(!buffers.has(bytes.buffer), 'a CID pins nothing of its frame')
  const copied = Array.from(buffers).reduce((sum, buffer) => sum + buffer.byteLength, 0)
  ensure(copied <= 2 * bytes.byteLength, 'copies take at most twice what came')
  ensure(
    blocks.every(({ data }) => data.byteLength === 0 || data.buffer === bytes.buffer),
    'data is a slice of its frame'
  )
}

/** What was read can be written, and then reads the same. */
function checkStable(decoded: DecodedMessage): void {
  // A digest of any length that a hash has; a prefix may claim one that no CID could hold.
  const writable = decoded.blocks.filter(({ prefix }) => prefix.digestBytes <= 128)
  const blocks = writable.map(({ prefix, data }) => {
    const digest = createDigest(prefix.hashCode, new Uint8Array(prefix.digestBytes))
    const cid = prefix.version === 0 ? CID.createV0(digest as Parameters<typeof CID.createV0>[0]) : CID.createV1(prefix.codec, digest)
    return { cid, bytes: data }
  })
  const frames = new FrameDecoder()
  for (const frame of encodeMessages({ ...decoded, blocks }, '1.2.0')) frames.push(frame)
  const again = Array.from(frames.frames(), (body) => meaning(decodeMessage(body)))
  ensure(frames.atBorder, 'frames end where they say')
  const isEmpty = blocks.length + decoded.entries.length + decoded.presences.length === 0
  const expected = isEmpty ? [] : [meaning({ ...decoded, blocks: writable })]
  ensure(isDeepStrictEqual(again, expected), 'what was read, written and read again is the same')
}

/** Feeds `bytes` to a frame decoder in arrivals cut by chance. Throws Broken. */
export function checkFraming(bytes: Uint8Array, random: Random): void {
  const decoder = new FrameDecoder({ messageBytesMax: 1 << random.below(23) })
  let given = 0
  try {
    for (let at = 0; at < bytes.byteLength;) {
      const end = Math.min(bytes.byteLength, at + random.below(random.pick([2, 20, 300])))
      decoder.push(bytes.slice(at, end))
      at = end
      for (const frame of decoder.frames()) given += frame.byteLength
      ensure(given + decoder.bufferedBytes <= at, 'frames hold no more than came')
    }
  } catch (error) {
    if (error instanceof MalformedError || error instanceof TooLargeError) return
    throw error instanceof Broken ? error : new Broken(`an error of another kind: ${String(error)}`, { cause: error })
  }
}
