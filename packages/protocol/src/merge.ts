import type { CID } from '@shardswap/interface'
import type { DecodeLimits, Presence, WantlistEntry } from './types.ts'

const wantBlock = 0
const wantHave = 1
const presenceHave = 0
const presenceDontHave = 1

interface MergedEntry {
  cid: CID
  priority: number
  cancel: boolean
  wantType: 'block' | 'have'
  sendDontHave: boolean
}

/** One character a byte. Go merges by the whole CID, not by its multihash. */
function keyOf(cid: CID): string {
  return String.fromCharCode.apply(null, cid.bytes as unknown as number[])
}

/** The entries and presences of one message, at most one of each per CID, by Go's rules. */
export class Merge {
  readonly #limits: DecodeLimits
  readonly #entries = new Map<string, MergedEntry>()
  readonly #presences = new Map<string, { cid: CID; presence: Presence }>()
  /** Want types that no version of the protocol has, by entry: those merge by their number. */
  readonly #oddTypes = new Map<MergedEntry, number>()
  skippedEntries = 0
  skippedPresences = 0

  constructor(limits: DecodeLimits) {
    this.#limits = limits
  }

  /** Cancel and sendDontHave stick once set; the priority follows an entry of the same type; want-block overrides want-have. */
  addEntry(cid: CID, priority: number, cancel: boolean, type: number, sendDontHave: boolean): void {
    const key = keyOf(cid)
    const known = this.#entries.get(key)
    if (known !== undefined) {
      const knownType = this.#typeOf(known)
      if (knownType === type) known.priority = priority
      if (cancel) known.cancel = true
      if (sendDontHave) known.sendDontHave = true
      if (type === wantBlock && knownType === wantHave) known.wantType = 'block'
      return
    }
    if (this.#entries.size >= this.#limits.entriesMax) {
      this.skippedEntries++
      return
    }
    // Go's server asks only whether the type is want-block, so a type from the future is as good as want-have.
    const entry: MergedEntry = { cid, priority, cancel, wantType: type === wantBlock ? 'block' : 'have', sendDontHave }
    if (type !== wantBlock && type !== wantHave) this.#oddTypes.set(entry, type)
    this.#entries.set(key, entry)
  }

  /** The last one counts. One of an unknown type says nothing, and takes the place of what was said before. */
  addPresence(cid: CID, type: number): void {
    const key = keyOf(cid)
    if (type !== presenceHave && type !== presenceDontHave) {
      this.#presences.delete(key)
      this.skippedPresences++
    } else if (this.#presences.size >= this.#limits.presencesMax && !this.#presences.has(key)) {
      this.skippedPresences++
    } else {
      this.#presences.set(key, { cid, presence: type === presenceHave ? 'have' : 'dont-have' })
    }
  }

  entries(): readonly WantlistEntry[] {
    return Array.from(this.#entries.values())
  }

  presences(): readonly { readonly cid: CID; readonly presence: Presence }[] {
    return Array.from(this.#presences.values())
  }

  #typeOf(entry: MergedEntry): number {
    return this.#oddTypes.get(entry) ?? (entry.wantType === 'block' ? wantBlock : wantHave)
  }
}
