import type { ComponentLogger, Logger } from '@libp2p/interface'

/** A log that keeps its errors. */
export class KeptLog {
  readonly errors: string[] = []

  readonly log: Logger = Object.assign(() => undefined, {
    error: (...words: unknown[]) => void this.errors.push(words.map(String).join(' ')),
    trace: () => undefined,
    enabled: false,
    newScope: () => new KeptLog().log
  })

  readonly logger: ComponentLogger = { forComponent: () => this.log }
}
