/** Starts a Kubo, says where it is, and waits to be killed: its keeper must then take everything away. */
import { startKubo } from './kubo.ts'

const kubo = await startKubo()
process.send?.({ addresses: await kubo.addresses(), folder: kubo.folder })
// The channel to the parent keeps this process alive.
process.on('message', () => undefined)
