import type { BitswapMessage } from '../src/index.ts'
import { toHex, type Meaning } from './reference.ts'

/** What our decoder made of a message, in the terms of the reference. */
export function meaning(message: BitswapMessage): Meaning {
  return {
    full: message.full,
    entries: message.entries.map(({ cid, ...entry }) => ({ cid: toHex(cid.bytes), ...entry })),
    blocks: message.blocks.map(({ prefix, data }) => {
      return { prefix: [prefix.version, prefix.codec, prefix.hashCode, prefix.digestBytes].join(','), data: toHex(data) }
    }),
    presences: message.presences.map(({ cid, presence }) => ({ cid: toHex(cid.bytes), presence })),
    pendingBytes: message.pendingBytes
  }
}
