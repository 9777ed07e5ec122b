import { describe, expect, it } from 'vitest'
import { behaviourFaults } from '../src/behaviours.ts'
import { fileGraph, findCycle, packageGraph } from '../src/cycles.ts'
import { lintFaults, longFile, noisyExamples, silentPackages, staleLimits, undocumentedLimits, unfoundedLimits } from '../src/documents.ts'
import { fieldReportFaults } from '../src/field-reports.ts'
import { forbiddenImports } from '../src/imports.ts'
import { untestedLabels } from '../src/labels.ts'
import { impurities } from '../src/purity.ts'
import { parse, type Finding } from '../src/source.ts'
import { forbiddenWords, shortcuts, testFaults, wordsOf } from '../src/words.ts'

function messages(findings: readonly Finding[]): string[] {
  return findings.map(({ line, message }) => `${line} ${message}`)
}

describe('imports', () => {
  it.each([
    ['packages/interface/src/a.ts', "import { x } from 'uint8arrays'", 'interface may not import uint8arrays'],
    ['packages/protocol/src/a.ts', "import type { PeerId } from '@libp2p/interface'", 'protocol may not import @libp2p/interface'],
    ['packages/protocol/src/a.ts', "export * from '@shardswap/peer'", 'protocol may not import @shardswap/peer'],
    ['packages/protocol/src/a.ts', "await import('node:fs')", 'protocol may not import node:fs'],
    ['packages/hashes/src/a.ts', "import { x } from '@noble/curves'", 'hashes may not import @noble/curves'],
    ['packages/content/src/a.ts', "import { x } from '@shardswap/peer'", 'content may not import @shardswap/peer'],
    ['packages/repo/src/a.ts', "import fs from 'fs'", 'imports fs: write node:fs'],
    ['packages/cli/src/a.ts', "import { x } from '@shardswap/protocol'", 'cli may not import @shardswap/protocol'],
    ['packages/peer/src/a.ts', "import { x } from '@shardswap/protocol/src/wire.ts'", 'only a package’s root is public'],
    ['packages/peer/src/a.ts', "import { x } from '../../protocol/src/wire.ts'", 'outside its package'],
    ['packages/broker/src/a.ts', "import { x } from '@shardswap/session'", 'broker may import only types from @shardswap/session'],
    ['packages/fresh/src/a.ts', "import { x } from 'multiformats'", 'the package fresh has no row']
  ])('finds what %s may not import: %s', (path, text, expected) => {
    const found = messages(forbiddenImports(parse(path, `${text}\nexport {}\n`)))
    expect(found).toHaveLength(1)
    expect(found[0]?.replace('’', "'")).toContain(expected.replace('’', "'"))
  })

  it('takes what the table allows', () => {
    const good = "import type { S } from '@shardswap/session'\nimport { assert } from '@shardswap/interface'\nimport { y } from './y.ts'\n"
    expect(forbiddenImports(parse('packages/broker/src/a.ts', good))).toEqual([])
    expect(forbiddenImports(parse('packages/broker/test/a.test.ts', "import fs from 'node:fs'"))).toEqual([])
  })
})

describe('purity', () => {
  it.each([
    ['Date.now()', 'uses Date'],
    ['new Date()', 'uses Date'],
    ['Math.random()', 'uses Math.random'],
    ['setTimeout(() => 1, 2)', 'uses setTimeout'],
    ['queueMicrotask(f)', 'uses queueMicrotask'],
    ['performance.now()', 'uses performance'],
    ['process.hrtime()', 'uses process']
  ])('finds %s', (expression, expected) => {
    const text = `export const x = (f: () => void): unknown => ${expression}\n`
    for (const path of [
      'packages/protocol/src/a.ts',
      'packages/session/src/a.ts',
      'packages/broker/src/a.ts',
      'packages/server/src/a.ts'
    ]) {
      expect(messages(impurities(parse(path, text)))).toContain(`1 ${expected}`)
    }
    expect(impurities(parse('packages/peer/src/node.ts', text))).toEqual([])
  })

  it('finds a core that waits or imports from Node', () => {
    const core = 'packages/session/src/wants.ts'
    expect(impurities(parse(core, 'export async function f(): Promise<void> {}'))).toHaveLength(1)
    expect(impurities(parse(core, 'export async function f(p: AsyncIterable<1>) { for await (const x of p) x }'))).toHaveLength(2)
    expect(messages(impurities(parse(core, "import { hash } from 'node:crypto'\nexport const h = hash")))).toEqual([
      '1 imports node:crypto'
    ])
  })

  it('tells a name of the file’s own from a global', () => {
    const own = 'export const f = (fetch: () => number): number => fetch()\nexport const max = (a: number) => Math.max(a, 1)\n'
    expect(impurities(parse('packages/protocol/src/a.ts', own))).toEqual([])
  })
})

