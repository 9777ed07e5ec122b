/**
 * Walks a DAG in depth-first order and keeps block requests in flight ahead of
 * the consumer.
 *
 * The entries not yet consumed form a list in depth-first order. A cursor goes
 * along it and starts requests while the bytes asked for or held stay within a
 * window. When an inner node arrives, however far ahead, its children take
 * their places right behind it and the cursor goes back to the first of them:
 * so the earliest missing block is always the next one asked for. An inner node
 * whose children alone could fill the window counts as all of them until it is
 * here; the next such node is asked for once the cursor enters the children of
 * the one before, so that no border between subtrees costs a round trip.
 */
import { isIdentity } from '@shardswap/hashes'
import { asError, blockKey, type BlockKey, type BlockSource, type CID, type GetBlockOptions } from '@shardswap/interface'
import { TooDeepError } from '../errors.ts'
import * as limits from '../limits.ts'
import { identityBytes, throwIfAborted } from '../local.ts'
import { ByteBudget } from './budget.ts'

/** A node that is to be read. */
export interface Planned<C> {
  readonly cid: CID
  /** Bytes of the blocks from here down, as a parent states them; 0 where nothing tells. */
  readonly span: number
  readonly context: C
  /** Bytes that are here already; empty ones for what need not be read at all. */
  readonly bytes?: Uint8Array
}

/** A node that was read, and what `open` made of it. */
export interface Read<C, V> extends Planned<C> {
  readonly bytes: Uint8Array
  readonly value: V
  readonly depth: number
}

export interface ReadAheadOptions<C, V> extends GetBlockOptions {
  readonly source: BlockSource
  readonly roots: readonly Planned<C>[]
  /** Called once for each node as it arrives, perhaps long before it is consumed. */
  open(node: Planned<C>, bytes: Uint8Array): { value: V; children: readonly Planned<C>[] }
  /** Nodes that are left out with all below them. Asked before a request and again in order. */
  skip?(node: Planned<C>): boolean
  readonly readAheadBytesMax?: number | undefined
  /** In place of `readAheadBytesMax`, where several readers share one bound. */
  readonly budget?: ByteBudget | undefined
  readonly readAheadBlocksMax?: number | undefined
  readonly dagDepthMax?: number | undefined
}

interface Entry<C, V> {
  readonly planned: Planned<C>
  readonly parent: Entry<C, V> | undefined
  /** Its place among its parent's children. */
  readonly index: number
  readonly depth: number
  state: 'idle' | 'loading' | 'ready' | 'failed'
  charge: number
  bytes: Uint8Array | undefined
  value: V | undefined
  error: unknown
  /** For the first child of a wide parent: what stood behind the parent. */
  after: Entry<C, V> | undefined
  next: Entry<C, V> | undefined
}

function entryOf<C, V>(planned: Planned<C>, parent: Entry<C, V> | undefined, index: number, next: Entry<C, V> | undefined): Entry<C, V> {
  return {
    planned,
    parent,
    index,
    depth: parent === undefined ? 0 : parent.depth + 1,
    state: 'idle',
    charge: 0,
    bytes: undefined,
    value: undefined,
    error: undefined,
    after: undefined,
    next
  }
}

function isWide(planned: Planned<unknown>): boolean {
  return planned.span > limits.leafBytesMax
}

class Walk<C, V> {
  readonly #options: ReadAheadOptions<C, V>
  readonly #budget: ByteBudget
  readonly #blocksMax: number
  readonly #depthMax: number
  readonly #abort = new AbortController()
  /** Entries that wait for a block which is asked for, by its key: one request serves them all. */
  readonly #loads = new Map<BlockKey, Entry<C, V>[]>()
  readonly #getOptions: GetBlockOptions
  #head: Entry<C, V> | undefined
  #cursor: Entry<C, V> | undefined
  #inFlight = 0
  /** The least that a block is taken for, once one was larger than its parent said. */
  #floor = 0
  #filling = false
  #loadsOfTurn = 0
  /** Nodes that are known and not consumed yet. */
  #nodes = 0
  #turn: Promise<void> | undefined
  #wake: (() => void) | undefined

