import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/** A package that is published, as its manifest tells. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly bin?: Readonly<Record<string, string>>
}

/** A package and the tarball that was made of it. */
export interface Packed {
  readonly folder: string
  readonly manifest: Manifest
  readonly tarball: string
}

/** Compiler options of a careful consumer; `types` stays empty, so nothing of ours leaks in. */
const consumerOptions = {
  module: 'NodeNext',
  target: 'ES2024',
  lib: ['ES2024', 'ESNext.Disposable', 'DOM', 'DOM.AsyncIterable'],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  types: []
}

function run(title: string, file: string, args: string[], cwd: string): string {
  console.log(`check: ${title}`)
  const env = { ...process.env, NODE_OPTIONS: '' }
  return execFileSync(file, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

function install(packed: readonly Packed[], folder: string): void {
  const dependencies = Object.fromEntries(packed.map(({ manifest, tarball }) => [manifest.name, `file:${tarball}`]))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module', dependencies }))
  run('npm installs the tarballs', 'npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], folder)
}

function importAll(packed: readonly Packed[], folder: string): void {
  const names = packed.map(({ manifest }) => manifest.name)
  for (const name of names) {
    const code = `const m = await import(${JSON.stringify(name)}); if (Object.keys(m).length === 0) throw new Error('exports nothing')`
    run(`node imports ${name}`, process.execPath, ['--no-experimental-strip-types', '--input-type=module', '-e', code], folder)
  }
}

function typeCheck(packed: readonly Packed[], folder: string, root: string): void {
  const lines = packed.map(
    ({ manifest }, index) => `import * as m${index} from '${manifest.name}'\nexport type M${index} = typeof m${index}`
  )
  writeFileSync(join(folder, 'consumer.ts'), lines.join('\n'))
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: consumerOptions, files: ['consumer.ts'] }))
  run('a consumer type-checks', process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], folder)
}

// The demo starts processes of files inside the package, which only a packed one shows to be there.
function runDemo(folder: string): void {
  const args = ['demo', '--peers', '3', '--size', '4MiB', '--json']
  const output = run('shardswap demo', join(folder, 'node_modules/.bin/shardswap'), args, folder)
  const result = JSON.parse(output.trim().split('\n').at(-1) ?? '') as { readonly contentMatches?: boolean }
  if (result.contentMatches !== true) throw new Error(`the demo printed ${output}`)
}

function runCommands(packed: readonly Packed[], folder: string): void {
  for (const { manifest } of packed) {
    for (const command of Object.keys(manifest.bin ?? {})) {
      const output = run(`${command} version`, join(folder, 'node_modules/.bin', command), ['version'], folder)
      if (!output.includes(manifest.version)) throw new Error(`${command} version printed ${JSON.stringify(output)}`)
    }
  }
}

/** Installs the tarballs in an empty folder and uses each as a stranger would. Throws at the first that fails. */
export function checkTarballs(packed: readonly Packed[], root: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'shardswap-consumer-'))
  try {
    install(packed, folder)
    importAll(packed, folder)
    typeCheck(packed, folder, root)
    runCommands(packed, folder)
    runDemo(folder)
    console.log(`check: all good (${packed.map(({ tarball }) => basename(tarball)).join(', ')})`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