describe('cycles', () => {
  it('finds one between files', () => {
    const a = parse('packages/x/src/a.ts', "import { type B, c } from './b.ts'\nexport const A: B = c")
    const b = parse('packages/x/src/b.ts', "export * from './in/c.ts'\nexport type B = 1")
    const c = parse('packages/x/src/in/c.ts', "import { A } from '../a.ts'\nexport const c: A = 1")
    expect(findCycle(fileGraph([a, b, c]))).toEqual([a.path, b.path, c.path, a.path])
    expect(findCycle(fileGraph([a, b]))).toBeUndefined()
    const onlyTypes = parse('packages/x/src/in/c.ts', "import type { A } from '../a.ts'\nexport type C = A")
    expect(findCycle(fileGraph([a, b, onlyTypes]))).toBeUndefined()
  })

  it('finds one between packages', () => {
    const a = parse('packages/peer/src/a.ts', "import { x } from '@shardswap/repo'\nexport const a = x")
    const b = parse('packages/repo/src/b.ts', "import type { X } from '@shardswap/peer'\nexport type B = X")
    expect(findCycle(packageGraph([a, b]))).toEqual(['peer', 'repo', 'peer'])
  })
})

describe('words', () => {
  it('splits names', () => {
    expect(wordsOf('blockManagerOf-x_y')).toEqual(['block', 'manager', 'of', 'x', 'y'])
  })

  it('finds words that say nothing, in paths and in exported names', () => {
    expect(forbiddenWords(parse('packages/x/src/test-helpers.ts', 'export {}'))).toHaveLength(1)
    expect(messages(forbiddenWords(parse('packages/x/src/a.ts', 'export class PeerManager {}\nexport const b = 1')))).toEqual([
      '1 exports PeerManager, which says "manager"'
    ])
    expect(
      forbiddenWords(parse('packages/x/src/utility.ts', 'export const distil = 1\nconst helper = 2\nexport type T = typeof helper'))
    ).toEqual([])
  })

  it('finds shortcuts', () => {
    const lines = [
      'export const a: any = 1',
      '// @ts-ignore',
      '// TODO: later',
      '/* oxlint-disable no-console */',
      '// fine: anything todo'
    ]
    const found = shortcuts(parse('packages/x/src/a.ts', lines.join('\n')))
    expect(found.map(({ line }) => line)).toEqual([1, 2, 3, 4])
    expect(shortcuts(parse('a.ts', '// oxlint-disable-next-line no-console -- the command prints its answer\nexport {}'))).toEqual([])
  })
})

describe('tests', () => {
  it.each([
    ["it.skip('works', f)", 'uses .skip'],
    ["describe.only('x', f)", 'uses .only'],
    ["it('doubles [B13]', f)", 'should begin with its labels'],
    ["it('[b13] doubles', f)", 'should begin with its labels'],
    ["it('[B-13] doubles', f)", 'should begin with its labels'],
    ["it('[F5] doubles', f)", 'should begin with its labels'],
    ["it('[B99] doubles', f)", 'which no requirement bears']
  ])('finds %s', (call, expected) => {
    const found = messages(testFaults(parse('packages/x/test/a.test.ts', `const f = () => 1\n${call}\n`)))
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(expected)
  })

  it('takes good titles, conditions and pending clauses', () => {
    const good =
      "it('[B13][B14] doubles', f)\nit('[F05] scores', f)\nit.todo('[F50] hedges')\nit.skipIf(!go)('[C8] runs [1]', f)\nconst f = 1, go = true"
    expect(testFaults(parse('packages/x/test/a.test.ts', good))).toEqual([])
  })
})

describe('field reports', () => {
  const tests = [parse('packages/x/test/a.test.ts', "it('[B13][F05] a', f)\nit.each([])(`[F20] ${f} b`, f)\nit('c [F07]', f)\nconst f = 1")]
  const faults = (...lines: string[]): string[] => fieldReportFaults('r.md', lines.join('\n'), tests).map(({ message }) => message)

  it('have a row each, with files whose tests bear the label', () => {
    expect(faults('| F05 | x | `packages/x/test/a.test.ts` |', '| F20 | y | `packages/x/test/a.test.ts` |', '| F75 | later | – |')).toEqual(
      []
    )
  })

  it('are missed, doubled, untested, or tested elsewhere', () => {
    const row = '| F05 | x | `packages/x/test/a.test.ts` |'
    expect(faults(row, row, '| F07 | z | `packages/x/test/a.test.ts` |', '| F08 | w | – |', '| F10 | v | `gone.test.ts` |')).toEqual([
      'has F05 twice',
      'packages/x/test/a.test.ts has no test of F07',
      'names no test for F08',
      'gone.test.ts has no test of F10',
      'has no row for F20, which a test bears'
    ])
  })
})

describe('labels of what is demanded', () => {
  const everywhere = untestedLabels([])

  it('are B1 to B27, C1 to C5, P1 to P15, P21, P22, and I1 to I16', () => {
    expect(everywhere).toHaveLength(65)
    expect([everywhere[0], everywhere[26], everywhere[31], everywhere.at(-1)]).toEqual(['B1', 'B27', 'C5', 'I16'])
  })

  it('are tested where a title begins with them, be it in a table of cases, and nowhere else', () => {
    const text = "it('[B1][B2] counts', f)\nit.each([['[P21] maps', 1]])('%s', f)\nit('is no test of [C1]', f)\nconst a = '[C2]', f = 1"
    const left = untestedLabels([parse('packages/x/test/a.test.ts', text), parse('packages/x/src/a.ts', "export const a = '[B3] x'")])
    expect(everywhere.filter((label) => !left.includes(label))).toEqual(['B1', 'B2', 'P21'])
  })
})

