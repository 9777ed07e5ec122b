import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { brokenLinks } from '../src/links.ts'
import { root } from '../src/workspace.ts'

function onDisk(path: string): string | undefined {
  const file = join(root, path)
  if (!existsSync(file)) return undefined
  return statSync(file).isDirectory() ? '' : readFileSync(file, 'utf8')
}

describe('links', () => {
  it('finds those that lead nowhere', () => {
    const files: Record<string, string> = { 'docs/a.md': '# A b, `c`\n## Twice\n## Twice\n', 'packages/x': '' }
    const document = [
      '[good](a.md), [good](a.md#a-b-c), [good](a.md#twice-1), [good](../packages/x), [good](#own), [good](https://example.org/x)',
      '# Own',
      '[bad](b.md) and [bad](a.md#d)',
      '`[code](nowhere)`',
      '[bad](#other)'
    ].join('\n')
    const found = brokenLinks('docs/z.md', document, (path) => (path === 'docs/z.md' ? document : files[path]))
    expect(found.map(({ line, message }) => `${line} ${message}`)).toEqual([
      '3 links to b.md, which is not there',
      '3 links to a.md#d, which is not there',
      '5 links to #other, which is not there'
    ])
  })

  it('of our documents all lead somewhere', () => {
    const documents = globSync(['*.md', 'docs/*.md', 'docs/decisions/*.md', 'test/*/*.md', 'deploy/*.md', 'examples/**/*.md'], {
      cwd: root,
      exclude: ['**/node_modules/**']
    })
    expect(documents).toContain('docs/limits.md')
    const found = documents.flatMap((path) => brokenLinks(path, onDisk(path) ?? '', onDisk))
    expect(found.map(({ path, line, message }) => `${path}:${line} ${message}`)).toEqual([])
  })
})
