import { runCommand } from './command.ts'

process.exitCode = runCommand(process.argv.slice(2), {
  out: (line) => process.stdout.write(`${line}\n`),
  error: (line) => process.stderr.write(`${line}\n`)
})
