import type { AdmissionReport, AdmissionSettings, OwnerView, RegisterOptions } from '@shardswap/peer'
import type { RepoConfig } from '@shardswap/repo'
import { privateKeyOf } from '../keys.ts'
import { admittedPeersShownMax, ownersShownMax } from '../limits.ts'
import type { NodeAdmission, NodeRegisterOptions } from '../node.ts'

/** What the config of a repo says of serving. */
export function admissionSettings({ serve: { mode, cap, freeScore, tests } }: Pick<RepoConfig, 'serve'>): AdmissionSettings {
  return { mode, tests, limits: { openRequestsMax: cap, freeScoreRequests: freeScore } }
}

/** Keys out of their bytes. Errors: InvalidParametersError. */
export function registerOptions({ ownerKey, clientKey, serverClaim, lifetimeMs }: NodeRegisterOptions): RegisterOptions {
  return {
    ...(ownerKey === undefined ? {} : { ownerKey: privateKeyOf(ownerKey) }),
    ...(clientKey === undefined ? {} : { clientKey: privateKeyOf(clientKey) }),
    ...(serverClaim === undefined ? {} : { serverClaim }),
    ...(lifetimeMs === undefined ? {} : { lifetimeMs })
  }
}

/** As much of a report as fits into an answer: owners of whom something is here first, then those with the greatest scores. */
export function nodeAdmission(report: AdmissionReport, isRunning: boolean): NodeAdmission {
  const owners = report.owners.toSorted(moreFirst).slice(0, ownersShownMax)
  const peers = report.peers.slice(0, admittedPeersShownMax)
  return { isRunning, report: { ...report, owners, peers }, ownersKnown: report.owners.length, peersKnown: report.peers.length }
}

function moreFirst(one: OwnerView, other: OwnerView): number {
  return other.open - one.open || other.peers - one.peers || other.score - one.score
}
