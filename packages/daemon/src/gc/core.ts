/**
 * Which blocks a collection may remove. Pure: it is told what happens, in the
 * order in which it happens, and answers at once.
 *
 * A block is safe while one of these holds:
 *  1. a pin leads to it: it was marked from the pins as they were after the collection had begun;
 *  2. a hold that was open when the collection began has touched it. An add, an import or a pin takes a hold before its
 *     first block, touches every block of what it makes, also one that was here already, and lets go after its pin is
 *     written. What a hold that is opened since touches is safe by 3;
 *  3. it was written or touched since the collection began, by whomever;
 *  4. the root of a hold leads to it through blocks that are here: what a reader or a pin is fetching.
 *
 * 1 and 2 leave no gap between them: holds are taken down before the pins are
 * read, so what let go before had its pin among those that are read after.
 * Whoever touches a block while it is being removed is told so, and must wait
 * until it is gone before looking whether it is here.
 */
import { assert, type BlockKey, type CID, type Random } from '@shardswap/interface'
import { KeySet } from './key-set.ts'

/** dag-pb, dag-cbor, dag-json: a block is walked once for each of them that it is linked to under. They are the tags of keys. */
export const linkCodecs: readonly number[] = [0x70, 0x71, 0x0129]

const tags: readonly number[] = [0, ...linkCodecs]

/** What an operation that is under way keeps. */
export interface CoreHold {
  /** A reader: it has what it was given, so a collection that is short of space may take it away again. */
  readonly isReader: boolean
  /** Where a collection goes on marking from, with what is missing there left out. */
  readonly roots: CID[]
  /** What it touched. */
  readonly keys: KeySet
}

interface Collecting {
  readonly marked: KeySet
  readonly touched: KeySet
  readonly holds: ReadonlySet<CoreHold>
}

/** The rules, for one store. */
export class GarbageCore {
  readonly #random: Random
  readonly #open = new Set<CoreHold>()
  readonly #removing = new Set<BlockKey>()
  #collecting: Collecting | undefined
  #begun = 0

  constructor(random: Random) {
    this.#random = random
  }

  get isCollecting(): boolean {
    return this.#collecting !== undefined
  }

  /** How many collections have begun. */
  get begun(): number {
    return this.#begun
  }

  /** Holds that are open. */
  get holds(): number {
    return this.#open.size
  }

  /** Opens a hold. */
  open(roots: readonly CID[], isReader: boolean): CoreHold {
    const hold: CoreHold = { isReader, roots: [...roots], keys: new KeySet(this.#random) }
    this.#open.add(hold)
    return hold
  }

  /** Ends a hold. The collection under way goes on to spare what it touched. */
  close(hold: CoreHold): void {
    this.#open.delete(hold)
  }

  /**
   * A block is about to be written, or counted on, under a hold or by itself.
   * Returns true where the hold meets it for the first time.
   */
  touch(key: BlockKey, hold: CoreHold | undefined, tag = 0): boolean {
    this.#collecting?.touched.add(key)
    return hold === undefined || hold.keys.add(key, tag)
  }

  /** Whether an operation that is under way, and is no reader, counts on a block by itself. */
  isHeld(key: BlockKey): boolean {
    for (const hold of this.#open) if (!hold.isReader && tags.some((tag) => hold.keys.has(key, tag))) return true
    return false
  }

  /** Whether a block is on its way out: then look for it once it is gone. */
  isRemoving(key: BlockKey): boolean {
    return this.#removing.has(key)
  }

  /**
   * Begins a collection: from now on what is touched is safe. The pins must be read after this.
   * Returns the roots of holds, to be marked with what is missing left out.
   */
  begin(sparesReaders: boolean): readonly CID[] {
    assert(this.#collecting === undefined, 'one collection at a time')
    this.#begun += 1
    const holds = new Set([...this.#open].filter((hold) => sparesReaders || !hold.isReader))
    this.#collecting = { marked: new KeySet(this.#random), touched: new KeySet(this.#random), holds }
    return [...holds].flatMap((hold) => hold.roots)
  }

  /** Marks a block as reachable. Returns true the first time, for each codec that gives it links: then its links are to be marked too. */
  mark(key: BlockKey, tag: number): boolean {
    return this.#now().marked.add(key, tag)
  }

  /** Whether a block may go; if so, it is being removed from this moment until `removed`. All marks must be made by now. */
  startRemoval(key: BlockKey): boolean {
    const { marked, touched, holds } = this.#now()
    if (this.#removing.has(key) || touched.has(key)) return false
    if (tags.some((tag) => marked.has(key, tag))) return false
    for (const { keys } of holds) if (tags.some((tag) => keys.has(key, tag))) return false
    this.#removing.add(key)
    return true
  }

  /** The block is gone, or could not be removed. */
  removed(key: BlockKey): void {
    this.#removing.delete(key)
  }

  /** Ends the collection, whether it went through or was given up. Nothing may be on its way out. */
  end(): void {
    assert(this.#removing.size === 0, 'removals end before their collection')
    this.#collecting = undefined
  }

  /** Bytes that the marks of the collection under way take. */
  get markBytes(): number {
    return this.#collecting === undefined ? 0 : this.#collecting.marked.bytes + this.#collecting.touched.bytes
  }

  #now(): Collecting {
    assert(this.#collecting !== undefined, 'a collection is under way')
    return this.#collecting
  }
}
