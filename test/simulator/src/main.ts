import { runCommand } from './command.ts'
import { printing } from './printing.ts'

process.exitCode = await runCommand(process.argv.slice(2), printing())
