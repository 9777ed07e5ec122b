import { InvalidParametersError, messageOf, type PeerKey, peerKey } from '@shardswap/interface'
import type { AccountReport, RewardShare } from '@shardswap/peer'
import { isPeerId } from './address.ts'

/** What people have staked for their peers, in whatever unit; only who has enough is paid (P11). */
export type Stakes = ReadonlyMap<PeerKey, number>

/**
 * Reads a table of stakes: a JSON object of PeerIds and amounts, or a PeerId and an amount a line, with empty lines and
 * comments after `#`. Errors: InvalidParametersError, which tells the line.
 */
export function parseStakes(text: string): Stakes {
  const body = text.replace(/^\uFEFF/, '')
  const rows = body.trimStart().startsWith('{') ? jsonRows(body) : lineRows(body)
  const stakes = new Map<PeerKey, number>()
  for (const { where, peer, amount } of rows) {
    if (!isPeerId(peer)) throw wrong(where, `${JSON.stringify(peer)} is no peer id`)
    if (typeof amount !== 'number' || !Number.isFinite(amount) || amount < 0) {
      throw wrong(where, `the stake of ${peer} is a number that is not below 0, not ${JSON.stringify(amount)}`)
    }
    const key = peerKey(peer)
    if (stakes.has(key)) throw wrong(where, `${peer} is there twice`)
    stakes.set(key, amount)
  }
  if (stakes.size === 0) throw new InvalidParametersError('there is no stake in it')
  return stakes
}

/** A period's rewards by its credits and these stakes (P13); without stakes everybody counts as staked. */
export async function rewardsOf(report: AccountReport, stakes?: Stakes, stakeMin?: number): Promise<readonly RewardShare[]> {
  // Loaded here, for the network's modules come with it.
  const { rewardShares } = await import('@shardswap/peer')
  return rewardShares(report.rows, stakes, stakeMin)
}

interface StakeRow {
  readonly where: string
  readonly peer: string
  readonly amount: unknown
}

function jsonRows(text: string): StakeRow[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new InvalidParametersError(`it begins as JSON and is none: ${messageOf(error)}`, {
      cause: error
    })
  }
  return Object.entries(value as object).map(([peer, amount]) => ({ where: 'its JSON', peer, amount: amount as unknown }))
}

function lineRows(text: string): StakeRow[] {
  return text.split('\n').flatMap((line, index) => {
    const words = line.replace(/#.*$/, '').trim()
    if (words === '') return []
    const where = `line ${index + 1}`
    const [peer = '', amount, ...others] = words.split(/[\s,;]+/)
    if (amount === undefined || others.length > 0) throw wrong(where, `a peer id and an amount are expected, not ${JSON.stringify(words)}`)
    return [{ where, peer, amount: /^\d+(\.\d+)?$/.test(amount) ? Number(amount) : amount }]
  })
}

function wrong(where: string, what: string): InvalidParametersError {
  return new InvalidParametersError(`${where}: ${what}`)
}
