#!/usr/bin/env node
import { plainFlags } from './flags.ts'
import { createProgram } from './program.ts'
import { Shell } from './shell.ts'

const shell = new Shell()
// A bug, ours or a library's: even then one line, and no trace without DEBUG.
process.on('uncaughtException', (error) => {
  shell.fail(error)
  process.exit(shell.exitCode)
})
try {
  await createProgram(shell).parseAsync(plainFlags(process.argv))
} catch (error) {
  shell.fail(error)
}
// Whatever a library still holds open must not keep the command from ending.
process.exit(shell.exitCode)
