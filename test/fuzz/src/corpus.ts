import { readFileSync } from 'node:fs'

/** Answers of boxo, kept so that they hold where there is no Go; see README.md. */
export const boxoAnswersFile = new URL('../fixtures/boxo-answers.json', import.meta.url)

/** Real messages, without their length prefix: written by boxo 0.42.0. */
export function readCorpus(): Uint8Array[] {
  const text = readFileSync(new URL('../fixtures/corpus.json', import.meta.url), 'utf8')
  return Object.values(JSON.parse(text) as Record<string, string>).map((hex) => new Uint8Array(Buffer.from(hex, 'hex')))
}
