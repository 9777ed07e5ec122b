import type { Random } from './random.ts'

type Mutation = (bytes: Uint8Array, random: Random, others: readonly Uint8Array[]) => Uint8Array

/** Bytes that sit at the edges of varints, tags and lengths. */
const edges = [0x00, 0x01, 0x07, 0x0a, 0x12, 0x1a, 0x20, 0x22, 0x28, 0x7b, 0x7c, 0x7f, 0x80, 0x81, 0xfe, 0xff]

function join(...parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.byteLength
  }
  return joined
}

function cut(bytes: Uint8Array, random: Random): [number, number] {
  const a = random.below(bytes.byteLength + 1)
  const b = Math.min(bytes.byteLength, a + random.below(random.pick([2, 5, 40, bytes.byteLength + 1])))
  return [a, b]
}

const mutations: readonly Mutation[] = [
  function flipBit(bytes, random) {
    const copy = bytes.slice()
    const at = random.below(copy.byteLength)
    if (at < copy.byteLength) copy[at] = (copy[at] as number) ^ (1 << random.below(8))
    return copy
  },
  function setByte(bytes, random) {
    const copy = bytes.slice()
    const at = random.below(copy.byteLength)
    if (at < copy.byteLength) copy[at] = random.below(2) === 0 ? random.pick(edges) : random.below(256)
    return copy
  },
  function truncate(bytes, random) {
    return bytes.slice(0, random.below(bytes.byteLength + 1))
  },
  function remove(bytes, random) {
    const [from, to] = cut(bytes, random)
    return join(bytes.subarray(0, from), bytes.subarray(to))
  },
  function insert(bytes, random) {
    const [at] = cut(bytes, random)
    const extra = random.below(2) === 0 ? random.bytes(random.below(8)) : Uint8Array.of(random.pick(edges))
    return join(bytes.subarray(0, at), extra, bytes.subarray(at))
  },
  function repeat(bytes, random) {
    const [from, to] = cut(bytes, random)
    return join(bytes.subarray(0, to), bytes.subarray(from))
  },
  function splice(bytes, random, others) {
    const other = random.pick(others)
    const [at] = cut(bytes, random)
    const [from, to] = cut(other, random)
    return join(bytes.subarray(0, at), other.subarray(from, to), bytes.subarray(at))
  },
  // Two messages one after another are one message, by protobuf's rule of merging.
  function append(bytes, random, others) {
    return join(bytes, random.pick(others))
  },
  // A length or a number moves by a little, which keeps most of the message in step.
  function nudge(bytes, random) {
    const copy = bytes.slice()
    const at = random.below(copy.byteLength)
    if (at < copy.byteLength) copy[at] = ((copy[at] as number) + random.pick([-2, -1, 1, 2])) & 0xff
    return copy
  },
  // A varint of one byte becomes a longer one of the same value, or of a far greater.
  function widen(bytes, random) {
    const at = random.below(bytes.byteLength)
    const value = bytes[at]
    if (value === undefined || value > 0x7f) return bytes
    const filler = Uint8Array.from({ length: random.below(10) }, () => random.pick([0x80, 0x80, 0xff]))
    return join(
      bytes.subarray(0, at),
      Uint8Array.of(value | 0x80),
      filler,
      Uint8Array.of(random.pick([0, 0, 1, 2])),
      bytes.subarray(at + 1)
    )
  }
]

/** A message of the corpus after one to six mutations, each by chance. */
export function mutant(random: Random, corpus: readonly Uint8Array[]): Uint8Array {
  let bytes = random.pick(corpus)
  const rounds = 1 + random.below(random.pick([1, 2, 6]))
  for (let i = 0; i < rounds; i++) bytes = random.pick(mutations)(bytes, random, corpus)
  return bytes
}
