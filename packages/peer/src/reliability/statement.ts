import { MalformedError } from '@shardswap/interface'
import type { PeerId, PrivateKey, Record as SignedRecord } from '@libp2p/interface'
import { RecordEnvelope } from '@libp2p/peer-record'
import type { PeerScore, ScoreReceipt, ScoreStatement } from './types.ts'

/** What the signature is made for: nothing signed for another purpose passes for a statement. */
const domain = 'shardswap-scores'
const payloadType = new TextEncoder().encode('/shardswap/score-statement/1')

/** Signs a statement: a libp2p envelope with our public key, JSON and the signature. */
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
 * Reads a signed statement, whoever hands it on, and checks that the peer that it names has signed it.
 * Errors: MalformedError where it is none, is signed by somebody else, or was changed since.
 */
export async function readStatement(signed: Uint8Array, options: { readonly by?: PeerId; readonly about?: PeerId } = {}): Promise<ScoreStatement> {
  const { envelope, signer } = await certified(signed)
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(envelope.payload))
  } catch (cause) {
    throw new MalformedError('the statement is no JSON', { cause })
  }
  const statement = statementOf(value)
  if (statement.by !== signer) throw new MalformedError(`the statement names ${statement.by}, and ${signer} has signed it`)
  if (options.by !== undefined && statement.by !== options.by.toString()) throw new MalformedError(`the statement is by ${statement.by}`)
  if (options.about !== undefined && statement.about !== options.about.toString()) {
    throw new MalformedError(`the statement is about ${statement.about}`)
  }
  return statement
}
