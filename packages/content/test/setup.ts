import { createCipheriv, createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { AbortError, type AbortOptions, type BlockSink, type BlockSource, blockKey, CID, NotFoundError } from '@shardswap/interface'
import { importCar } from '../src/index.ts'

const fixtures = new URL('../../../test/fixtures/', import.meta.url)

/** Blocks in memory, by multihash; counts what is asked of it. */
export class MemoryBlocks implements BlockSource, BlockSink {
  readonly blocks = new Map<string, Uint8Array>()
  readonly asked: CID[] = []

  async get(cid: CID, options?: AbortOptions): Promise<Uint8Array> {
    options?.signal?.throwIfAborted()
    this.asked.push(cid)
    const bytes = this.blocks.get(blockKey(cid))
    if (bytes === undefined) throw new NotFoundError(`${cid.toString()} is not here`)
    return bytes
  }

  async put(cid: CID, bytes: Uint8Array): Promise<void> {
    this.blocks.set(blockKey(cid), bytes)
  }

  has(cid: CID): boolean {
    return this.blocks.has(blockKey(cid))
  }
}

export function fixture(name: string): Uint8Array {
  return readFileSync(new URL(name, fixtures))
}

export interface FixtureLine {
  readonly car: string
  readonly root: string
  readonly path: string
  readonly bytes: string
  readonly sha256: string
  readonly note: string
}

export function fixtureLines(): FixtureLine[] {
  const [, ...lines] = readFileSync(new URL('index.tsv', fixtures), 'utf8').trimEnd().split('\n')
  return lines.map((line) => {
    const [car = '', root = '', path = '', bytes = '', sha256 = '', note = ''] = line.split('\t')
    return { car, root, path, bytes, sha256, note }
  })
}

export async function loadCar(name: string): Promise<MemoryBlocks> {
  const blocks = new MemoryBlocks()
  await importCar([fixture(name)], blocks)
  return blocks
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

export async function bytesOf(parts: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  return Buffer.concat(await collect(parts))
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** What a promise is rejected with. */
export async function errorOf(run: Promise<unknown>): Promise<Error & { code?: string }> {
  try {
    await run
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

/** The key stream of AES-128 in counter mode under a key of zeros. */
export function keyStream(bytes: number): Uint8Array {
  const zeros = new Uint8Array(16)
  return createCipheriv('aes-128-ctr', zeros, zeros).update(new Uint8Array(bytes))
}

/**
 * A source that answers in rounds: everything that was asked for while it was
 * idle arrives together. So a round stands for a round trip, without a clock.
 */
export class RoundSource implements BlockSource {
  readonly #source: BlockSource
  #waiting: (() => void)[] = []
  rounds = 0
  gets = 0
  bytes = 0
  inFlight = 0
  inFlightMax = 0
  aborted = 0

  constructor(source: BlockSource) {
    this.#source = source
  }

  async get(cid: CID, options?: AbortOptions): Promise<Uint8Array> {
    this.gets++
    this.inFlight++
    this.inFlightMax = Math.max(this.inFlightMax, this.inFlight)
    if (this.#waiting.length === 0) setTimeout(() => this.#answer(), 1)
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve)
    })
    this.inFlight--
    if (options?.signal?.aborted === true) {
      this.aborted++
      throw new AbortError()
    }
    const bytes = await this.#source.get(cid)
    this.bytes += bytes.byteLength
    return bytes
  }

  #answer(): void {
    this.rounds++
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }

  /** Resolves once nothing is asked for any more. */
  async idle(): Promise<void> {
    while (this.inFlight > 0) await new Promise((resolve) => setTimeout(resolve, 2))
    await new Promise((resolve) => setImmediate(resolve))
    if (this.inFlight > 0) await this.idle()
  }
}
