import type { ReliabilityCore } from '@shardswap/reliability'
import type { Conduct } from './conduct.ts'
import type { InFlight } from './copies.ts'
import type { Counters } from './counters.ts'
import type { Deadlines } from './deadlines.ts'
import type { BrokerLimits } from './limits.ts'
import type { Outbox } from './outbox.ts'

/** What asking and answers work on; the broker makes one of each. */
export interface Parts {
  readonly limits: BrokerLimits
  readonly total: Counters
  readonly inFlight: InFlight
  readonly deadlines: Deadlines
  readonly outbox: Outbox
  readonly reliability: ReliabilityCore
  readonly conduct: Conduct
}