  constructor(options: ReadAheadOptions<C, V>) {
    this.#options = options
    this.#budget = options.budget ?? new ByteBudget(options.readAheadBytesMax ?? limits.readAheadBytesMax)
    this.#blocksMax = options.readAheadBlocksMax ?? limits.readAheadBlocksMax
    this.#depthMax = options.dagDepthMax ?? limits.dagDepthMax
    // The signal is ours: only one of the caller's makes the source wait without end, where it says nothing else.
    this.#getOptions = { signal: this.#abort.signal, patient: options.patient ?? options.signal !== undefined }
    this.#head = this.#insert(options.roots, undefined, undefined)
    this.#cursor = this.#head
    options.signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  readonly #onAbort = (): void => {
    this.#abort.abort(this.#options.signal?.reason)
    this.#wake?.()
  }

  /** The next node in order, or undefined after the last; a promise, where it is not here yet. Throws what stands in its place. */
  take(): Read<C, V> | undefined | Promise<Read<C, V> | undefined> {
    for (;;) {
      throwIfAborted(this.#options.signal)
      const head = this.#head
      if (head === undefined) return undefined
      if (this.#options.skip?.(head.planned) === true) {
        this.#dropSubtree(head)
        continue
      }
      if (head.state === 'idle') this.#startHead(head)
      this.#fill()
      if (head.state === 'failed') throw head.error
      return head.state === 'ready' ? this.#consume(head) : this.#takeLater()
    }
  }

  async #takeLater(): Promise<Read<C, V> | undefined> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#wake = undefined
    return await this.take()
  }

  close(): void {
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
    for (let entry = this.#head; entry !== undefined; entry = entry.next) this.#forget(entry)
    this.#head = undefined
    this.#cursor = undefined
    if (this.#inFlight > 0) this.#abort.abort()
  }

  #consume(head: Entry<C, V>): Read<C, V> {
    const { planned, bytes, value, depth } = head
    this.#remove(head)
    // Its children keep it as their parent: they must not keep its block too.
    head.bytes = undefined
    head.value = undefined
    this.#fill()
    return { ...planned, bytes: bytes as Uint8Array, value: value as V, depth }
  }

  #remove(head: Entry<C, V>): void {
    if (this.#cursor === head) this.#cursor = head.next
    this.#head = head.next
    head.next = undefined
    this.#nodes--
    this.#recharge(head, 0)
  }

  #dropSubtree(head: Entry<C, V>): void {
    const { depth } = head
    this.#remove(head)
    this.#forget(head)
    while (this.#head !== undefined && this.#head.depth > depth) {
      const below = this.#head
      this.#remove(below)
      this.#forget(below)
    }
  }

