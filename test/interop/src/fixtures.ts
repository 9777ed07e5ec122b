/** The archives that Kubo made, and the table of what each must give. */
import { readFile } from 'node:fs/promises'

const folder = new URL('../../fixtures/', import.meta.url)

/** A line of `index.tsv`: `-` where a column does not apply. */
export interface FixtureRow {
  readonly car: string
  readonly root: string
  readonly path: string
  readonly bytes: string
  readonly sha256: string
  readonly note: string
}

export function fixtureUrl(car: string): URL {
  return new URL(car, folder)
}

export async function fixtureRows(): Promise<FixtureRow[]> {
  const [, ...lines] = (await readFile(new URL('index.tsv', folder), 'utf8')).trimEnd().split('\n')
  return lines.map((line) => {
    const [car = '', root = '', path = '', bytes = '', sha256 = '', note = ''] = line.split('\t')
    return { car, root, path, bytes, sha256, note }
  })
}
