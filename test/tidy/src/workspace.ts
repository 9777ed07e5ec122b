import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, type Source } from './source.ts'

/** The workspace's root folder. */
export const root = join(import.meta.dirname, '../../..')

const patterns = ['packages/*/{src,test}/**/*.ts', 'test/*/{src,test}/**/*.ts', 'scripts/**/*.ts', 'examples/**/*.ts', '*.ts']

function isOurs(path: string): boolean {
  return !/(^|\/)(node_modules|dist|generated)\//.test(path)
}

/** Paths of every TypeScript file that we wrote, relative to the root, in order. */
function sourcePaths(): string[] {
  return globSync(patterns, { cwd: root }).filter(isOurs).toSorted()
}

/** Every TypeScript file that we wrote, parsed. */
export function sources(): Source[] {
  return sourcePaths().map((path) => parse(path, read(path)))
}

/** A text file of the workspace. */
export function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** Folder names under `packages`. */
export function packageFolders(): string[] {
  return globSync('packages/*/package.json', { cwd: root })
    .map((path) => path.split('/')[1] ?? '')
    .toSorted()
}
