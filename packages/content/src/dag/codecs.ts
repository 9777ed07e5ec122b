/** The codecs of IPLD that a node can be put and got in. */
import * as dagCbor from '@ipld/dag-cbor'
import * as dagJson from '@ipld/dag-json'
import * as dagPb from '@ipld/dag-pb'
import { CID, MalformedError, messageOf } from '@shardswap/interface'
import { decode as decodeCborBytes, encode as encodeCborValue, Tokenizer } from 'cborg'
import * as raw from 'multiformats/codecs/raw'
import { type NodeCodecName, nodeCodecNames } from './codec-names.ts'
import { keepingFloats, plainNumbers, wholeFloatTokens } from './floats.ts'
import { decodeDagJson, decodeJson, encodeDagJson, encodeJson } from './json.ts'

interface NodeCodec {
  readonly code: number
  decode(bytes: Uint8Array): unknown
  encode(value: unknown): Uint8Array
}

/** Integers beyond 2^53 are bigints, floats without a fraction are told apart. */
function decodeDagCbor(bytes: Uint8Array): unknown {
  return decodeCborBytes(bytes, { ...dagCbor.decodeOptions, tokenizer: keepingFloats(new Tokenizer(bytes, dagCbor.decodeOptions)) })
}

const { typeEncoders } = dagCbor.encodeOptions
const cborOptions = {
  ...dagCbor.encodeOptions,
  typeEncoders: { ...typeEncoders, Object: (value: unknown) => wholeFloatTokens(value) ?? typeEncoders.Object(value) }
}

function encodeDagCbor(value: unknown): Uint8Array {
  return encodeCborValue(value, cborOptions)
}

/** Plain CBOR has no tag for links, and keys stay in their order. */
const plainCborOptions = {
  ...cborOptions,
  mapSorter: () => 0,
  typeEncoders: {
    ...cborOptions.typeEncoders,
    Object: (value: unknown) => {
      if (CID.asCID(value) !== null) throw new Error('plain cbor holds no links: use dag-cbor')
      return wholeFloatTokens(value)
    }
  }
}

function decodeCbor(bytes: Uint8Array): unknown {
  const options = { ...dagCbor.decodeOptions, tags: {} }
  return decodeCborBytes(bytes, { ...options, tokenizer: keepingFloats(new Tokenizer(bytes, options)) })
}

function encodeRaw(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  throw new Error('the codec raw holds bytes alone')
}

function encodeDagPb(value: unknown): Uint8Array {
  return dagPb.encode(plainNumbers(value) as dagPb.PBNode)
}

const codecs: Readonly<Record<NodeCodecName, NodeCodec>> = {
  raw: { code: raw.code, decode: (bytes) => bytes, encode: encodeRaw },
  'dag-pb': { code: dagPb.code, decode: (bytes) => dagPb.decode(bytes), encode: encodeDagPb },
  'dag-cbor': { code: dagCbor.code, decode: decodeDagCbor, encode: encodeDagCbor },
  'dag-json': { code: dagJson.code, decode: decodeDagJson, encode: encodeDagJson },
  cbor: { code: 0x51, decode: decodeCbor, encode: (value) => encodeCborValue(value, plainCborOptions) },
  json: { code: 0x0200, decode: decodeJson, encode: encodeJson }
}

const byCode = new Map(Object.values(codecs).map((codec) => [codec.code, codec]))

/** Whether a block of this codec can be read as a value, and a value be written as such a block. */
export function isNodeCodec(code: number): boolean {
  return byCode.has(code)
}

/**
 * A block's bytes as a value of IPLD: links are CIDs, bytes are Uint8Arrays. The codec must be one of `nodeCodecNames`.
 * Errors: MalformedError.
 */
export function decodeValue(code: number, bytes: Uint8Array): unknown {
  return attempt(code, 'the bytes do not follow', (codec) => codec.decode(bytes))
}

/** A value as a block's bytes. Errors: MalformedError where the codec cannot hold it. */
export function encodeValue(code: number, value: unknown): Uint8Array {
  return attempt(code, 'the value cannot be written in', (codec) => codec.encode(value))
}

function attempt<T>(code: number, what: string, use: (codec: NodeCodec) => T): T {
  const codec = byCode.get(code)
  if (codec === undefined) throw new MalformedError(`codec 0x${code.toString(16)} cannot be read here`)
  try {
    return use(codec)
  } catch (cause) {
    // A value that is nested too deep overflows the stack: that too is the block's fault.
    const name = nodeCodecNames().find((known) => codecs[known] === codec) ?? ''
    throw new MalformedError(`${what} the codec ${name}: ${messageOf(cause)}`, { cause })
  }
}
