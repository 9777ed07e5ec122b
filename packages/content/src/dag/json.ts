/** JSON as IPLD reads and writes it: dag-json with links and bytes, and the plain form without. */
import * as dagJson from '@ipld/dag-json'
import { CID } from '@shardswap/interface'
import * as cborgJson from 'cborg/json'
import { base64 } from 'multiformats/bases/base64'
import { keepingFloats, plainNumbers } from './floats.ts'

function decode(bytes: Uint8Array): unknown {
  const options = { allowIndefinite: false, allowUndefined: false, allowBigInt: true, strict: true, rejectDuplicateMapKeys: true }
  return cborgJson.decode(bytes, { ...options, tokenizer: keepingFloats(new cborgJson.Tokenizer(bytes, options)) })
}

/** Plain JSON: `{"/": …}` is a map like others. */
export function decodeJson(bytes: Uint8Array): unknown {
  return decode(bytes)
}

/** dag-json: `{"/": "CID"}` is a link and `{"/": {"bytes": "base64"}}` are bytes. */
export function decodeDagJson(bytes: Uint8Array): unknown {
  return withLinks(decode(bytes))
}

function withLinks(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withLinks)
  if (Object.getPrototypeOf(value) !== Object.prototype) return value
  const entries = Object.entries(value)
  const [first] = entries
  if (first?.[0] === '/') {
    const special = reserved(first[1])
    if (special !== undefined) {
      if (entries.length > 1) throw new Error('a map with the key "/" holds a link or bytes and nothing else')
      return special
    }
  }
  return Object.fromEntries(entries.map(([key, inner]) => [key, withLinks(inner)]))
}

function reserved(value: unknown): CID | Uint8Array | undefined {
  if (typeof value === 'string') return CID.parse(value)
  if (typeof value !== 'object' || value === null || !('bytes' in value) || typeof value.bytes !== 'string') return undefined
  if (Object.keys(value).length > 1) throw new Error('bytes are written as {"/": {"bytes": "base64"}} and nothing else')
  return base64.decode(`m${value.bytes}`)
}

/** dag-json, keys in order. */
export function encodeDagJson(value: unknown): Uint8Array {
  return dagJson.encode(plainNumbers(value))
}

/** Plain JSON, indented by a tab as Kubo's blocks of this codec are. Throws for links and bytes, which it cannot hold. */
export function encodeJson(value: unknown): Uint8Array {
  return new TextEncoder().encode(`${jsonText(plainNumbers(value), '')}\n`)
}

/** Not by JSON.stringify: integers may be larger than its numbers, and CIDs and bytes must be refused. */
function jsonText(value: unknown, indent: string): string {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (CID.asCID(value) !== null) throw new Error('plain json holds no links: use dag-json')
  if (value instanceof Uint8Array) throw new Error('plain json holds no bytes: use dag-json')
  const deeper = `${indent}\t`
  if (Array.isArray(value)) {
    const items = value.map((item) => `\n${deeper}${jsonText(item, deeper)}`)
    return items.length === 0 ? '[]' : `[${items.join(',')}\n${indent}]`
  }
  const items = Object.entries(value).map(([key, inner]) => `\n${deeper}${JSON.stringify(key)}: ${jsonText(inner, deeper)}`)
  return items.length === 0 ? '{}' : `{${items.join(',')}\n${indent}}`
}
