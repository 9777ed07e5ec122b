import { describe } from 'vitest'
import { kuboAvailable, kuboBuildMs } from '../src/build-kubo.ts'
import { startKuboPair } from '../src/kubo-pair.ts'
import { testModes } from '../src/modes.ts'

describe.runIf(kuboAvailable(import.meta.filename))('with Kubo', () => {
  testModes({
    fetches: 'Kubo',
    startMs: kuboBuildMs,
    start: async (admission) => {
      const pair = await startKuboPair(admission)
      return { ours: pair.ours, client: pair.kubo, stop: async () => await pair.stop() }
    }
  })
})
