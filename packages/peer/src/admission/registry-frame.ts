import { isObject, MalformedError } from '@shardswap/interface'
import { fromText, toText } from './envelope.ts'

/** What is said on one stream of the registry's protocol, by who opened it. Everything may be left out. */
export interface RegistryFrame {
  /** Envelopes of bindings and revocations, of anybody. */
  readonly records?: readonly Uint8Array[]
  /** The key under which the sender makes its requests on this connection from now on. */
  readonly client?: string
  /** The text of a delegation from that key to the sender; not needed where the key is its identity. */
  readonly delegation?: string
  /** For how many milliseconds the sender will refuse requests. */
  readonly busyMs?: number
}

/** What is answered. */
export interface RegistryAnswer {
  /** The owner for whom the asker counts here now; null for nobody. */
  readonly owner: string | null
}

export function encodeRegistryFrame({ records, ...said }: RegistryFrame): Uint8Array {
  return jsonBytes({ ...said, ...(records === undefined ? {} : { records: records.map(toText) }) })
}

/** Errors: MalformedError for anything that is no such frame. */
export function decodeRegistryFrame(bytes: Uint8Array, limits: { readonly frameRecordsMax: number }): RegistryFrame {
  const { records, client, delegation, busyMs } = objectIn<RegistryFrame>(bytes)
  if (records !== undefined && (!Array.isArray(records) || records.length > limits.frameRecordsMax)) {
    throw new MalformedError(`"records" is no list of at most ${limits.frameRecordsMax}`)
  }
  const texts: readonly unknown[] = records ?? []
  if (!isTextOrNone(client) || !isTextOrNone(delegation)) throw new MalformedError('"client" or "delegation" is no text')
  if (busyMs !== undefined && (typeof busyMs !== 'number' || !Number.isFinite(busyMs) || busyMs < 0)) {
    throw new MalformedError('"busyMs" is no time')
  }
  return {
    ...(records === undefined ? {} : { records: texts.map(envelopeIn) }),
    ...(client === undefined ? {} : { client }),
    ...(delegation === undefined ? {} : { delegation }),
    ...(busyMs === undefined ? {} : { busyMs })
  }
}

export function encodeRegistryAnswer(answer: RegistryAnswer): Uint8Array {
  return jsonBytes(answer)
}

/** Errors: MalformedError for anything that is no such answer. */
export function decodeRegistryAnswer(bytes: Uint8Array): RegistryAnswer {
  const { owner } = objectIn<RegistryAnswer>(bytes)
  if (owner !== null && typeof owner !== 'string') throw new MalformedError('"owner" is neither a text nor null')
  return { owner }
}

function jsonBytes(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value))
}

function objectIn<T>(bytes: Uint8Array): Partial<Record<keyof T, unknown>> {
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown
    if (isObject<T>(value)) return value
  } catch (cause) {
    throw new MalformedError('it is no JSON', { cause })
  }
  throw new MalformedError('it is no object')
}

function envelopeIn(text: unknown): Uint8Array {
  if (typeof text !== 'string') throw new MalformedError('a record is no text')
  return fromText(text)
}

function isTextOrNone(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string'
}
