import type { ComponentLogger, Logger } from '@libp2p/interface'

/** A log that keeps its errors. */
export class KeptLog {
  readonly errors: string[] = []

  get log(): Logger {
    const log = Object.assign(() => undefined, {
      error: (...words: unknown[]) => void this.errors.push(words.map(String).join(' ')),
      trace: () => undefined,
      enabled: false,
      newScope: () => this.log
    })
    return log
  }

  get logger(): ComponentLogger {
    return { forComponent: () => this.log }
  }
}
