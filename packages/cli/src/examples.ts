import type { Command } from 'commander'

/** Adds examples to a command's help: pairs of a command line and what it does. */
export function examples(command: Command, lines: readonly (readonly [string, string])[]): Command {
  const width = Math.max(...lines.map(([line]) => line.length))
  const text = lines.map(([line, what]) => `  $ ${line.padEnd(width)}  # ${what}`)
  return command.addHelpText('after', `\nExamples:\n${text.join('\n')}`)
}
