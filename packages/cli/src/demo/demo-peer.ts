import { type ChildProcess, fork } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { DemoOrder, DemoReport } from './messages.ts'

/** As much as is kept of what a peer that dies wrote to standard error. */
const complaintCharsMax = 2000

/** Unbuilt it runs from TypeScript, published from JavaScript. */
const entry = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? './peer-main.ts' : './peer-main.js', import.meta.url))

/** A peer's process, seen from the demo. */
export class DemoPeer {
  readonly folder: string
  id = ''
  address = ''
  readonly #child: ChildProcess
  readonly #exited: Promise<void>
  #complaint = ''

  constructor(folder: string) {
    this.folder = folder
    this.#child = fork(entry, [folder], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    this.#child.stderr?.on('data', (text: Buffer) => {
      this.#complaint = (this.#complaint + text.toString()).slice(-complaintCharsMax)
    })
    this.#exited = new Promise((resolve) => this.#child.once('exit', () => resolve()))
  }

  /** By itself, or by a signal. */
  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  order(order: DemoOrder): void {
    // One that was killed a moment ago is still connected; that it has ended is told by its exit.
    if (this.#child.connected) this.#child.send(order, () => undefined)
  }

  /**
   * Resolves to the first report of a type; the ones before it go to `onReport`.
   * Fails where the peer does, where its process ends, and at the signal.
   */
  async until<T extends DemoReport['type']>(
    type: T,
    signal: AbortSignal,
    onReport: (report: DemoReport) => void = () => {}
  ): Promise<Extract<DemoReport, { type: T }>> {
    const found = Promise.withResolvers<Extract<DemoReport, { type: T }>>()
    const onMessage = (report: DemoReport): void => {
      if (report.type === type) found.resolve(report as Extract<DemoReport, { type: T }>)
      else if (report.type === 'failed') found.reject(new Error(`a peer of the demo failed: ${report.message}`))
      else onReport(report)
    }
    const onExit = (): void => {
      const last =
        this.#complaint
          .trim()
          .split('\n')
          .find((line) => /error/i.test(line)) ?? 'no reason given'
      found.reject(new Error(`a peer of the demo ended unexpectedly: ${last}`))
    }
    const onAbort = (): void => found.reject(signal.reason as Error)
    this.#child.on('message', onMessage)
    this.#child.on('exit', onExit)
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    if (this.#hasEnded) onExit()
    try {
      return await found.promise
    } finally {
      this.#child.off('message', onMessage)
      this.#child.off('exit', onExit)
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** Ends the process at once, as a crash would, and removes its folder. */
  async kill(): Promise<void> {
    if (!this.#hasEnded) {
      this.#child.kill('SIGKILL')
      await this.#exited
    }
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
