/** docs/library.md names every progress event and every error code of what it is about, and no others. */
import { expect, test } from 'vitest'
import { read } from '../src/workspace.ts'

function found(text: string, pattern: RegExp): string[] {
  return [...new Set(Array.from(text.matchAll(pattern), ([, name = '']) => name))].toSorted()
}

/** A part of the document, by its heading. */
function section(heading: string): string {
  const document = read('docs/library.md')
  const start = document.indexOf(`\n## ${heading}\n`)
  return document.slice(start, document.indexOf('\n## ', start + 1))
}

test('the table of progress events is that of the types', () => {
  const inCode = found(read('packages/peer/src/fetch/progress.ts'), /ProgressEvent<'(shardswap:[a-z-]+)'/g)
  expect(inCode.length).toBeGreaterThan(5)
  expect(found(section('Progress events'), /^\| `(shardswap:[a-z-]+)` \|/gm)).toEqual(inCode)
})

test('the table of errors is that of the classes', () => {
  const files = ['packages/interface/src/errors.ts', 'packages/peer/src/errors.ts', 'packages/peer/src/admission/open-admission.ts']
  const inCode = found(files.map(read).join('\n'), /code\b[^=\n]*= '([A-Z_]+)'/g).filter((code) => code !== 'ERR_SHARDSWAP')
  expect(inCode.length).toBeGreaterThan(10)
  expect(found(section('Errors'), /^\| `\w+`[^|]* \| `([A-Z_]+)` \|/gm)).toEqual(inCode)
})
