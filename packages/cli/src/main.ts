#!/usr/bin/env node
import { plainFlags } from './flags.ts'
import { createProgram } from './program.ts'
import { Shell } from './shell.ts'

const nodeMajorMin = 22
if (Number.parseInt(process.versions.node, 10) < nodeMajorMin) {
  // npm only warns of it, and what is missing in an older one says nothing of the cause.
  process.stderr.write(`Error: shardswap needs Node ${nodeMajorMin} or newer, and this is ${process.version}\n`)
  process.exit(1)
}
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
