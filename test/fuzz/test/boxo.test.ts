import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { difference } from '../src/boxo.ts'
import { read, type Recorded } from '../src/compare.ts'
import { boxoAnswersFile } from '../src/corpus.ts'

const recorded = JSON.parse(readFileSync(boxoAnswersFile, 'utf8')) as Recorded[]
const bytesOf = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'))

describe("boxo's answers to mutated messages", () => {
  it('are ours, but for what docs/wire-protocol.md lists', () => {
    const differences = recorded.map(({ hex, answer }) => [hex, difference(read(bytesOf(hex)), answer)])
    expect(differences.filter(([, how]) => how !== undefined)).toEqual([])
  })

  it('are of both kinds, and tell a wrong reading from a right one', () => {
    const refused = recorded.filter(({ answer }) => answer.error !== undefined)
    expect(refused.length).toBeGreaterThan(40)
    expect(recorded.length - refused.length).toBeGreaterThan(40)
    const swapped = recorded.map(({ hex }, i) => difference(read(bytesOf(hex)), recorded[(i + 1) % recorded.length]!.answer))
    expect(swapped.filter((how) => how !== undefined).length).toBeGreaterThan(50)
  })
})
