import { describe } from 'vitest'
import { kuboAvailable, kuboBuildMs } from '../src/build-kubo.ts'
import { startKuboPair } from '../src/kubo-pair.ts'
import { describeTransfers } from '../src/transfers.ts'

describe.runIf(kuboAvailable(import.meta.filename))('with Kubo', () => {
  describeTransfers({
    serves: 'Kubo',
    fetches: 'ours',
    readAll: true,
    startMs: kuboBuildMs,
    start: async () => {
      const { ours, kubo } = await startKuboPair()
      return { provider: kubo, fetcher: ours }
    }
  })
})
