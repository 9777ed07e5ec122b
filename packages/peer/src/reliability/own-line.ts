import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { PeerKey } from '@shardswap/interface'
import { hasTurn, type Receipt } from '@shardswap/reliability'
import { type AccountBook, accountReceipt } from './account-book.ts'
import type { ReceiptStore } from './receipts.ts'
import type { OwnAccount, OwnReceipt, OwnReceipts, OwnReceiptTurn } from './types.ts'

/** Of receipts in the datastore so many bytes are looked through for one answer, the newest: some 100,000 receipts of one turn or two. */
const searchedBytesMax = 4 * 1024 * 1024
/** What was found last is kept so long, for whoever asks for the rest of it. */
const foundForMs = 30_000
/** Searches that wait for their turn; more are refused. */
const receiptSearchesMax = 8
/** A search is followed by a pause of so many times its length: together they take a tenth of the time, whoever asks. */
const pausePerSearch = 9
/** Receipts looked at before others have a turn. */
const receiptsPerTurn = 256

export interface OwnLinePorts {
  readonly book: Pick<AccountBook, 'row'>
  readonly receipts: Pick<ReceiptStore, 'receipts'>
  readonly nowMs: () => number
}

interface Found {
  readonly peer: PeerKey
  readonly period: string
  readonly atMs: number
  readonly receipts: readonly Receipt[]
  readonly isCut: boolean
}

/** Peers' own rows and receipts. Looking for receipts costs time, and peers ask when they like: one search at a time, with pauses. */
export class OwnAccounts {
  readonly #ports: OwnLinePorts
  readonly #stopping = new AbortController()
  #last: Found | undefined
  #forget: NodeJS.Timeout | undefined
  #searches: Promise<unknown> = Promise.resolve()
  #waiting = 0
  /** How long the last search took. */
  #tookMs = 0

  constructor(ports: OwnLinePorts) {
    this.#ports = ports
  }

  /**
   * A peer's row in the account of a period, the present one where none is named, and its receipts that are still there.
   * Rejects where too many ask.
   */
  async of(peer: PeerKey, period?: string): Promise<{ readonly account: OwnAccount | undefined; readonly receipts: OwnReceipts }> {
    const found = this.#ports.book.row(peer, period)
    // Who was never asked for anything costs no search.
    if (found?.row === undefined) return { account: undefined, receipts: { length: 0, isCut: false, at: () => undefined } }
    const { attempted, successful, rewardable, primaryTurns, backupTurns, rescued } = found.row
    const { receipts, isCut } = await this.#find(peer, found.period)
    return {
      account: { period: found.period, attempted, successful, rewardable, primaryTurns, backupTurns, rescued },
      receipts: { length: receipts.length, isCut, at: (index) => ownReceipt(receipts[index], peer) }
    }
  }

  stop(): void {
    this.#stopping.abort(new Error('the peer was stopped'))
    clearTimeout(this.#forget)
    this.#last = undefined
  }

  async #find(peer: PeerKey, period: string): Promise<Found> {
    const known = this.#known(peer, period)
    if (known !== undefined) return known
    if (this.#waiting >= receiptSearchesMax) throw new Error('too many ask for their receipts')
    this.#waiting += 1
    const search = this.#searches.then(async () => this.#known(peer, period) ?? (await this.#search(peer, period)))
    this.#searches = search.then(
      async () => await this.#pause(),
      () => undefined
    )
    try {
      return await search
    } finally {
      this.#waiting -= 1
    }
  }

  #known(peer: PeerKey, period: string): Found | undefined {
    const last = this.#last
    const isIt = last?.peer === peer && last.period === period && this.#ports.nowMs() - last.atMs < foundForMs
    return isIt ? last : undefined
  }

  async #search(peer: PeerKey, period: string): Promise<Found> {
    const { nowMs, receipts, book } = this.#ports
    const sinceMs = nowMs()
    const found: Receipt[] = []
    let looked = 0
    const written = book.row(peer, period)?.receipts ?? 0
    for await (const receipt of receipts.receipts(period, searchedBytesMax)) {
      this.#stopping.signal.throwIfAborted()
      if (hasTurn(receipt, peer)) found.push(receipt)
      if (++looked % receiptsPerTurn === 0) await nextTurn()
    }
    const last: Found = { peer, period, atMs: nowMs(), receipts: found, isCut: looked < written }
    this.#last = last
    clearTimeout(this.#forget)
    this.#forget = setTimeout(() => (this.#last = undefined), foundForMs)
    this.#forget.unref()
    this.#tookMs = nowMs() - sinceMs
    return last
  }

  async #pause(): Promise<void> {
    const pauseMs = pausePerSearch * this.#tookMs
    this.#tookMs = 0
    await sleep(pauseMs, undefined, { signal: this.#stopping.signal, ref: false }).catch(() => undefined)
  }
}

/** A receipt as one of its peers may see it: others have numbers. */
function ownReceipt(receipt: Receipt | undefined, peer: PeerKey): OwnReceipt | undefined {
  if (receipt === undefined) return undefined
  const others: PeerKey[] = []
  const whoIs = (each: PeerKey): OwnReceiptTurn['who'] => {
    if (each === peer) return 'you'
    if (!others.includes(each)) others.push(each)
    return others.indexOf(each) + 1
  }
  const turns = receipt.turns.map(({ peer: each, role, outcome, rank }) => ({ who: whoIs(each), role, outcome, rank }))
  return { ...accountReceipt(receipt), turns }
}
