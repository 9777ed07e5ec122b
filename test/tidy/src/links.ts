import { dirname, join } from 'node:path/posix'
import type { Finding } from './source.ts'

/** As many lines of nothing. */
function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ')
}

/** Code is no text: what looks like a link there is none. */
function withoutCode(document: string): string {
  return document.replaceAll(/^```[\s\S]*?^```/gm, blank).replaceAll(/`[^`\n]*`/g, blank)
}

/** The anchors of a document's headings, as they are made where Markdown is shown. */
function anchorsOf(document: string): Set<string> {
  const headings = document.matchAll(/^#+ (.*)$/gm)
  const anchors = new Set<string>()
  for (const [, heading = ''] of headings) {
    const words = heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    const base = words.trim().replaceAll(/\s/g, '-')
    let anchor = base
    for (let count = 1; anchors.has(anchor); count++) anchor = `${base}-${count}`
    anchors.add(anchor)
  }
  return anchors
}

/** [tidy] Links between our documents, and to our files, lead somewhere. `read` gives a file's text, `''` for a folder, undefined where there is nothing. */
export function brokenLinks(path: string, document: string, read: (path: string) => string | undefined): Finding[] {
  return withoutCode(document)
    .split('\n')
    .flatMap((line, index) => {
      const targets = Array.from(line.matchAll(/\]\(([^)\s]+)\)/g), ([, target = '']) => target)
      return targets
        .filter((target) => {
          if (/^[a-z]+:/.test(target)) return false
          const [file = '', anchor] = target.split('#')
          const found = read(file === '' ? path : join(dirname(path), file))
          return found === undefined || (anchor !== undefined && !anchorsOf(found).has(anchor))
        })
        .map((target) => ({ path, line: index + 1, message: `links to ${target}, which is not there` }))
    })
}
