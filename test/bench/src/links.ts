/** The links between a downloader and its providers: a relay in a process of its own, with one link for each provider. */
import { setTimeout as sleep } from 'node:timers/promises'
import { startRelay, type OpenLink, type RelayProcess } from '@shardswap-test/cluster'

/** What the links do; providers are counted from 0. */
export interface LinkPlan {
  /** Each way, in milliseconds. */
  readonly delayMs: number
  /** What each provider's link carries towards the downloader, in millions of bytes a second; left out: all that the machine can. */
  readonly mbPerS?: readonly number[]
  /** This provider stops dead (SIGSTOP) once half of the content has passed. */
  readonly frozen?: number
}

/** A provider's process that can be stopped dead. */
export interface Freezable {
  freeze(): Promise<void> | void
  thaw(): Promise<void> | void
}

/** How often it is looked whether half has passed, in milliseconds. */
const lookMs = 20

export class Links {
  /** What to dial instead of the providers' addresses, in their order. */
  readonly addresses: readonly string[]
  readonly #plan: LinkPlan
  readonly #relay: RelayProcess
  readonly #ids: readonly number[]
  #bytesAtFreeze: number | undefined

  constructor(plan: LinkPlan, relay: RelayProcess, links: readonly OpenLink[]) {
    this.#plan = plan
    this.#relay = relay
    this.#ids = links.map(({ id }) => id)
    this.addresses = links.map(({ address }) => address)
  }

  async #passedBytes(): Promise<number> {
    const stats = await Promise.all(this.#ids.map(async (id) => await this.#relay.stats(id)))
    return stats.reduce((sum, { fromTarget }) => sum + fromTarget.outBytes, 0)
  }

  /** Runs a transfer of `bytes` bytes of content; freezes whom the plan says, and lets it go on afterwards. */
  async during<T>(bytes: number, providers: readonly Freezable[], run: () => Promise<T>): Promise<T> {
    const victim = this.#plan.frozen === undefined ? undefined : providers[this.#plan.frozen]
    if (victim === undefined) return await run()
    const ended = new AbortController()
    const freezeAtHalf = async (): Promise<void> => {
      const before = await this.#passedBytes()
      while (!ended.signal.aborted) {
        const passed = (await this.#passedBytes()) - before
        if (passed >= bytes / 2) {
          await victim.freeze()
          this.#bytesAtFreeze = passed
          return
        }
        await sleep(lookMs)
      }
    }
    const freezing = freezeAtHalf()
    // Where the relay is lost this fails before the transfer does, and must be heard all the same.
    freezing.catch(() => undefined)
    try {
      return await run()
    } finally {
      ended.abort()
      await freezing
      if (this.#bytesAtFreeze !== undefined) await victim.thaw()
    }
  }

  /** What all links can carry of `bytes` bytes, in millions of bytes a second: with one of them fewer after it froze. */
  #offeredMbPerS(bytes: number): number | undefined {
    const { mbPerS, frozen } = this.#plan
    if (mbPerS === undefined) return undefined
    const all = mbPerS.reduce((sum, rate) => sum + rate, 0)
    if (frozen === undefined || this.#bytesAtFreeze === undefined) return all
    const before = Math.min(bytes, this.#bytesAtFreeze)
    return bytes / (before / all + (bytes - before) / (all - (mbPerS[frozen] ?? 0)))
  }

  /**
   * Figures of a transfer of `bytes` bytes at `mbPerS`: what passed the links per byte of content, and
   * `linkShare`, the part of what the links could carry that was used.
   * Errors: Error where less than the content passed, so that some of it went another way.
   */
  async sample(bytes: number, mbPerS: number): Promise<Record<string, number>> {
    const passed = await this.#passedBytes()
    if (passed < bytes) throw new Error(`only ${passed} of ${bytes} bytes went through the relay: a peer was reached past it`)
    const offered = this.#offeredMbPerS(bytes)
    return {
      relayedShare: passed / bytes,
      relayCpuS: await this.#relay.cpuSeconds(),
      ...(offered === undefined ? {} : { linkShare: mbPerS / offered })
    }
  }

  /** The relay ended although nobody stopped it. */
  get lost(): Promise<Error> {
    return this.#relay.lost
  }

  async stop(): Promise<void> {
    await this.#relay.stop()
  }
}

/** Starts a relay with a link to each of these addresses. */
export async function openLinks(plan: LinkPlan, targets: readonly string[]): Promise<Links> {
  const relay = await startRelay()
  const { delayMs, mbPerS } = plan
  try {
    const links: OpenLink[] = []
    for (const [index, target] of targets.entries()) {
      const rate = mbPerS?.[index]
      const fromTarget = { delayMs, ...(rate === undefined ? {} : { bytesPerS: rate * 1e6 }) }
      links.push(await relay.open({ target, toTarget: { delayMs }, fromTarget }))
    }
    return new Links(plan, relay, links)
  } catch (error) {
    await relay.stop()
    throw error
  }
}
