import type { AdmissionSettings } from '@shardswap/peer'
import { startChild } from '@shardswap-test/cluster/child'
import type { OurNode, RunningNode } from './node-api.ts'

export type RunningOurNode = OurNode & Pick<RunningNode, 'title' | 'stop'>

/** Our node in a process of its own, which admits so. */
export async function startOurs(admission: AdmissionSettings = {}): Promise<RunningOurNode> {
  return await startChild<OurNode>(new URL('./ours-process.ts', import.meta.url), 'ours', ['60000', JSON.stringify(admission)])
}
