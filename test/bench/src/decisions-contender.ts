import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type ChildControl, startChild } from '@shardswap-test/cluster/child'
import type { Decider } from './actors/api.ts'
import { type Contender, withChildren } from './contenders.ts'

/** Our cores in a process of their own: `work.blocks` decisions among `providers` peers, or as many wants through the broker. */
export const decisionsContender: Contender = async ({ name, work, providers, core = 'session' }, { profileFolder }) =>
  await withChildren(async (keep) => {
    const url = new URL('./actors/decisions-process.ts', import.meta.url)
    const decider: Decider & ChildControl = await keep(startChild<Decider>(url, 'decider', []))
    const decisions = work.kind === 'blocks' ? work.blocks : 0
    if (profileFolder !== undefined) await decider.startProfile()
    const { seconds, wholeSeconds } = await decider.decide(core, providers, decisions)
    if (profileFolder !== undefined) {
      await mkdir(profileFolder, { recursive: true })
      await decider.stopProfile(join(profileFolder, `decisions-${name.replaceAll(/\W+/g, '-')}.cpuprofile`))
    }
    return {
      decisionsPerS: decisions / seconds,
      microsPerDecision: (seconds * 1e6) / decisions,
      ...(wholeSeconds === undefined ? {} : { microsPerWant: (wholeSeconds * 1e6) / decisions })
    }
  })
