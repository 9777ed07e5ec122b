/**
 * `pnpm api [FOLDER]`: writes the API reference as HTML (default `docs/api`), and
 * fails where an export has no docstring or a docstring links to nothing.
 */
import { join, resolve } from 'node:path'
import { faults, readReference, writeReference } from './reference.ts'

const folder = resolve(process.argv[2] ?? join(import.meta.dirname, '../../../docs/api'))
const reference = await readReference()
const found = faults(reference)
await writeReference(reference, folder)
for (const fault of found) console.error(fault)
console.log(join(folder, 'index.html'))
if (found.length > 0) process.exitCode = 1
