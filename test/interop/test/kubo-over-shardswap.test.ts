import { describe } from 'vitest'
import { kuboAvailable, kuboBuildMs } from '../src/build-kubo.ts'
import { startKubo } from '../src/kubo.ts'
import { describeOverShardswap } from '../src/over-shardswap.ts'

describe.runIf(kuboAvailable(import.meta.filename))('with Kubo', () => {
  describeOverShardswap({ serves: 'Kubo', startMs: kuboBuildMs, start: async () => await startKubo() })
})
