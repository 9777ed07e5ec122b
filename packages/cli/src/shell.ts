import type { Command } from 'commander'
import { Context } from './context.ts'
import { errorLine, exitCodeOf } from './errors.ts'
import type { GlobalOptions } from './options.ts'

/** Where commands are run: each gets a context, and its end becomes an exit code. */
export class Shell {
  exitCode = 0

  /** Runs one command from its options to its exit code. */
  async run(command: Command, body: (context: Context) => Promise<void>): Promise<void> {
    let context: Context | undefined
    try {
      context = new Context(command.optsWithGlobals<GlobalOptions>())
      await body(context)
      await context.out.flush()
    } catch (error) {
      this.fail(context?.out.failure ?? error, context)
    } finally {
      context?.dispose()
    }
  }

  /** Tells of an error, and sets the exit code for it. */
  fail(error: unknown, context?: Context): void {
    const interrupted = context?.interrupted === true
    this.exitCode = exitCodeOf(error, interrupted)
    const line = interrupted ? undefined : errorLine(error, context?.offline === true, context?.options.json === true)
    if (line !== undefined) process.stderr.write(`${line}\n`)
    if (process.env['DEBUG'] !== undefined && error instanceof Error) process.stderr.write(`${error.stack ?? ''}\n`)
  }
}
