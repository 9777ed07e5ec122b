import { generateKeyPair } from '@libp2p/crypto/keys'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { MalformedError, peerKey } from '@shardswap/interface'
import { type ClientKey, clientKey, mayUse, type OwnerKey } from '@shardswap/server'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { AdmissionBook } from '../../src/admission/book.ts'
import { decodeRegistryAnswer, decodeRegistryFrame, encodeRegistryFrame } from '../../src/admission/registry-frame.ts'
import { ShownKeys } from '../../src/admission/shown-keys.ts'
import { readRecord, signBinding, signRevocation } from '../../src/admission/signed-record.ts'
import { dayMs } from './cast.ts'

const limits = { frameRecordsMax: 32 }

it('[I16] a frame is read as it was written', () => {
  const record = fc.uint8Array({ minLength: 1, maxLength: 300 })
  const frame = fc.record(
    { records: fc.array(record, { maxLength: 32 }), client: fc.string(), delegation: fc.string(), busyMs: fc.nat() },
    { requiredKeys: [] }
  )
  fc.assert(
    fc.property(frame, (said) => {
      expect(decodeRegistryFrame(encodeRegistryFrame(said), limits)).toEqual(said)
    })
  )
})

it('[I16] whatever bytes come, they are refused as malformed or are a frame, an answer or a record', () => {
  const decoders = [(bytes: Uint8Array) => decodeRegistryFrame(bytes, limits), decodeRegistryAnswer, readRecord]
  const json = fc.jsonValue().map((value) => new TextEncoder().encode(JSON.stringify(value)))
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 400 }), json), fc.constantFrom(...decoders), (bytes, decode) => {
      expect(outcomeOf(() => decode(bytes))).toMatch(/^(object|ERR_MALFORMED)$/u)
    })
  )
})

function outcomeOf(decode: () => unknown): string {
  try {
    return typeof decode()
  } catch (error) {
    return error instanceof MalformedError ? error.code : String(error)
  }
}

const index = fc.nat({ max: 2 })
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('show' as const), peer: index, key: index, days: fc.integer({ min: 0, max: 4 }) })
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('bind' as const), key: index, owner: index, days: fc.integer({ min: 1, max: 6 }) })
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('revoke' as const), key: index, owner: index }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('leave' as const), peer: index }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 3 }) }) }
)

it('[I3][I16] for whom a peer counts follows from the key that it showed last, the registry and the time, whatever happened before', async () => {
  const keys = await Promise.all([0, 1, 2].map(async () => await generateKeyPair('Ed25519')))
  const owners = await Promise.all([0, 1, 2].map(async () => await generateKeyPair('Ed25519')))
  const clients = keys.map((key) => clientKey(peerIdFromPrivateKey(key)))
  const peers = ['a', 'b', 'c'].map((name) => peerKey(`peer ${name}`))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      let nowMs = 1000
      const book = new AdmissionBook({ settings: {}, isServing: true, nowMs: () => nowMs })
      const shown = new ShownKeys(book)
      const shows = new Map<number, { readonly client: ClientKey; readonly expiresMs: number }>()
      for (const [at, each] of steps.entries()) {
        const sequence = Math.round(book.wallMs()) + at
        if (each.type === 'show') {
          const [peer, client] = [peers[each.peer]!, clients[each.key]!]
          const expiresMs = book.wallMs() + each.days * dayMs
          if (shown.show(peer, client, { client, peer, expiresMs, text: String(at) })) shows.set(each.peer, { client, expiresMs })
          else shows.delete(each.peer)
        } else if (each.type === 'bind') {
          const owner = owners[each.owner]!
          const server = peerKey(peerIdFromPrivateKey(owner))
          const expiresMs = Math.round(book.wallMs() + each.days * dayMs)
          await book.take(await signBinding({ owner, client: keys[each.key]!, server, claim: undefined, expiresMs, sequence }))
        } else if (each.type === 'revoke') {
          const said = { client: clients[each.key]!, expiresMs: Math.round(book.wallMs() + 7 * dayMs), sequence }
          await book.take(await signRevocation(owners[each.owner]!, said))
        } else if (each.type === 'leave') {
          shown.gone(peers[each.peer]!)
          shows.delete(each.peer)
        } else {
          nowMs += each.days * dayMs
          book.expire()
          shown.sweep()
        }
        const counted = new Map<OwnerKey, number>()
        for (const [place, peer] of peers.entries()) {
          const said = shows.get(place)
          const isUsed = said !== undefined && mayUse(said.client, peer, { ...said, peer }, book.wallMs())
          const server = isUsed ? book.registry.serverOf(said.client, nowMs) : undefined
          const owner = server === undefined ? undefined : book.registry.ownerOf(server)
          expect(shown.of(peer)?.owner).toBe(owner)
          expect(book.admission.hasOwner(peer)).toBe(owner !== undefined)
          if (owner !== undefined) counted.set(owner, (counted.get(owner) ?? 0) + 1)
        }
        for (const { owner, peers: count } of book.admission.view(nowMs).owners) expect(count).toBe(counted.get(owner) ?? 0)
      }
      shown.clear()
      expect(book.admission.gauges()).toMatchObject({ open: 0, clients: 0, bound: 0, keys: 0 })
    }),
    { numRuns: 60 }
  )
}, 60_000)
