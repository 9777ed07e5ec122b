import type { Writable } from 'node:stream'

/** Whoever read our output has had enough (`| head`): a quiet end, no failure. */
export class PipeClosedError extends Error {
  override readonly name = 'PipeClosedError'
}

/** Standard output, with back-pressure. Nothing but a command's answer goes there. */
export class Output {
  readonly #stream: Writable
  readonly #signal: AbortSignal
  #failure: Error | undefined

  /** `onClosed` is told once when nothing more can be written. */
  constructor(stream: Writable, signal: AbortSignal, onClosed: (reason: Error) => void) {
    this.#stream = stream
    this.#signal = signal
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (this.#failure !== undefined) return
      this.#failure = error.code === 'EPIPE' ? new PipeClosedError('the pipe was closed') : error
      onClosed(this.#failure)
    })
  }

  /** Why nothing more can be written: the end of the command, whatever its calls made of it. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** Resolves once more can be written; a reader that does not read keeps nobody beyond the signal. */
  async write(data: Uint8Array | string): Promise<void> {
    this.#throwIfClosed()
    if (!this.#stream.write(data)) await this.#drained()
    this.#throwIfClosed()
  }

  async line(text: string): Promise<void> {
    await this.write(`${text}\n`)
  }

  async json(value: unknown): Promise<void> {
    await this.line(JSON.stringify(value))
  }

  /** Resolves once all is handed to the system. */
  async flush(): Promise<void> {
    if (this.#failure !== undefined || !this.#stream.writable) return
    await new Promise<void>((resolve) => this.#stream.write('', () => resolve()))
  }

  #throwIfClosed(): void {
    if (this.#failure !== undefined) throw this.#failure
    this.#signal.throwIfAborted()
  }

  async #drained(): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        for (const event of ['drain', 'close', 'error']) this.#stream.off(event, done)
        this.#signal.removeEventListener('abort', done)
        resolve()
      }
      for (const event of ['drain', 'close', 'error']) this.#stream.on(event, done)
      this.#signal.addEventListener('abort', done)
    })
  }
}
