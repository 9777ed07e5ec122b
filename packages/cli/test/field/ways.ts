/** The ways in which one call can be made, and the error that each tells of. */
import { addAbortListener } from 'node:events'
import { request } from 'node:http'
import { connectDaemon, type Daemon, describeError, startDaemon, type SwapNode } from '@shardswap/daemon'
import type { PeerLimits } from '@shardswap/peer'
import { memoryRepo } from '@shardswap/repo'
import { onTestFinished } from 'vitest'
import { start } from '../command.ts'

/** What a failure is told as; the exit code where a command ended. */
export interface Told {
  readonly name: string
  readonly code: string
  readonly exit?: number | null
}

/** A daemon in this process, on free ports and a repo in memory; it stops with the test. */
export async function quietDaemon(limits: Partial<PeerLimits> = {}): Promise<Daemon> {
  const loopback = '/ip4/127.0.0.1/tcp/0'
  const daemon = await startDaemon({ repo: await memoryRepo(), listen: [loopback], api: loopback, limits })
  onTestFinished(async () => await daemon.stop())
  return daemon
}

/** The daemon's node over its RPC. */
export async function remoteNode(daemon: Daemon): Promise<SwapNode> {
  const node = await connectDaemon(daemon.api)
  onTestFinished(async () => await node.close())
  return node
}

/** What a call that must fail ended with, in this process. */
export async function toldBy(call: Promise<unknown>): Promise<Told> {
  const error = await call.then(
    () => new Error('the call succeeded'),
    (thrown: unknown) => thrown
  )
  const { name, code } = describeError(error)
  return { name, code }
}

/** What a POST to the daemon is told: by its body, or by the trailers of an answer that had begun. */
export async function toldByHttp(
  daemon: Daemon,
  call: string,
  body?: { readonly type: string; readonly bytes: Uint8Array }
): Promise<Told> {
  const [, , host, , port] = daemon.api.split('/')
  const headers = body === undefined ? { 'Content-Length': 0 } : { 'Content-Type': body.type }
  return await new Promise<Told>((resolve, reject) => {
    const sent = request({ host, port, method: 'POST', path: `/api/v0/${call}`, headers }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', reject)
      response.on('end', () => {
        const { trailers } = response
        if (response.statusCode === 200) {
          resolve({ name: trailers['x-stream-error-name'] ?? 'none', code: trailers['x-stream-error-code'] ?? 'none' })
          return
        }
        const shape = JSON.parse(Buffer.concat(parts).toString()) as { Name: string; ErrorCode: string }
        resolve({ name: shape.Name, code: shape.ErrorCode })
      })
    })
    sent.on('error', reject)
    sent.end(body?.bytes)
  })
}

/** What the command says on standard error; with a signal it is interrupted once that fires. */
export async function toldByCommand(args: readonly string[], stdin: Uint8Array | string = '', interrupt?: AbortSignal): Promise<Told> {
  const running = start([...args, '--json'], { stdin })
  const listener = interrupt === undefined ? undefined : addAbortListener(interrupt, () => running.child.kill('SIGINT'))
  const { code: exit, stderr } = await running.finished
  listener?.[Symbol.dispose]()
  if (stderr === '') return { name: 'none', code: 'none', exit }
  const shape = JSON.parse(stderr) as { Name: string; ErrorCode: string }
  return { name: shape.Name, code: shape.ErrorCode, exit }
}
