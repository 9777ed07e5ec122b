/**
 * `pnpm build [--out DIR] [--check]`: compiles the packages, puts the licences
 * into each, packs each as it would be published and holds publint to the
 * tarball. With `--out` the tarballs stay in DIR, for npm to install them in a
 * project of yours, which is what there is until they are in a registry. With `--check` the tarballs are installed in an empty folder by npm, imported
 * under plain Node, type-checked by a consumer, and the command is run.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { checkTarballs, type Manifest, type Packed } from './check-tarballs.ts'

const root = join(import.meta.dirname, '..')
const licences = ['LICENSE-APACHE', 'LICENSE-MIT']

function packageFolders(): string[] {
  return readdirSync(join(root, 'packages'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(root, 'packages', entry.name))
}

/** The pnpm that runs this script, or the one that npx finds where the script was started by hand. */
function pnpm(args: string[], cwd: string): string {
  const own = process.env['npm_execpath']
  const [file, first] = own?.includes('pnpm') === true ? [process.execPath, [own]] : ['npx', ['-y', 'pnpm@10']]
  return execFileSync(file, [...first, ...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

function compile(folders: readonly string[]): void {
  // A file that was renamed would live on in dist and be published.
  for (const folder of folders) rmSync(join(folder, 'dist'), { recursive: true, force: true })
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  execFileSync(process.execPath, [tsc, '-b', ...folders], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
}

function pack(folder: string, target: string): Packed {
  for (const licence of licences) copyFileSync(join(root, licence), join(folder, licence))
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  pnpm(['pack', '--pack-destination', target], folder)
  const stem = `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`
  return { folder, manifest, tarball: join(target, stem) }
}

/** Prints what publint has to say of a tarball; true where it found nothing to warn of. */
async function lint({ manifest, tarball }: Packed): Promise<boolean> {
  const bytes = readFileSync(tarball)
  const { messages, pkg } = await publint({ pack: { tarball: Uint8Array.from(bytes).buffer }, strict: true })
  for (const message of messages) console.log(`${message.type} ${manifest.name}: ${formatMessage(message, pkg)}`)
  return messages.every((message) => message.type === 'suggestion')
}

function keep(packed: readonly Packed[], folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const { tarball } of packed) copyFileSync(tarball, join(folder, basename(tarball)))
  console.log(`now, in a project of yours: npm install ${join(folder, '*.tgz')}`)
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { out: { type: 'string' }, check: { type: 'boolean', default: false } } })
  const folders = packageFolders()
  const target = mkdtempSync(join(tmpdir(), 'shardswap-build-'))
  try {
    compile(folders)
    const packed = folders.map((folder) => pack(folder, target))
    const verdicts = await Promise.all(packed.map(lint))
    console.log(`packed ${packed.map(({ manifest }) => manifest.name).join(', ')}`)
    if (verdicts.includes(false)) throw new Error('publint found something to mend')
    if (values.check) checkTarballs(packed, root)
    if (values.out !== undefined) keep(packed, resolve(values.out))
  } finally {
    rmSync(target, { recursive: true, force: true })
  }
}

await main()
