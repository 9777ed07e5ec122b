/** Packages as a browser gets them: in one file, for the platform `browser`, with nothing put in for Node's own modules. */
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type BuildFailure, type Message } from 'esbuild'

/** Packages in one file, their dependencies in it. */
export interface Bundle {
  readonly code: string
  readonly bytes: number
  readonly gzipBytes: number
  /** Packages of others that are in it. */
  readonly others: readonly string[]
}

/** Something in a bundle does not exist in a browser. */
export class BundleError extends Error {
  override readonly name = 'BundleError'

  constructor(messages: readonly Message[], cause: unknown) {
    super(messages.map(({ text, location }) => `${location?.file ?? '?'}:${location?.line ?? 0} ${text}`).join('\n'), { cause })
  }
}

function packageOf(path: string): string | undefined {
  return /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]
}

/**
 * Bundles what the text of a module asks for, resolved from this folder. `global`: as a script that sets a global of
 * this name to what the module exports; else as a module. Errors: BundleError.
 */
export async function bundle(text: string, global?: string): Promise<Bundle> {
  try {
    const { outputFiles, metafile } = await build({
      stdin: { contents: text, resolveDir: import.meta.dirname, loader: 'ts' },
      platform: 'browser',
      ...(global === undefined ? { format: 'esm' as const } : { format: 'iife' as const, globalName: global }),
      target: 'es2024',
      bundle: true,
      minify: true,
      write: false,
      metafile: true,
      logLevel: 'silent',
      absWorkingDir: join(import.meta.dirname, '../../..')
    })
    const code = outputFiles[0]?.text ?? ''
    const others = new Set(Object.keys(metafile.inputs).flatMap((path) => packageOf(path) ?? []))
    return { code, bytes: Buffer.byteLength(code), gzipBytes: gzipSync(code, { level: 9 }).byteLength, others: [...others].toSorted() }
  } catch (error) {
    throw new BundleError((error as Partial<BuildFailure>).errors ?? [], error)
  }
}
