import * as dagCbor from '@ipld/dag-cbor'
import * as dagJson from '@ipld/dag-json'
import * as dagPb from '@ipld/dag-pb'
import { CID, MalformedError, messageOf } from '@shardswap/interface'
import * as raw from 'multiformats/codecs/raw'
import { UnsupportedCodecError } from '../errors.ts'

/** Codecs whose blocks can hold no link. */
const plainCbor = 0x51
const plainJson = 0x0200

/** A link of a block, and what the block states of the bytes below it (0: nothing). */
export interface Link {
  readonly cid: CID
  readonly dagBytes: number
  /** Its name in a block of dag-pb; '' elsewhere. */
  readonly name: string
}

/**
 * The links of a block in their order, for dag-pb, dag-cbor and dag-json; raw, cbor and json have none.
 * Errors: UnsupportedCodecError, MalformedError.
 */
export function linksOf(cid: CID, bytes: Uint8Array): Link[] {
  try {
    switch (cid.code) {
      case raw.code:
      case plainCbor:
      case plainJson:
        return []
      case dagPb.code:
        return dagPb.decode(bytes).Links.map((link) => ({ cid: link.Hash, dagBytes: link.Tsize ?? 0, name: link.Name ?? '' }))
      case dagCbor.code:
        return linksWithin(dagCbor.decode(bytes), shorterFirst)
      case dagJson.code:
        return linksWithin(dagJson.decode(bytes), byBytes)
      default:
        break
    }
  } catch (cause) {
    throw new MalformedError(`${cid.toString()} does not follow its codec: ${messageOf(cause)}`, {
      cause
    })
  }
  throw new UnsupportedCodecError(cid)
}

/** The links within a value of a block of this codec. */
export function linksInValue(code: number, value: unknown): Link[] {
  return linksWithin(value, code === dagCbor.code ? shorterFirst : byBytes)
}

/** In depth-first order, without recursion: a value may be nested as deep as its block is long. */
function linksWithin(value: unknown, order: (a: string, b: string) => number): Link[] {
  const links: Link[] = []
  const stack: unknown[] = [value]
  while (stack.length > 0) {
    const here = stack.pop()
    if (typeof here !== 'object' || here === null || here instanceof Uint8Array) continue
    const cid = CID.asCID(here)
    if (cid !== null) links.push({ cid, dagBytes: 0, name: '' })
    else pushReversed(stack, here, order)
  }
  return links
}

function pushReversed(stack: unknown[], value: object, order: (a: string, b: string) => number): void {
  if (Array.isArray(value)) {
    for (let i = value.length - 1; i >= 0; i--) stack.push(value[i])
    return
  }
  const keys = Object.keys(value)
  // An object puts keys that look like numbers first, whatever their order in the block was.
  if (keys.some((key) => /^\d+$/.test(key))) keys.sort(order)
  for (let i = keys.length - 1; i >= 0; i--) stack.push((value as Record<string, unknown>)[keys[i] ?? ''])
}

const encoder = new TextEncoder()

function byBytes(a: string, b: string): number {
  const left = encoder.encode(a)
  const right = encoder.encode(b)
  for (let i = 0; i < Math.min(left.byteLength, right.byteLength); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0)
    if (difference !== 0) return difference
  }
  return left.byteLength - right.byteLength
}

/** The order of keys in dag-cbor. */
function shorterFirst(a: string, b: string): number {
  return encoder.encode(a).byteLength - encoder.encode(b).byteLength || byBytes(a, b)
}
