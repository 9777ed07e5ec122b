import { readFileSync } from 'node:fs'

/** Real messages, without their length prefix: written by boxo 0.42.0 (see README.md). */
export function readCorpus(): Uint8Array[] {
  const text = readFileSync(new URL('../corpus.json', import.meta.url), 'utf8')
  return Object.values(JSON.parse(text) as Record<string, string>).map((hex) => new Uint8Array(Buffer.from(hex, 'hex')))
}
