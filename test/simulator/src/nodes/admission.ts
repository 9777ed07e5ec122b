import { peerKey } from '@shardswap/interface'
import { ownerKey, verifyAdmissionLimits } from '@shardswap/server'
import { WatchedAdmission } from '../checkers/admitted.ts'
import type { AdmissionPlan } from '../scenario.ts'

/** What a serving node knows of owners when the run begins: who has registered which servers, and what came of their tests. */
export function admissionFor(plan: AdmissionPlan | undefined): WatchedAdmission {
  const admission = new WatchedAdmission({ mode: 'open', limits: verifyAdmissionLimits(plan?.limits), wallMs: 0, nowMs: 0 })
  for (const { owner, servers, received, lost } of plan?.owners ?? []) {
    for (let index = 0; index < servers; index++) {
      const server = peerKey(`${owner}-server-${index}`)
      admission.follow([{ type: 'server', server, owner: ownerKey(owner) }], 0)
      for (let test = 0; test < received + lost; test++) admission.tested(server, test < received, 0)
    }
  }
  return admission
}
