import { MalformedError, peerKey } from '@shardswap/interface'
import { countNames, type PeerCounts, type PeerScore, turnOutcomes } from '@shardswap/reliability'
import type { OwnAccount, OwnReceipt, OwnReceiptTurn, ScoreStatement } from './types.ts'

type Fields = Readonly<Record<string, unknown>>

/** What those who sign did not tell always. */
const later = { returnLeftMs: 0, badBlocks: 0 }
const roles = ['primary', 'backup'] as const
const rates = ['success24h', 'success30d', 'uptime24h', 'uptime30d', 'latencyP50Ms', 'latencyP95Ms'] as const
const counted = ['attempted', 'successful', 'rewardable', 'primaryTurns', 'backupTurns', 'rescued'] as const

/** A statement out of somebody else's JSON: every field is what its type says, and nothing else is kept. Errors: MalformedError. */
export function statementOf(value: unknown): ScoreStatement {
  const fields = objectAt(value, 'the statement')
  return {
    by: textAt(fields, 'by'),
    about: textAt(fields, 'about'),
    atMs: numberAt(fields, 'atMs'),
    score: fields['score'] === null ? null : scoreOf(fields['score']),
    account: fields['account'] === null ? null : accountOf(fields['account']),
    receiptsInAll: countAt(fields, 'receiptsInAll'),
    receiptsCut: flagAt(fields, 'receiptsCut'),
    receiptsFrom: countAt(fields, 'receiptsFrom'),
    receipts: listAt(fields, 'receipts').map(receiptOf)
  }
}

function scoreOf(value: unknown): PeerScore {
  const fields = objectAt(value, 'score')
  const counts = { ...later, ...objectAt(fields['counts'], 'counts') }
  const known = rates.filter((name) => fields[name] !== undefined).map((name) => [name, numberAt(fields, name)])
  return {
    peer: peerKey(textAt(fields, 'peer')),
    isConnected: flagAt(fields, 'isConnected'),
    isVetted: flagAt(fields, 'isVetted'),
    score: numberAt(fields, 'score'),
    share: numberAt(fields, 'share'),
    shutOutMs: numberAt(fields, 'shutOutMs'),
    returnLeftMs: numberAt({ ...later, ...fields }, 'returnLeftMs'),
    failChance: numberAt(fields, 'failChance'),
    inFlight: countAt(fields, 'inFlight'),
    success24h: undefined,
    success30d: undefined,
    uptime24h: undefined,
    uptime30d: undefined,
    latencyP50Ms: undefined,
    latencyP95Ms: undefined,
    ...(Object.fromEntries(known) as Partial<Record<(typeof rates)[number], number>>),
    counts: Object.fromEntries(countNames.map((name) => [name, countAt(counts, name)])) as Record<keyof PeerCounts, number>
  }
}

function accountOf(value: unknown): OwnAccount {
  const fields = objectAt(value, 'account')
  const counts = Object.fromEntries(counted.map((name) => [name, countAt(fields, name)])) as Record<(typeof counted)[number], number>
  return { period: textAt(fields, 'period'), ...counts }
}

function receiptOf(value: unknown): OwnReceipt {
  const fields = objectAt(value, 'a receipt')
  const turns = listAt(fields, 'turns').map(turnOf)
  const credited = fields['credited'] === null ? null : countAt(fields, 'credited')
  if (credited !== null && credited >= turns.length) throw new MalformedError('a receipt credits a turn that it does not have')
  return {
    multihash: textAt(fields, 'multihash'),
    closedMs: numberAt(fields, 'closedMs'),
    isContinued: flagAt(fields, 'isContinued'),
    turns,
    credited
  }
}

function turnOf(value: unknown): OwnReceiptTurn {
  const fields = objectAt(value, 'a turn')
  const who = fields['who'] === 'you' ? 'you' : countAt(fields, 'who')
  return { who, role: wordAt(fields, 'role', roles), outcome: wordAt(fields, 'outcome', turnOutcomes), rank: countAt(fields, 'rank') }
}

function objectAt(value: unknown, name: string): Fields {
  if (typeof value !== 'object' || value === null) throw new MalformedError(`${name} is no object`)
  return value as Fields
}

function listAt(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name]
  if (!Array.isArray(value)) throw new MalformedError(`"${name}" is no list`)
  return value
}

function textAt(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value !== 'string') throw new MalformedError(`"${name}" is no text`)
  return value
}

function flagAt(fields: Fields, name: string): boolean {
  const value = fields[name]
  if (typeof value !== 'boolean') throw new MalformedError(`"${name}" is neither true nor false`)
  return value
}

function numberAt(fields: Fields, name: string): number {
  const value = fields[name]
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new MalformedError(`"${name}" is no number`)
  return value
}

function countAt(fields: Fields, name: string): number {
  const value = numberAt(fields, name)
  if (!Number.isSafeInteger(value) || value < 0) throw new MalformedError(`"${name}" is no count`)
  return value
}

function wordAt<T extends string>(fields: Fields, name: string, words: readonly T[]): T {
  const word = words.find((each) => each === fields[name])
  if (word === undefined) throw new MalformedError(`"${name}" is none of ${words.join(', ')}`)
  return word
}
