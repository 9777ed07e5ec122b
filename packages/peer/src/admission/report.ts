import type { PeerKey } from '@shardswap/interface'
import type { AdmissionRecords } from './records.ts'
import type { ShownKeys } from './shown-keys.ts'
import type { AdmissionReport, AdmittedPeer, RegistryRefusal } from './types.ts'

/** What a node that runs knows beside what it keeps. */
export interface RunningParts {
  readonly refused: ReadonlyMap<RegistryRefusal, number>
  readonly speakers: number
  readonly frames: number
  readonly reading: number
  /** Who is connected. */
  readonly peers: readonly PeerKey[]
  readonly shown: Pick<ShownKeys, 'of'>
}

/** All that people may want to see of admission. */
export function admissionReport({ book, own }: AdmissionRecords, running?: RunningParts): AdmissionReport {
  const { admission, registry } = book
  const nowMs = book.nowMs()
  const admitted = (peer: PeerKey): AdmittedPeer => {
    const { client, owner } = running?.shown.of(peer) ?? {}
    return {
      peer,
      ...(client === undefined ? {} : { client }),
      ...(owner === undefined ? {} : { owner }),
      decision: admission.judge(peer, nowMs)
    }
  }
  return {
    ...admission.view(nowMs),
    decisions: Object.fromEntries(admission.counts()),
    registry: {
      records: registry.recordsKept,
      servers: registry.size,
      outcomes: Object.fromEntries(registry.outcomes()),
      refused: Object.fromEntries(running?.refused ?? []),
      speakers: running?.speakers ?? 0,
      frames: running?.frames ?? 0,
      reading: running?.reading ?? 0
    },
    own: own.stat(),
    peers: (running?.peers ?? []).map(admitted)
  }
}
