import { MalformedError } from '@shardswap/interface'
import type { Reader } from 'protons-runtime'
import { groupDepthMax } from './limits.ts'

/*
 * The reader of protons-runtime is our cursor: `buf`, `pos` and `len`, where
 * `len` is the end of the submessage at hand. Its own varints are not used: it
 * takes each longer than five bytes as one of ten, and reads past the end of a
 * submessage, where Go's protobuf takes six to nine and refuses the latter.
 */

/** An unsigned varint by protobuf's rules: up to ten bytes, 64 bits. Above 2^53 the number is only near. */
function readVarint(reader: Reader): number {
  const { buf, len } = reader
  let pos = reader.pos
  let value = 0
  let scale = 1
  for (let i = 0; i < 10; i++) {
    if (pos >= len) throw new MalformedError('a varint is cut off')
    const byte = buf[pos++] as number
    if (i === 9 && byte > 1) break
    value += (byte & 0x7f) * scale
    if (byte < 0x80) {
      reader.pos = pos
      return value
    }
    scale *= 128
  }
  throw new MalformedError('a varint has more than 64 bits')
}

/** A varint as protobuf's int32 or enum: its lowest 32 bits, signed. */
export function readInt32(reader: Reader): number {
  const start = reader.pos
  const value = readVarint(reader)
  if (value <= 0x7fffffff) return value
  // Too big to be exact as a number, so the low bits are taken from the bytes: four of seven bits and one of four.
  const { buf } = reader
  let low = 0
  for (let i = 0; i < 5 && start + i < reader.pos; i++) low |= ((buf[start + i] as number) & 0x7f) << (7 * i)
  return low
}

/** A varint as protobuf's bool: any bit set. */
export function readBool(reader: Reader): boolean {
  return readVarint(reader) !== 0
}

/** A field's number and wire type. */
export function readTag(reader: Reader): number {
  const tag = readVarint(reader)
  if (tag < 8 || tag > 0xffffffff) throw new MalformedError('a field has an impossible number')
  return tag
}

/** The end of a length-delimited value that starts at the cursor. */
export function readEnd(reader: Reader): number {
  const length = readVarint(reader)
  const end = reader.pos + length
  if (end > reader.len) throw new MalformedError('a field is longer than what holds it')
  return end
}

function advance(reader: Reader, bytes: number): void {
  if (reader.pos + bytes > reader.len) throw new MalformedError('a field is cut off')
  reader.pos += bytes
}

/** Passes over a field that we do not know, or know under another wire type, as proto3 does. */
export function skipField(reader: Reader, tag: number): void {
  const groups: number[] = []
  let at = tag
  for (;;) {
    switch (at & 7) {
      case 0:
        readVarint(reader)
        break
      case 1:
        advance(reader, 8)
        break
      case 2:
        reader.pos = readEnd(reader)
        break
      case 3:
        if (groups.length === groupDepthMax) throw new MalformedError('groups are nested too deeply')
        groups.push(at >>> 3)
        break
      case 4:
        if (groups.pop() !== at >>> 3) throw new MalformedError('a group ends that has not begun')
        break
      case 5:
        advance(reader, 4)
        break
      default:
        throw new MalformedError('a field has an unknown wire type')
    }
    if (groups.length === 0) return
    at = readTag(reader)
  }
}

/** An unsigned varint by multiformats' rules, as in CIDs and prefixes: at most nine bytes, and no longer than needed. */
export function readMultiformatsVarint(reader: Reader): number {
  const start = reader.pos
  const value = readVarint(reader)
  const bytes = reader.pos - start
  if (bytes > 9) throw new MalformedError('a varint of a CID has more than 63 bits')
  if (bytes > 1 && reader.buf[reader.pos - 1] === 0) throw new MalformedError('a varint of a CID is longer than needed')
  return value
}

/** Bytes that an unsigned varint takes; `value` is below 2^32. */
export function varintBytes(value: number): number {
  if (value < 0x80) return 1
  if (value < 0x4000) return 2
  if (value < 0x200000) return 3
  return value < 0x10000000 ? 4 : 5
}

/** Bytes that an int32 takes: ten where it is negative. */
export function int32Bytes(value: number): number {
  return value < 0 ? 10 : varintBytes(value)
}