  /** A load that is still under way finds that nobody waits for it. */
  #forget(entry: Entry<C, V>): void {
    this.#recharge(entry, 0)
    if (entry.state === 'loading') entry.state = 'failed'
  }

  /** The consumer waits for this one: it starts whatever the window says. */
  #startHead(head: Entry<C, V>): void {
    if (this.#cursor === head) this.#cursor = head.next
    this.#start(head, this.#estimate(head.planned))
  }

  #fill(): void {
    if (this.#filling) return
    this.#filling = true
    while (this.#cursor !== undefined && this.#cursor.state !== 'failed') {
      const entry = this.#cursor
      this.#cursor = entry.next
      if (this.#pass(entry)) continue
      this.#cursor = entry
      break
    }
    this.#filling = false
  }

  /** Starts an entry if it needs it; false where there is no room for it now. */
  #pass(entry: Entry<C, V>): boolean {
    if (entry.state === 'idle') {
      if (this.#options.skip?.(entry.planned) === true) return true
      // Each block that is opened may name thousands more: only so many wait, however small they claim to be.
      if (this.#nodes >= limits.nodesAheadMax) return false
      if (this.#inFlight >= this.#blocksMax || !this.#fits(entry.planned)) return false
      this.#start(entry, this.#estimate(entry.planned))
    } else if (entry.state === 'loading') {
      // One that was asked for early counts in full once the cursor goes beyond it.
      this.#recharge(entry, this.#estimate(entry.planned))
    }
    return true
  }

  #fits(planned: Planned<C>): boolean {
    if (planned.bytes !== undefined || isWide(planned)) return !this.#budget.isFull()
    return this.#budget.fits(this.#estimate(planned))
  }

  #estimate(planned: Planned<C>): number {
    if (planned.bytes !== undefined) return planned.bytes.byteLength
    if (isWide(planned)) return planned.span
    return Math.max(planned.span === 0 ? limits.assumedBlockBytes : planned.span, this.#floor)
  }

  #recharge(entry: Entry<C, V>, charge: number): void {
    this.#budget.held += charge - entry.charge
    entry.charge = charge
  }

  #start(entry: Entry<C, V>, charge: number): void {
    this.#recharge(entry, charge)
    const { cid, bytes } = entry.planned
    if (bytes !== undefined) this.#arrive(entry, bytes)
    else if (isIdentity(cid)) this.#arriveIdentity(entry)
    else this.#request(entry)
    if (entry.after !== undefined) this.#startNextWide(entry.after)
  }

  #startNextWide(from: Entry<C, V>): void {
    let entry: Entry<C, V> | undefined = from
    for (let hops = 0; entry !== undefined && entry.state !== 'idle' && hops < 8; hops++) entry = entry.next
    if (
      entry === undefined ||
      entry.state !== 'idle' ||
      !isWide(entry.planned) ||
      this.#inFlight >= this.#blocksMax ||
      this.#nodes >= limits.nodesAheadMax
    )
      return
    if (this.#options.skip?.(entry.planned) !== true) this.#start(entry, limits.assumedInnerBytes)
  }

  #arriveIdentity(entry: Entry<C, V>): void {
    try {
      this.#arrive(entry, identityBytes(entry.planned.cid))
    } catch (error) {
      this.#fail(entry, error)
    }
  }

  #request(entry: Entry<C, V>): void {
    entry.state = 'loading'
    this.#inFlight++
    const { cid } = entry.planned
    const key = blockKey(cid)
    const sharing = this.#loads.get(key)
    if (sharing !== undefined) {
      sharing.push(entry)
      return
    }
    const entries = [entry]
    this.#loads.set(key, entries)
    this.#get(cid).then(
      (bytes) => {
        this.#endLoad(key, entries)
        for (const each of entries) if (each.state === 'loading') this.#arrive(each, bytes)
        this.#fill()
      },
      (error: unknown) => {
        this.#endLoad(key, entries)
        for (const each of entries) if (each.state === 'loading') this.#fail(each, error)
      }
    )
  }

  #endLoad(key: BlockKey, entries: readonly Entry<C, V>[]): void {
    this.#loads.delete(key)
    this.#inFlight -= entries.length
  }

  /** A source in memory answers within the turn, and each answer asks for more: only so many are asked for in one. */
  #get(cid: CID): Promise<Uint8Array> {
    this.#loadsOfTurn++
    return this.#loadsOfTurn > limits.nodesPerTurnMax ? this.#getLater(cid) : this.#getNow(cid)
  }

  async #getLater(cid: CID): Promise<Uint8Array> {
    await (this.#turn ??= this.#nextTurn())
    return await this.#getNow(cid)
  }

  #getNow(cid: CID): Promise<Uint8Array> {
    try {
      throwIfAborted(this.#abort.signal)
      // One that answers without a promise is none by its type, but costs nothing to bear with.
      return Promise.resolve(this.#options.source.get(cid, this.#getOptions))
    } catch (error) {
      return Promise.reject(asError(error))
    }
  }

  async #nextTurn(): Promise<void> {
    await eventLoopTurn()
    this.#loadsOfTurn = 0
    this.#turn = undefined
  }

  #arrive(entry: Entry<C, V>, bytes: Uint8Array): void {
    const estimate = isWide(entry.planned) ? bytes.byteLength : this.#estimate(entry.planned)
    if (bytes.byteLength > estimate) this.#floor = Math.min(bytes.byteLength, limits.leafBytesMax)
    this.#recharge(entry, bytes.byteLength)
    try {
      const { value, children } = this.#options.open(entry.planned, bytes)
      const first = children[0]
      if (first !== undefined && entry.depth >= this.#depthMax) throw new TooDeepError(first.cid, this.#depthMax)
      entry.bytes = bytes
      entry.value = value
      entry.state = 'ready'
      if (first !== undefined) this.#insertBehind(entry, children)
    } catch (error) {
      this.#fail(entry, error)
      return
    }
    if (entry === this.#head) this.#wake?.()
  }

  #fail(entry: Entry<C, V>, error: unknown): void {
    entry.state = 'failed'
    entry.error = error
    // The cursor stops here: what is behind it will not be consumed.
    if (entry === this.#head) this.#wake?.()
  }

  #insertBehind(entry: Entry<C, V>, children: readonly Planned<C>[]): void {
    const after = entry.next
    const first = this.#insert(children, entry, after)
    if (first === undefined) return
    if (isWide(entry.planned) && after !== undefined) first.after = after
    entry.next = first
    if (this.#cursor !== undefined && !isBefore(entry, this.#cursor)) return
    // All between these children and the cursor has been started, so the cursor
    // need not go back unless one of them must wait.
    for (let child: Entry<C, V> | undefined = first; child !== undefined && child !== after; child = child.next) {
      if (child.parent !== entry || this.#pass(child)) continue
      this.#cursor = child
      return
    }
  }

  #insert(planned: readonly Planned<C>[], parent: Entry<C, V> | undefined, after: Entry<C, V> | undefined): Entry<C, V> | undefined {
    this.#nodes += planned.length
    let next = after
    for (let i = planned.length - 1; i >= 0; i--) next = entryOf<C, V>(planned[i] as Planned<C>, parent, i, next)
    return next
  }
}

