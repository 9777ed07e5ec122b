import { type BlockKey, blockKey, type CID } from '@shardswap/interface'
import type { Logger } from '@libp2p/interface'

export interface AnnouncementsPorts {
  /** Whether anybody waits for the block. */
  isWanted(cid: CID): boolean
  /** Whether it is in the store. */
  has(cid: CID): Promise<boolean>
  /** It is there: whoever waits is told. */
  notify(cid: CID): void
  readonly log: Logger
}

/** Blocks that are announced and not known to be there yet; above it the oldest is given up. */
const announcedBlocksMax = 4096
/** When an announced block is looked for, in milliseconds after the look before. */
const lookDelaysMs = [0, 10, 50, 250, 1000, 5000]
/** Looks at a block that nobody waits for: one who asks between the announcement and the store's word is still told. */
const unwantedLooks = 2

interface Announced {
  readonly cid: CID
  looks: number
  timer: NodeJS.Timeout | undefined
}

/**
 * Helia announces a block before it stores it. So the store is asked, a few times over, and those who wait for the block
 * hear of it once it is there; of most blocks nobody waits, and the store is not asked at all.
 */
export class Announcements {
  readonly #ports: AnnouncementsPorts
  readonly #announced = new Map<BlockKey, Announced>()

  constructor(ports: AnnouncementsPorts) {
    this.#ports = ports
  }

  /** Blocks that are still looked for. */
  get size(): number {
    return this.#announced.size
  }

  /** The block is in the store, or will be in a moment. */
  announce(cid: CID): void {
    const key = blockKey(cid)
    this.#forget(key)
    const announced: Announced = { cid, looks: 0, timer: undefined }
    this.#announced.set(key, announced)
    this.#lookLater(key, announced)
    const [oldest] = this.#announced.keys()
    if (this.#announced.size > announcedBlocksMax && oldest !== undefined) this.#forget(oldest)
  }

  stop(): void {
    for (const key of this.#announced.keys()) this.#forget(key)
  }

  #forget(key: BlockKey): void {
    clearTimeout(this.#announced.get(key)?.timer)
    this.#announced.delete(key)
  }

  #lookLater(key: BlockKey, announced: Announced): void {
    const delayMs = lookDelaysMs[announced.looks]
    if (delayMs === undefined) {
      this.#forget(key)
      return
    }
    announced.timer = setTimeout(() => void this.#look(key, announced), delayMs)
    announced.timer.unref()
  }

  /** Never rejects. */
  async #look(key: BlockKey, announced: Announced): Promise<void> {
    announced.looks += 1
    const isWanted = this.#ports.isWanted(announced.cid)
    if (!isWanted && announced.looks >= unwantedLooks) {
      this.#forget(key)
      return
    }
    const isHere = isWanted && (await this.#has(announced.cid))
    // It may have been announced anew, or everything have ended, while the store was asked.
    if (this.#announced.get(key) !== announced) return
    if (!isHere) {
      this.#lookLater(key, announced)
      return
    }
    this.#forget(key)
    this.#ports.notify(announced.cid)
  }

  async #has(cid: CID): Promise<boolean> {
    try {
      return await this.#ports.has(cid)
    } catch (error) {
      this.#ports.log.error('could not ask the store for %c, which was announced - %e', cid, error)
      return false
    }
  }
}
