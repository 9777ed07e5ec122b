import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection, Stream } from '@libp2p/interface'
import type { Peer } from '../../src/index.ts'
import { concat, hex, payload, presences } from '../wire/bytes.ts'
import type { Entry, Parsed } from '../wire/bytes.ts'
import { address, type TestBlock } from '../wire/cast.ts'
import { openStream, type RawPeer, write } from '../wire/raw.ts'

/** What a peer that means no good does with one want: framed messages. */
export type Misdeed = (entry: Entry, cid: string, known: ReadonlyMap<string, TestBlock>) => readonly Uint8Array[]

const have = (entry: Entry): Uint8Array => presences([{ cid: entry.cid, type: 0 }])
const not = (entry: Entry): Uint8Array => presences([{ cid: entry.cid, type: 1 }])
const blockOf = (cid: string, known: ReadonlyMap<string, TestBlock>): Uint8Array => payload([known.get(cid) as TestBlock])

/** By what they do; `delivers`: what is asked of them comes, so that nobody need cancel it. */
export const misdeeds: Record<string, { readonly act: Misdeed; readonly delivers: boolean }> = {
  'says HAVE and sends nothing': { delivers: false, act: (entry) => [have(entry)] },
  'says DONT_HAVE, many times over': { delivers: false, act: (entry) => Array.from({ length: 50 }, () => not(entry)) },
  'says HAVE, then DONT_HAVE': { delivers: false, act: (entry) => [entry.have ? have(entry) : not(entry)] },
  'says both at once, all the time': { delivers: false, act: (entry) => [concat(have(entry), not(entry), have(entry), not(entry))] },
  'sends each block three times': {
    delivers: true,
    act: (entry, cid, known) => (entry.have ? [have(entry)] : Array.from({ length: 3 }, () => blockOf(cid, known)))
  },
  'sends the block for a want-have': { delivers: true, act: (_, cid, known) => [blockOf(cid, known)] },
  'sends half a block and goes on with the next': {
    delivers: false,
    act: (entry, cid, known) => {
      if (entry.have) return [have(entry)]
      const whole = blockOf(cid, known)
      return [whole.subarray(0, whole.length >> 1)]
    }
  }
}

/** Lets `raw` do it on one stream after another: one that is reset is followed by the next. */
export async function misbehave(
  raw: RawPeer,
  ours: Peer,
  known: ReadonlyMap<string, TestBlock>,
  misdeed: Misdeed,
  delayMs = 0
): Promise<Connection> {
  const connection = await raw.dial(address(ours))
  let stream: Stream | undefined
  let last: Promise<void> = Promise.resolve()
  raw.onMessage = ({ entries }) => {
    const frames = entries.filter((entry) => !entry.cancel).flatMap((entry) => misdeed(entry, hex(entry.cid), known))
    if (frames.length === 0) return
    last = last
      .then(async () => {
        if (delayMs > 0) await sleep(delayMs)
        if (stream?.status !== 'open') stream = await openStream(raw.connections[0] as Connection)
        await write(stream, concat(...frames))
      })
      .catch(() => {})
  }
  return connection
}

/** What a remote knows of our wants, from the messages that it got. */
export class Ledger {
  /** Wants told again although they stood: a want-block for a want-have is none. */
  readonly repeated: string[] = []
  readonly #wants = new Map<string, 'block' | 'have'>()

  constructor(inbox: readonly Parsed[]) {
    for (const message of inbox) this.#take(message)
  }

  get wantBlocks(): number {
    let count = 0
    for (const type of this.#wants.values()) if (type === 'block') count += 1
    return count
  }

  #take({ entries, full }: Parsed): void {
    if (full) this.#wants.clear()
    for (const entry of entries) {
      const cid = hex(entry.cid)
      const type = entry.have === true ? 'have' : 'block'
      if (entry.cancel) this.#wants.delete(cid)
      else if (type === 'block' && this.#wants.get(cid) === 'block') this.repeated.push(cid)
      else this.#wants.set(cid, type)
    }
  }
}
