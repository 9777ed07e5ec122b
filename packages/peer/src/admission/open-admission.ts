import type { PrivateKey } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { ShardswapError } from '@shardswap/interface'
import type { Datastore } from 'interface-datastore'
import { nowMs } from '../clock.ts'
import { AdmissionRecords } from './records.ts'
import { admissionReport } from './report.ts'
import type { AdmissionSettings, StoredAdmission } from './types.ts'

/** What was registered, or taken back, could not be written where nothing runs in which it would hold: nothing was done. */
export class NotStoredError extends ShardswapError {
  static readonly code = 'ERR_NOT_STORED'
  override readonly name = 'NotStoredError'
  override readonly code = NotStoredError.code
}

/** Of which node, and with what limits. */
export interface OpenAdmissionInit {
  /** Of the node, which must not run. */
  readonly datastore: Datastore
  /** The node's identity. */
  readonly privateKey: PrivateKey
  /** Settings and limits as the node runs with. */
  readonly settings?: AdmissionSettings
  /** Told what cannot be used of what was kept. */
  readonly onWarning?: (message: string) => void
}

/**
 * What a node that does not run keeps of admission: to look at, and to register and revoke with. What is made is told to
 * others once the node runs. `close` writes it.
 * Errors: InvalidParametersError for settings that cannot be.
 */
export async function openAdmission({ datastore, privateKey, settings = {}, onWarning }: OpenAdmissionInit): Promise<StoredAdmission> {
  const self = peerIdFromPrivateKey(privateKey)
  const log = defaultLogger().forComponent('shardswap:admission')
  const records = await AdmissionRecords.open({ self, privateKey, settings, isServing: true, datastore, log, nowMs, onWarning })
  const { own } = records
  return {
    admission: () => admissionReport(records),
    serverClaim: async (owner, options) => await own.serverClaim(owner, options),
    delegate: async (to, options) => await own.delegate(to, options),
    useDelegation: async (delegation) => await own.useDelegation(delegation),
    register: async (options) => await own.register(options),
    unregister: async (options) => await own.unregister(options),
    close: async () => {
      if (!(await records.stop())) throw new NotStoredError('nothing was changed: it could not be written to the datastore')
    }
  }
}
