/** Our node and a Kubo that has it as a peering peer, its Bitswap settings untouched. */
import type { AdmissionSettings } from '@shardswap/peer'

import { startKubo, type KuboNode } from './kubo.ts'
import { startOurs, type RunningOurNode } from './start-ours.ts'

export interface KuboPair {
  readonly ours: RunningOurNode
  readonly kubo: KuboNode
  stop(): Promise<void>
}

/** Starts both; Kubo dials ours, and so does ours, so that neither waits for the other. */
export async function startKuboPair(admission: AdmissionSettings = {}): Promise<KuboPair> {
  const ours = await startOurs(admission)
  try {
    const kubo = await startKubo({ peering: await ours.addresses() })
    const stop = async (): Promise<void> => {
      await ours.stop()
      await kubo.stop()
    }
    const [address = ''] = await kubo.addresses()
    await ours.connect(address).catch(async (error: unknown) => {
      await stop()
      throw error
    })
    return { ours, kubo, stop }
  } catch (error) {
    await ours.stop()
    throw error
  }
}
