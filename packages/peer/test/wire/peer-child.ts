import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { PeerInit, PeerStat } from '../../src/index.ts'

export type Order =
  | { readonly type: 'put'; readonly seed: number; readonly size: number; readonly count: number }
  | { readonly type: 'get'; readonly cid: Uint8Array; readonly timeoutMs: number }
  | { readonly type: 'has'; readonly cid: Uint8Array }
  | { readonly type: 'connect'; readonly address: string }
  | { readonly type: 'stat'; readonly peer?: string }
  | { readonly type: 'register' }
  /** Its event loop stands still for so long, from the order on. Answered before. */
  | { readonly type: 'hang'; readonly ms: number }
  | { readonly type: 'stop' }

export type Report =
  | { readonly type: 'done' }
  | { readonly type: 'address'; readonly address: string }
  | { readonly type: 'block'; readonly bytes: Uint8Array }
  | { readonly type: 'error'; readonly name: string }
  | { readonly type: 'has'; readonly has: boolean }
  | ({ readonly type: 'stat'; readonly rssBytes: number; readonly liveBytes: number; readonly wants: number } & Pick<
      PeerStat,
      'fetch' | 'serve' | 'connectedPeers'
    >)

/** The test's end of peer-process.ts. */
export class PeerChild {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, (report: Report) => void>()
  #id = 1
  address = ''

  private constructor(child: ChildProcess) {
    this.#child = child
    child.on('message', ({ id, report }: { id: number; report: Report }) => {
      this.#waiting.get(id)?.(report)
      this.#waiting.delete(id)
    })
    child.on('exit', () => {
      for (const resolve of this.#waiting.values()) resolve({ type: 'error', name: 'the process died' })
      this.#waiting.clear()
    })
  }

  /** `serveLimits` in place of the defaults. */
  static async start(serveLimits: PeerInit['serveLimits'] = {}): Promise<PeerChild> {
    const program = fileURLToPath(new URL('peer-process.ts', import.meta.url))
    const child = fork(program, [JSON.stringify(serveLimits)], { serialization: 'advanced', execArgv: ['--expose-gc'] })
    const peer = new PeerChild(child)
    const report = await new Promise<Report>((resolve) => peer.#waiting.set(0, resolve))
    if (report.type !== 'address') throw new Error('the peer did not start')
    peer.address = report.address
    return peer
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  async tell<T extends Report['type']>(order: Order, expected: T): Promise<Extract<Report, { type: T }>> {
    if (!this.alive) throw new Error('the process died')
    const id = this.#id++
    const report = await new Promise<Report>((resolve) => {
      this.#waiting.set(id, resolve)
      this.#child.send({ id, order })
    })
    if (report.type !== expected) throw new Error(`${order.type}: ${JSON.stringify(report)}`)
    return report as Extract<Report, { type: T }>
  }

  async stat(peer?: string): Promise<Extract<Report, { type: 'stat' }>> {
    return this.tell(peer === undefined ? { type: 'stat' } : { type: 'stat', peer }, 'stat')
  }

  /** Stops the process where it stands, or lets it go on: its connections stay. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(name)
  }

  async stop(): Promise<void> {
    if (!this.alive) return
    const exit = once(this.#child, 'exit')
    await this.tell({ type: 'stop' }, 'done')
    this.#child.disconnect()
    await exit
  }
}