async function eventLoopTurn(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve))
}

/** Whether one entry comes before another in depth-first order, parents before children. */
function isBefore(a: Entry<unknown, unknown>, b: Entry<unknown, unknown>): boolean {
  let left = a
  let right = b
  while (left.depth > right.depth && left.parent !== undefined) left = left.parent
  if (left === right) return false
  while (right.depth > left.depth && right.parent !== undefined) right = right.parent
  if (left === right) return true
  while (left.parent !== right.parent && left.parent !== undefined && right.parent !== undefined) {
    left = left.parent
    right = right.parent
  }
  return left.index < right.index
}

/**
 * The nodes of a DAG in depth-first order, parents before children. What is in
 * flight is cancelled when the consumer stops. Errors come where their node
 * stands in the order: those of the source, those of `open`, TooDeepError.
 */
export function readAhead<C, V>(options: ReadAheadOptions<C, V>): AsyncGenerator<Read<C, V>, void, undefined> {
  return readAheadOf(options, (node) => node)
}

/** As `readAhead`, but gives what `part` makes of each node, where that is anything: one generator less between a file and its reader. */
export async function* readAheadOf<C, V, T>(
  options: ReadAheadOptions<C, V>,
  part: (node: Read<C, V>) => T | undefined
): AsyncGenerator<T, void, undefined> {
  const walk = new Walk<C, V>(options)
  try {
    for (let nodes = 1; ; nodes++) {
      const taken = walk.take()
      const node = taken instanceof Promise ? await taken : taken
      if (node === undefined) return
      // Where all blocks are in memory nothing else would let timers and sockets have their turn, an abort among them.
      if (nodes % limits.nodesPerTurnMax === 0) await eventLoopTurn()
      const given = part(node)
      if (given !== undefined) yield given
    }
  } finally {
    walk.close()
  }
}
