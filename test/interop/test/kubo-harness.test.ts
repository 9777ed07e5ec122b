import { existsSync } from 'node:fs'
import { once } from 'node:events'
import { connect } from 'node:net'
import { multiaddr } from '@multiformats/multiaddr'
import { describe, expect, test, vi } from 'vitest'
import { kuboAvailable, kuboBinary, kuboBuildMs } from '../src/build-kubo.ts'
import { forkScript } from '@shardswap-test/cluster/child'

interface Whereabouts {
  readonly addresses: readonly string[]
  readonly folder: string
}

async function listens(address: string): Promise<boolean> {
  const port = Number(
    multiaddr(address)
      .getComponents()
      .find(({ name }) => name === 'tcp')?.value
  )
  const socket = connect(port, '127.0.0.1')
  const { promise, resolve } = Promise.withResolvers<boolean>()
  socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
  return await promise.finally(() => socket.destroy())
}

describe.runIf(kuboAvailable(import.meta.filename))('the Kubo of the tests', () => {
  test('leaves no process and no folder where the process that started it is killed', { timeout: kuboBuildMs }, async () => {
    await kuboBinary()
    const child = forkScript(new URL('../src/kubo-orphan.ts', import.meta.url))
    const [{ addresses, folder }] = (await once(child, 'message')) as [Whereabouts]
    expect(await listens(addresses[0] ?? '')).toBe(true)
    expect(existsSync(folder)).toBe(true)
    child.kill('SIGKILL')
    await vi.waitUntil(async () => !existsSync(folder) && !(await listens(addresses[0] ?? '')), { timeout: 30_000, interval: 100 })
  })
})
