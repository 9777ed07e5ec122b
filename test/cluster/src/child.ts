/** A node in a child process: requests and answers over the IPC channel, whose end also ends the child. */
import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** How long a child may take to end by itself, in milliseconds, before it is killed: a keeper removes a folder of many files. */
const stopMs = 20_000

interface Request {
  readonly id: number
  readonly command: string
  readonly args: readonly unknown[]
}

interface Failure {
  readonly name: string
  readonly message: string
  readonly code?: string
}

type Answer =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly failure: Failure }

type Command = (...args: readonly never[]) => Promise<unknown>

/** An error of the other process, under its own name and code. */
class RemoteError extends Error {
  readonly code: string | undefined
  constructor(failure: Failure) {
    super(failure.message)
    this.name = failure.name
    this.code = failure.code
  }
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) }
  const code: unknown = 'code' in error ? error.code : undefined
  return { name: error.name, message: error.message, ...(typeof code === 'string' ? { code } : {}) }
}

function send(answer: Answer): void {
  // The parent may be gone: then the channel's end ends this process too.
  if (process.connected) process.send?.(answer, undefined, undefined, () => undefined)
}

/** The child's half: answers each request by the command of its name, and ends when the parent does. */
export function serveCommands(commands: object, stop: () => Promise<void>): void {
  process.on('message', (request: Request) => {
    const command = (commands as Record<string, Command | undefined>)[request.command]
    if (command === undefined) throw new Error(`no command ${request.command}`)
    command(...(request.args as never[])).then(
      (value) => send({ id: request.id, ok: true, value }),
      (error: unknown) => send({ id: request.id, ok: false, failure: failureOf(error) })
    )
  })
  process.on('disconnect', () => {
    const timer = setTimeout(() => process.exit(1), stopMs * 0.75)
    stop().then(
      () => process.exit(0),
      () => process.exit(1)
    )
    timer.unref()
  })
  send({ id: 0, ok: true, value: undefined })
}

/** Forks a script, in a fresh Node without the test runner's flags. */
export function forkScript(url: URL, args: readonly string[] = []): ChildProcess {
  const { NODE_OPTIONS: _, ...env } = process.env
  return fork(url, args, { execArgv: [], env, serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
}

/** What can be done to a child process itself. */
export interface ChildControl {
  /** What stands in a test's title. */
  readonly title: string
  readonly pid: number
  /** Resolves to an error that tells of it once the process ends although nobody ended it; never where it was stopped or killed. */
  readonly lost: Promise<Error>
  /** Ends it by closing its channel, after a while by force. Resolves once it is gone; fine to call twice. */
  stop(): Promise<void>
  /** `kill -9`: it ends as in a crash. Resolves once it is gone. */
  kill(): Promise<void>
  /** SIGSTOP: it does nothing more, its sockets stay open. */
  freeze(): void
  /** SIGCONT. */
  thaw(): void
}

/** A child as a process: its end, its freezing, and that it never outlives this process. */
class Control implements ChildControl {
  readonly title: string
  readonly lost: Promise<Error>
  readonly #child: ChildProcess
  #watch: ChildProcess | undefined
  #isEnding = false

  constructor(child: ChildProcess, title: string) {
    this.#child = child
    this.title = title
    this.lost = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        if (!this.#isEnding) resolve(new Error(endOf(title, code, signal)))
      })
    })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get #ended(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  readonly stop = async (): Promise<void> => {
    this.#isEnding = true
    // Frozen, it would not see its channel close.
    if (this.#watch !== undefined) return await this.kill()
    if (this.#ended) return
    const exited = once(this.#child, 'exit')
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), stopMs)
    if (this.#child.connected) this.#child.disconnect()
    await exited
    clearTimeout(timer)
  }

  readonly kill = async (): Promise<void> => {
    this.#isEnding = true
    this.#unwatch()
    if (this.#ended) return
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exited
  }

  // A frozen child does not notice that this process is gone. So a shell waits for that, and ends it.
  readonly freeze = (): void => {
    if (this.#ended || this.#watch !== undefined) return
    this.#watch = spawn('sh', ['-c', `read -r _; kill -9 ${this.pid}`], { stdio: ['pipe', 'ignore', 'ignore'] })
    this.#child.kill('SIGSTOP')
  }

  readonly thaw = (): void => {
    this.#child.kill('SIGCONT')
    this.#unwatch()
  }

  #unwatch(): void {
    this.#watch?.kill('SIGKILL')
    this.#watch = undefined
  }
}

function endOf(title: string, code: number | null, signal: NodeJS.Signals | null): string {
  return `${title}: the child process ended (${signal ?? `code ${code}`})`
}

interface Waiter {
  resolve(value: unknown): void
  reject(error: Error): void
}

/** The parent's half: sends requests, matches answers. */
class Channel {
  readonly #child: ChildProcess
  readonly #title: string
  readonly #waiting = new Map<number, Waiter>()
  #nextId = 0
  readonly ready: Promise<unknown>

  constructor(child: ChildProcess, title: string) {
    this.#child = child
    this.#title = title
    this.ready = this.#wait(this.#nextId++)
    child.on('message', (answer: Answer) => this.#settle(answer))
    child.on('exit', (code, signal) => this.#fail(new Error(endOf(title, code, signal))))
    // A process that could not be started, or be spoken to.
    child.on('error', (error) => this.#fail(new Error(`${title}: ${error.message}`, { cause: error })))
  }

  #fail(error: Error): void {
    for (const waiter of this.#waiting.values()) waiter.reject(error)
    this.#waiting.clear()
  }

  async #wait(id: number): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#waiting.set(id, { resolve, reject })
    return await promise
  }

  #settle(answer: Answer): void {
    const waiter = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if (answer.ok) waiter?.resolve(answer.value)
    else waiter?.reject(new RemoteError(answer.failure))
  }

  async call(command: string, args: readonly unknown[]): Promise<unknown> {
    const { connected, exitCode, signalCode } = this.#child
    if (!connected || exitCode !== null || signalCode !== null) throw new Error(`${this.#title}: the child process ended`)
    const id = this.#nextId++
    const request: Request = { id, command, args }
    const answer = this.#wait(id)
    // Killed a moment ago it is still connected: what cannot be said to it ends like what it does not answer.
    this.#child.send(request, (error) => {
      if (error !== null) this.#fail(new Error(`${this.#title}: the child process ended`, { cause: error }))
    })
    return await answer
  }
}

/** The commands of a child process, typed as its interface, and its end. */
export async function startChild<T extends object>(script: URL, title: string, args: readonly string[] = []): Promise<T & ChildControl> {
  const child = forkScript(script, args)
  const channel = new Channel(child, title)
  const control = new Control(child, title)
  try {
    await channel.ready
  } catch (error) {
    await control.stop()
    throw error
  }
  return new Proxy(control, {
    get: (target, name: string): unknown => {
      if (name in target) return target[name as keyof Control]
      // An await asks every object whether it is a promise.
      if (name === 'then') return undefined
      return async (...callArgs: readonly unknown[]) => await channel.call(name, callArgs)
    }
  }) as unknown as T & ChildControl
}