describe('documents', () => {
  const document = '| name | default | reason |\n|---|---|---|\n| `giveUpMs` | 60 s | patience |\n| `goneMax` | 1 | none |\n'
  const limits = parse(
    'packages/peer/src/limits.ts',
    'export interface PeerLimits { readonly giveUpMs: number; readonly newMs: number }\nexport const blockMax = 2 * 1_024\nexport const words = "x"\n'
  )

  it('finds a limit that nobody explains, and a row about none', () => {
    expect(undocumentedLimits(limits, document).map(({ message }) => message.split(' ')[2])).toEqual(['newMs', 'blockMax'])
    expect(messages(staleLimits([limits], document))).toEqual(['4 no source knows the limit goneMax'])
  })

  it('takes a row of several limits', () => {
    expect(undocumentedLimits(limits, '| `giveUpMs`, `newMs` | 60 s, 5 s | patience |\n| `blockMax` | 2 KiB | small |\n')).toEqual([])
  })

  it('finds a row without a reason', () => {
    expect(undocumentedLimits(limits, '| `giveUpMs` | 60 s |  |\n')).toHaveLength(3)
  })

  it('finds a limit of the reliability layer that no run speaks of, and asks for none elsewhere', () => {
    const judging = parse(
      'packages/reliability/src/limits.ts',
      'export interface JudgingLimits { readonly fastGain: number; readonly oddPart: number }\n'
    )
    expect(unfoundedLimits(judging, '| `fastGain` 0.15 | 0.3 | worse |').map(({ message }) => message.split(' ').at(-1))).toEqual([
      'oddPart'
    ])
    expect(unfoundedLimits(limits, '')).toEqual([])
  })

  it('finds a package that the changelog forgets', () => {
    const log = '# Changelog\n\n## Unreleased\n\n### peer, repo\n- They work.\n\n### content\n\n## 0.1.0\n### cli\n- Old.\n'
    expect(messages(silentPackages(['peer', 'repo', 'content', 'cli'], log))).toEqual([
      '1 says nothing of content',
      '1 says nothing of cli'
    ])
  })

  it('finds an example whose output pnpm would spoil', () => {
    const lines = ['npx -y pnpm@10 shardswap demo', 'npx -y pnpm@10 -s shardswap cat x > y', 'npx -y pnpm@10 shardswap cat x > y']
    expect(noisyExamples('README.md', lines.join('\n')).map(({ line }) => line)).toEqual([3])
    expect(noisyExamples('README.md', 'pnpm shardswap id | jq')).toHaveLength(1)
  })

  it('finds a linter that looks away', () => {
    const rules = {
      'max-lines': ['error', { max: 500 }],
      'max-lines-per-function': ['error', { max: 70 }],
      'import/no-cycle': 'error',
      'typescript/no-explicit-any': 'error',
      'typescript/no-floating-promises': 'error'
    }
    expect(lintFaults({ rules })).toEqual([])
    expect(lintFaults({ rules: { ...rules, 'max-lines': ['error', { max: 900 }] } })).toHaveLength(1)
    expect(lintFaults({ rules: { ...rules, 'import/no-cycle': 'off' } })).toHaveLength(1)
    expect(lintFaults({ rules, overrides: [{ files: ['packages/peer/src/**'], rules: { 'max-lines': 'off' } }] })).toHaveLength(1)
  })

  it('finds a file that is too long', () => {
    expect(longFile(parse('a.ts', '1\n'.repeat(501)))).toHaveLength(1)
    expect(longFile(parse('a.ts', '1\n'.repeat(500)))).toEqual([])
  })
})

describe('behaviours', () => {
  const source = parse('test/a/test/a.test.ts', "it('does so', () => undefined)\nit(`does ${this} too`, () => undefined)\n")
  const faults = (...lines: readonly string[]): string[] => messages(behaviourFaults('a.md', lines.join('\n'), [source]))

  it('takes what tests show, by titles as they are written', () => {
    expect(
      faults('| 1 | x | `test/a/test/a.test.ts`: “does so” | – |', '| 2 | y | `test/a/test/a.test.ts`: “does ${this} too” | – |')
    ).toEqual([])
  })

  it('finds a number that is missing, a test that is, a file that is, and a row without any', () => {
    expect(
      faults(
        '| 1 | x | `test/a/test/a.test.ts`: “does not” | – |',
        '| 3 | x | `test/b/test/b.test.ts`: “does so” | – |',
        '| 4 | x | – | because |'
      )
    ).toEqual([
      '1 test/a/test/a.test.ts has no test called does not',
      '2 has 3 where 2 belongs',
      '2 no test is in test/b/test/b.test.ts',
      '3 names no test for 4'
    ])
  })
})
