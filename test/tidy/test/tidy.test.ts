import { globSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { behaviourFaults } from '../src/behaviours.ts'
import { fileGraph, findCycle, packageGraph } from '../src/cycles.ts'
import {
  lintFaults,
  longFile,
  noisyExamples,
  silentPackages,
  staleLimits,
  undocumentedLimits,
  unfoundedLimits,
  type LintConfig
} from '../src/documents.ts'
import { fieldReportFaults } from '../src/field-reports.ts'
import { forbiddenImports, importTable, undeclaredImports } from '../src/imports.ts'
import { untestedLabels } from '../src/labels.ts'
import { impurities } from '../src/purity.ts'
import type { Finding, Source } from '../src/source.ts'
import { forbiddenWords, shortcuts, testFaults } from '../src/words.ts'
import { packageFolders, read, root, sources } from '../src/workspace.ts'

const all = sources()

function report(findings: readonly Finding[]): string[] {
  return findings.map(({ path, line, message }) => `${path}:${line} ${message}`)
}

function over(rule: (source: Source) => Finding[]): string[] {
  return report(all.flatMap((source) => rule(source)))
}

function dependenciesOf(folder: string): ReadonlySet<string> {
  const manifest = JSON.parse(read(`packages/${folder}/package.json`)) as { dependencies?: object; peerDependencies?: object }
  return new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }))
}

describe('the workspace', () => {
  it('is seen by these tests', () => {
    expect(all.length).toBeGreaterThan(20)
    expect(packageFolders()).toContain('interface')
  })

  it('has a row in the table of imports for each package', () => {
    expect(packageFolders().filter((name) => !(name in importTable))).toEqual([])
  })

  it('imports only what the table allows', () => {
    expect(over(forbiddenImports)).toEqual([])
  })

  it('loads only what its packages depend on', () => {
    const declared = new Map(packageFolders().map((name) => [name, dependenciesOf(name)]))
    expect([...(declared.get('daemon') ?? [])]).toContain('busboy')
    expect(over((source) => undeclaredImports(source, (owner) => declared.get(owner) ?? new Set()))).toEqual([])
  })

  it('decides without a clock, a die, a timer or a wait', () => {
    expect(over(impurities)).toEqual([])
  })

  it('has no import cycle between files', () => {
    expect(findCycle(fileGraph(all))).toBeUndefined()
  })

  it('has no import cycle between packages', () => {
    expect(findCycle(packageGraph(all))).toBeUndefined()
  })

  it('has no file above 500 lines', () => {
    expect(over(longFile)).toEqual([])
  })

  it('lets the linter bound functions, files, cycles and any', () => {
    expect(report(lintFaults(JSON.parse(read('.oxlintrc.json')) as LintConfig))).toEqual([])
  })

  it('takes no shortcut round compiler and linter', () => {
    expect(over(shortcuts)).toEqual([])
  })

  it('uses the project’s words', () => {
    expect(over(forbiddenWords)).toEqual([])
  })

  it('runs every test, under titles whose labels exist', () => {
    expect(over(testFaults)).toEqual([])
  })

  it('has a test for each label of what is demanded', () => {
    expect(untestedLabels(all)).toEqual([])
  })

  it('shows each behaviour of boxo by a test that exists', () => {
    const path = 'docs/boxo-behaviours.md'
    const document = read(path)
    expect(report(behaviourFaults(path, document, all))).toEqual([])
    expect(document.match(/^\| \d+ \|/gm)).toHaveLength(73)
  })

  it('shows by a test that exists that each field report is not ours', () => {
    const path = 'docs/field-reports.md'
    const document = read(path)
    expect(report(fieldReportFaults(path, document, all))).toEqual([])
    expect(document.match(/^\| F\d\d \|/gm)).toHaveLength(59)
  })

  it('explains every limit', () => {
    const document = read('docs/limits.md')
    expect(over((source) => undocumentedLimits(source, document))).toEqual([])
    expect(report(staleLimits(all, document))).toEqual([])
  })

  it('tells where each default of the reliability layer comes from', () => {
    const document = read('docs/reliability-runs.md')
    expect(over((source) => unfoundedLimits(source, document))).toEqual([])
  })

  it('shows no command whose output pnpm would spoil', () => {
    const documents = globSync(['*.md', 'docs/**/*.md'], { cwd: root })
    expect(documents).toContain('README.md')
    expect(report(documents.flatMap((path) => noisyExamples(path, read(path))))).toEqual([])
  })

  it('tells of every package that works in the changelog', () => {
    const tested = packageFolders().filter((name) => globSync(`packages/${name}/test/*.test.ts`, { cwd: root }).length > 0)
    expect(report(silentPackages(tested, read('CHANGELOG.md')))).toEqual([])
  })
})
