/** Kubo's JSON for pins and collections. The RPC writes these shapes, our client reads them, and the command prints them with `--json`. */
import { CID } from '@shardswap/interface'
import type { CollectedBlock } from './api/garbage.ts'
import type { PinCheck, PinEntry, PinType } from './api/pins.ts'
import { CollectionError } from './gc/errors.ts'

/** A line of `pin add`: the pins, or with `progress` how far it is. */
export interface PinAddShape {
  readonly Pins?: readonly string[]
  readonly Progress?: number
  readonly Bytes?: number
}

/** What `pin rm` and `pin update` answer. */
export interface PinsShape {
  readonly Pins: readonly string[]
}

/** A line of `pin ls` with `stream`. */
export interface PinEntryShape {
  readonly Cid: string
  readonly Name?: string
  /** `recursive`, `direct`, `indirect`; or `indirect through CID`, of one that was asked for. */
  readonly Type: string
}

/** What stands under a CID in the answer of `pin ls` without `stream`. */
export interface PinKeyShape {
  readonly Type: string
  readonly Name: string
}

/** A line of `pin verify`. */
export interface PinCheckShape {
  readonly Cid: string
  readonly Ok?: boolean
  readonly BadNodes?: readonly { readonly Cid: string; readonly Err: string }[]
}

/** A line of `repo gc`. */
export interface CollectedShape {
  readonly Key: { readonly '/': string } | null
  readonly Error?: string
}

/** The CIDs of pins. */
export function pinsShape(cids: readonly CID[]): PinsShape {
  return { Pins: cids.map(String) }
}

/** The type of an entry as Kubo writes it. */
export function pinTypeText({ type, via }: PinEntry): string {
  return via === undefined ? type : `indirect through ${via.toString()}`
}

/** An entry; its name only where names are asked for. */
export function pinEntryShape(entry: PinEntry, withName: boolean): PinEntryShape {
  const { cid, name } = entry
  return { Cid: cid.toString(), ...(withName && name !== undefined ? { Name: name } : {}), Type: pinTypeText(entry) }
}

/** An entry out of what a daemon wrote. */
export function pinEntryOf({ Cid, Name, Type }: PinEntryShape): PinEntry {
  const [type = '', , via] = Type.split(' ')
  return {
    cid: CID.parse(Cid),
    type: type as PinType,
    ...(Name === undefined || Name === '' ? {} : { name: Name }),
    ...(via === undefined ? {} : { via: CID.parse(via) })
  }
}

/** What a pin lacks, if anything. */
export function pinCheckShape({ cid, bad }: PinCheck): PinCheckShape {
  if (bad.length === 0) return { Cid: cid.toString(), Ok: true }
  return { Cid: cid.toString(), BadNodes: bad.map((node) => ({ Cid: node.cid.toString(), Err: node.reason })) }
}

/** The same out of what a daemon wrote. */
export function pinCheckOf({ Cid, BadNodes = [] }: PinCheckShape): PinCheck {
  return { cid: CID.parse(Cid), bad: BadNodes.map((node) => ({ cid: CID.parse(node.Cid), reason: node.Err })) }
}

/** A line of `repo gc`. */
export function collectedShape(line: CollectedBlock): CollectedShape {
  return 'error' in line ? { Error: line.error.message, Key: null } : { Key: { '/': line.cid.toString() } }
}

/** A line of a collection; its block's size is not told. */
export function collectedOf({ Key, Error: reason }: CollectedShape): { readonly cid: CID } | { readonly error: Error } {
  return Key === null ? { error: new CollectionError(reason ?? 'unknown reason') } : { cid: CID.parse(Key['/']) }
}
