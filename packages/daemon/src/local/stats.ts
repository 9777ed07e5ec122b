import type { Bandwidth, NodeStats } from '../api/stats.ts'
import { OfflineError } from '../errors.ts'

/** The stats of a node that ends with its command: it counts nothing. */
export const noStats: NodeStats = {
  bandwidth: async (): Promise<Bandwidth> => {
    throw new OfflineError('only a daemon counts what goes over the network: start "shardswap daemon" first')
  }
}
