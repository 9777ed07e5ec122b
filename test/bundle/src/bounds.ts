import { bundle, type Bundle } from './bundle.ts'

/** The largest that a core may be as a browser loads it, with its dependencies, minified and gzipped: a tenth above what it was, or less. */
export const gzipBytesMax = {
  session: 10_000,
  broker: 11_000,
  reliability: 14_700,
  protocol: 17_200
} as const

/** A core whose size is bounded. */
export type Core = keyof typeof gzipBytesMax

/** All of them. */
export const cores = Object.keys(gzipBytesMax) as readonly Core[]

/** All of them in one file. */
export const togetherGzipBytesMax = 51_000

/** The whole of one core, as a browser gets it. */
export async function coreBundle(core: Core): Promise<Bundle> {
  return await bundle(`export * from '@shardswap/${core}'`)
}

/** All cores in one file, each under its name. */
export async function allCores(): Promise<Bundle> {
  return await bundle(cores.map((core) => `export * as ${core} from '@shardswap/${core}'`).join('\n'))
}
