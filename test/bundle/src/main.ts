/** `pnpm bundle`: how large the cores are in a browser. */
import { allCores, coreBundle, cores, gzipBytesMax, togetherGzipBytesMax } from './bounds.ts'

const rows = await Promise.all(cores.map(async (core) => [core, await coreBundle(core), gzipBytesMax[core]] as const))
for (const [name, { bytes, gzipBytes, others }, max] of [...rows, ['together', await allCores(), togetherGzipBytesMax] as const]) {
  const share = `gzipped ${gzipBytes} of ${max}`
  console.log(`${name.padEnd(12)} ${String(bytes).padStart(7)} bytes, ${share.padEnd(24)} with ${others.join(', ')}`)
}
