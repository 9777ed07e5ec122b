/**
 * The API reference: what the packages export, as their docstrings tell it.
 * typedoc reads the sources with a TypeScript of its own, since version 7 has no compiler API.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Application, type DeclarationReflection, Logger, LogLevel, type ProjectReflection, type Reflection, ReflectionKind } from 'typedoc'

const workspace = join(import.meta.dirname, '../../..')

/** Keeps what typedoc warns of, where it would print it. */
class Complaints extends Logger {
  readonly messages: string[] = []

  override log(message: string, level: LogLevel): void {
    if (level >= LogLevel.Warn) this.messages.push(message)
  }
}

/** What the sources export, and what typedoc had to complain of while it read them. */
export interface Reference {
  readonly application: Application
  readonly project: ProjectReflection
  readonly complaints: readonly string[]
}

/** Index files, and the compiler's settings that they are read with. */
export interface Entries {
  readonly files: readonly string[]
  readonly tsconfig: string
}

const packages: Entries = {
  files: [join(workspace, 'packages/*/src/index.ts')],
  tsconfig: join(import.meta.dirname, '../tsconfig.sources.json')
}

/** Reads index files, by default those of all packages. Types are not checked here: the compiler does that. */
export async function readReference({ files, tsconfig }: Entries = packages): Promise<Reference> {
  const application = await Application.bootstrap({
    name: 'Shardswap',
    entryPoints: [...files],
    basePath: join(workspace, 'packages'),
    tsconfig,
    readme: 'none',
    skipErrorChecking: true,
    excludeExternals: true,
    excludeInternal: true,
    excludePrivate: true,
    disableGit: true,
    sourceLinkTemplate: '{path}',
    logLevel: 'Warn'
  })
  const complaints = new Complaints()
  application.logger = complaints
  const project = await application.convert()
  if (project === undefined) throw new Error(['the sources could not be read:', ...complaints.messages].join('\n'))
  nameAsImported(project)
  application.validate(project)
  return { application, project, complaints: complaints.messages }
}

/** Names each package as it is imported: typedoc names it by the folder of its sources. */
function nameAsImported(project: ProjectReflection): void {
  for (const module of project.getChildrenByKind(ReflectionKind.Module)) {
    const folder = /^([^/]+)\/src$/.exec(module.name)?.[1]
    if (folder === undefined) continue
    const manifest = JSON.parse(readFileSync(join(workspace, 'packages', folder, 'package.json'), 'utf8')) as { readonly name: string }
    module.name = manifest.name
  }
}

/** Writes the reference as HTML; the page to begin with is `index.html` in `folder`. */
export async function writeReference({ application, project }: Reference, folder: string): Promise<void> {
  // A place is told, and leads nowhere: the pages know of no site that shows the sources.
  for (const reflection of Object.values(project.reflections)) {
    if (reflection.isDeclaration() || reflection.isSignature()) for (const source of reflection.sources ?? []) delete source.url
  }
  await application.generateDocs(project, folder)
}

/** Kinds that say what they are by where they stand, or by what they point to. */
const selfEvident = [
  ReflectionKind.Property,
  ReflectionKind.Reference,
  ReflectionKind.Constructor,
  ReflectionKind.TypeLiteral,
  ReflectionKind.EnumMember
]

/** Where what stands in it is met by the reader. */
const shown = [ReflectionKind.Project, ReflectionKind.Module, ReflectionKind.Namespace, ReflectionKind.Class, ReflectionKind.Interface]

function signaturesOf(declaration: DeclarationReflection): readonly Reflection[] {
  const { getSignature, setSignature, signatures, type } = declaration
  const called = type?.type === 'reflection' ? type.declaration.signatures : undefined
  return [...(signatures ?? []), ...(called ?? []), getSignature, setSignature].filter((one) => one !== undefined)
}

function textOf(reflection: Reflection): string {
  return (reflection.comment?.summary ?? []).map(({ text }) => text).join('')
}

/** typedoc gives an interface without a docstring that of the one that it extends, which says nothing of what is new. */
function isBorrowed(declaration: DeclarationReflection): boolean {
  if (!declaration.kindOf([ReflectionKind.Class, ReflectionKind.Interface])) return false
  const extended = (declaration.extendedTypes ?? []).map((type) => (type.type === 'reference' ? type.reflection : undefined))
  return extended.some((parent) => parent !== undefined && textOf(parent) === textOf(declaration))
}

function isDocumented(declaration: DeclarationReflection): boolean {
  if (signaturesOf(declaration).some((signature) => signature.hasComment())) return true
  return declaration.hasComment() && !isBorrowed(declaration)
}

/** Options are written by those who call, so each says what it does. */
function isOption({ kind, parent }: DeclarationReflection): boolean {
  const isOptions = parent?.kindOf(ReflectionKind.Interface) === true && /(?:Init|Options)$/.test(parent.name)
  return kind === ReflectionKind.Property && isOptions
}

/** Whether the reader meets it: an export, a method or accessor of one, or an option. What a type spells out inside itself is part of that type. */
function isMet(declaration: DeclarationReflection): boolean {
  const { parent } = declaration
  if (isOption(declaration)) return true
  if (declaration.kindOf(ReflectionKind.Module) || declaration.kindOf(selfEvident)) return false
  return parent?.kindOf(shown) === true
}

/** What is wrong with the reference: exports, their methods and accessors, and options without a docstring, then what typedoc warns of, such as links to nothing. */
export function faults({ project, complaints }: Reference): string[] {
  const found: string[] = []
  for (const reflection of Object.values(project.reflections)) {
    if (!reflection.isDeclaration() || !isMet(reflection) || isDocumented(reflection)) continue
    const source = reflection.sources?.[0]
    found.push(`packages/${source?.fileName ?? '?'}:${source?.line ?? 0} ${reflection.getFullName()} has no docstring`)
  }
  return [...found, ...complaints]
}
