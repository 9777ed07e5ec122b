import type { Fetched, Offer, Work } from '../work.ts'

/** A peer in a process of its own that takes part in a bench. Everything travels over IPC. */
export interface Actor {
  /** Multiaddrs with the peer's id. */
  addresses(): Promise<string[]>
  connect(address: string): Promise<void>
  /** Makes the work's blocks and offers them. Not timed. */
  provide(work: Work): Promise<Offer>
  /** Fetches all of it, from whomever it is connected to; the clock runs in this process. */
  fetch(work: Work, offer: Offer): Promise<Fetched>
  /** Collects garbage and gives the resident set in bytes; peaks are counted from here on. */
  idleBytes(): Promise<number>
  /** The largest resident set since `idleBytes`, in bytes. */
  peakBytes(): Promise<number>
  /** Seconds of processor time that this process has used, in all its threads. */
  cpuSeconds(): Promise<number>
  /** Writes a CPU profile of what follows into a folder when `stopProfile` is called. */
  startProfile(): Promise<void>
  stopProfile(path: string): Promise<void>
}

/** Our cores without a network, in a process of their own. */
export interface Decider extends Pick<Actor, 'startProfile' | 'stopProfile'> {
  /** Seconds of the decisions alone; of the broker also of a want's whole way: added, matched, delivered. */
  decide(
    core: 'session' | 'broker',
    peers: number,
    decisions: number
  ): Promise<{ readonly seconds: number; readonly wholeSeconds?: number }>
}
