import { spawnSync } from 'node:child_process'
import { CID } from '@shardswap/interface'
import { identityCode, multihashOf } from '@shardswap/hashes'
import { cidOfPrefix, type BitswapMessage, type WireBlock } from '@shardswap/protocol'
import { create as createDigest } from 'multiformats/hashes/digest'
import { meaning } from '../../../packages/protocol/test/meaning.ts'
import { toHex } from '../../../packages/protocol/test/reference.ts'

/** What boxo made of a message, as boxo/main.go writes it: CIDs and data in hex, enums as numbers. */
export interface BoxoAnswer {
  readonly error?: string
  readonly full: boolean
  readonly entries: readonly { cid: string; priority: number; cancel: boolean; wantType: number; sendDontHave: boolean }[] | null
  readonly blocks: readonly { cid: string; data: string }[] | null
  readonly presences: readonly { cid: string; type: number }[] | null
  readonly pendingBytes: number
}

const answerBytesMax = 1 << 30

/** boxo's answers to messages, from the program of boxo/main.go built at `binary`. */
export function askBoxo(binary: string, messages: readonly Uint8Array[]): BoxoAnswer[] {
  const input = messages.flatMap((message) => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(message.byteLength)
    return [length, message]
  })
  const { stdout, error, status } = spawnSync(binary, { input: Buffer.concat(input), maxBuffer: answerBytesMax })
  if (error !== undefined) throw error
  const lines = stdout.toString('utf8').split('\n').slice(0, -1)
  if (status !== 0 || lines.length !== messages.length) throw new Error(`${binary} gave ${lines.length} answers to ${messages.length}`)
  return lines.map((line) => JSON.parse(line) as BoxoAnswer)
}

/** A CID that we keep in an entry or a presence; docs/wire-protocol.md says which we skip. */
function isKept(hex: string): boolean {
  const bytes = new Uint8Array(Buffer.from(hex, 'hex'))
  if (bytes.byteLength > 168) return false
  try {
    return CID.decode(bytes).multihash.code !== identityCode
  } catch {
    // A code above 2^53.
    return false
  }
}

/** The CID of a block, or undefined where we cannot hash it and boxo may. */
function cidOf({ prefix, data }: WireBlock): string | undefined {
  // As Go does, the length of an identity digest is that of the data, whatever the prefix says.
  if (prefix.hashCode === identityCode) return toHex(CID.createV1(prefix.codec, createDigest(identityCode, data)).bytes)
  const multihash = multihashOf(prefix.hashCode, prefix.digestBytes, data)
  return multihash === undefined ? undefined : toHex(cidOfPrefix(prefix, multihash).bytes)
}

function sorted(items: readonly unknown[]): string {
  return items
    .map((item) => JSON.stringify(item))
    .sort()
    .join('\n')
}

/** How `ours`, undefined where we refused the message, differs from boxo's answer; undefined where they agree. */
export function difference(ours: BitswapMessage | undefined, boxo: BoxoAnswer): string | undefined {
  if (boxo.error !== undefined) {
    // Hashing comes later here, and then loses the one block alone.
    const isHashing = /unknown multihash code|length was too large for digest/.test(boxo.error)
    return ours === undefined || isHashing ? undefined : `boxo refuses it (${boxo.error}), we take it`
  }
  if (ours === undefined) return 'boxo takes it, we refuse it'
  const read = meaning(ours)
  if (read.full !== boxo.full) return 'full differs'
  if (read.pendingBytes !== Math.max(0, boxo.pendingBytes)) return 'pendingBytes differ'
  const entries = (boxo.entries ?? []).filter(({ cid }) => isKept(cid))
  const wants = entries.map(({ wantType, ...entry }) => ({ ...entry, wantType: wantType === 0 ? 'block' : 'have' }))
  const ourWants = read.entries.map(({ wantType, ...entry }) => ({ ...entry, wantType }))
  if (sorted(ourWants) !== sorted(wants)) return 'entries differ'
  const hashed = new Map(ours.blocks.map((block) => [cidOf(block), toHex(block.data)]))
  if (hashed.has(undefined)) return undefined
  const blocks = Array.from(hashed, ([cid, data]) => ({ cid, data }))
  if (sorted(blocks) !== sorted(boxo.blocks ?? [])) return 'blocks differ'
  const presences = (boxo.presences ?? []).filter(({ cid, type }) => isKept(cid) && (type === 0 || type === 1))
  const says = presences.map(({ cid, type }) => ({ cid, presence: type === 0 ? 'have' : 'dont-have' }))
  // A block takes the place of a presence; who hashes sees that.
  const ourSays = read.presences.filter(({ cid }) => !hashed.has(cid))
  return sorted(ourSays) === sorted(says) ? undefined : 'presences differ'
}
