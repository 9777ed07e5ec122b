/** A relay in a process of its own, told what to do over IPC; see `startRelay`. */
import { serveCommands } from './child.ts'
import { Relay, type RelayApi } from './relay.ts'

const relay = new Relay()
const commands: RelayApi = {
  share: async (...args) => await relay.share(...args),
  open: async (...args) => await relay.open(...args),
  reshape: async (...args) => await relay.reshape(...args),
  stall: async (...args) => await relay.stall(...args),
  swallow: async (...args) => await relay.swallow(...args),
  cut: async (...args) => await relay.cut(...args),
  mend: async (...args) => await relay.mend(...args),
  stats: async (...args) => await relay.stats(...args),
  cpuSeconds: async () => await relay.cpuSeconds()
}

serveCommands(commands, async () => {
  await relay.stop()
})
