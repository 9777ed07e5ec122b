import type { Output } from './command.ts'

/** Lines to the process's own streams. Where nobody reads any more (`| head -1`), it ends at once and in good order. */
export function printing(): Output {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  })
  return {
    out: (line) => void process.stdout.write(`${line}\n`),
    error: (line) => void process.stderr.write(`${line}\n`)
  }
}
