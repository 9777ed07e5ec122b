import { MalformedError, messageOf, peerKey } from '@shardswap/interface'
import type { PeerId, PrivateKey, Record as SignedRecord } from '@libp2p/interface'
import { peerIdFromPublicKey } from '@libp2p/peer-id'
import { RecordEnvelope } from '@libp2p/peer-record'
import { statementOf } from './statement-shape.ts'
import type { LineSource, OwnReceipt, ScoreStatement } from './types.ts'

/** What the signature is made for: nothing that was signed for another purpose passes for a statement. */
const domain = 'shardswap-scores'
const payloadType = new TextEncoder().encode('/shardswap/score-statement/1')

/** Text of a statement without its receipts, in bytes at most; the rest of a frame is theirs. */
const headBytesMax = 4096

/** Whom a statement is by and about, and which part of it is asked for. */
export interface StatementInit {
  readonly by: PeerId
  readonly about: PeerId
  readonly period?: string | undefined
  /** The first receipt that is wanted, from 0. */
  readonly from?: number | undefined
  /** Milliseconds since 1970. */
  readonly atMs: number
  /** The statement's JSON takes no more. */
  readonly bytesMax: number
}

/** What a peer is told of itself: its line, and as many of its receipts as fit. */
export async function statementAbout(source: LineSource, init: StatementInit): Promise<ScoreStatement> {
  const { by, about, period, from = 0, atMs, bytesMax } = init
  const { score, account, receipts } = await source.line(peerKey(about), period)
  const fitting: OwnReceipt[] = []
  let left = bytesMax - headBytesMax
  for (let at = from; at < receipts.length; at++) {
    const receipt = receipts.at(at) as OwnReceipt
    // All of it is ASCII: a character is a byte. One more for the comma.
    left -= JSON.stringify(receipt).length + 1
    if (left < 0) break
    fitting.push(receipt)
  }
  return {
    by: by.toString(),
    about: about.toString(),
    atMs,
    score: score ?? null,
    account: account ?? null,
    receiptsInAll: receipts.length,
    receiptsCut: receipts.isCut,
    receiptsFrom: from,
    receipts: fitting
  }
}

/** Signs a statement: a libp2p envelope that holds our public key, the statement's JSON and the signature. */
export async function signStatement(statement: ScoreStatement, key: PrivateKey): Promise<Uint8Array> {
  const record: SignedRecord = {
    domain,
    codec: payloadType,
    marshal: () => new TextEncoder().encode(JSON.stringify(statement)),
    equals: (other) => other === record
  }
  return (await RecordEnvelope.seal(record, key)).marshal()
}

/**
 * Reads a signed statement, whoever hands it on, and checks that the peer that it is by has signed it. A caller
 * who knows whom it should be by or about says so.
 * Errors: MalformedError where it is no statement, was signed by somebody else, or was changed since.
 */
export async function readStatement(
  signed: Uint8Array,
  expected: { readonly by?: PeerId; readonly about?: PeerId } = {}
): Promise<ScoreStatement> {
  const { payload, signer } = await opened(signed)
  const statement = statementOf(payload)
  if (statement.by !== signer) throw new MalformedError(`the statement says that it is by ${statement.by}, and ${signer} has signed it`)
  for (const name of ['by', 'about'] as const) {
    const peer = expected[name]?.toString()
    if (peer !== undefined && statement[name] !== peer) throw new MalformedError(`the statement is ${name} ${statement[name]}, not ${peer}`)
  }
  return statement
}

async function opened(signed: Uint8Array): Promise<{ payload: unknown; signer: string }> {
  try {
    const envelope = await RecordEnvelope.openAndCertify(signed, domain)
    if (!isSame(envelope.payloadType, payloadType)) throw new MalformedError('the envelope holds something else')
    const payload = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(envelope.payload)) as unknown
    return { payload, signer: peerIdFromPublicKey(envelope.publicKey).toString() }
  } catch (cause) {
    const why = messageOf(cause)
    throw new MalformedError(`this is no signed statement: ${why}`, { cause })
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && a.every((byte, at) => byte === b[at])
}
