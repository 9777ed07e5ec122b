#!/usr/bin/env node
import { plainFlags } from './flags.ts'
import { createProgram } from './program.ts'
import { Shell } from './shell.ts'

const shell = new Shell()
try {
  await createProgram(shell).parseAsync(plainFlags(process.argv))
} catch (error) {
  shell.fail(error)
}
// Whatever a library still holds open must not keep the command from ending.
process.exit(shell.exitCode)
