import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { openLinks } from '../src/links.ts'

const bytes = 400_000

/** A server that says so many bytes to everyone; gives its address. */
async function provider(): Promise<string> {
  const server = createServer((socket) => socket.on('error', () => undefined).end(Buffer.alloc(bytes)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
  })
  return `/ip4/127.0.0.1/tcp/${(server.address() as AddressInfo).port}`
}

async function fetchAll(address: string | undefined): Promise<void> {
  const socket = connect(Number(address?.split('/')[4]), '127.0.0.1')
  expect((await buffer(socket)).byteLength).toBe(bytes)
}

it('tells what part of its links was used, and does not take for measured what went past them', { timeout: 60_000 }, async () => {
  const links = await openLinks({ delayMs: 1, mbPerS: [20, 10] }, [await provider(), await provider()])
  onTestFinished(async () => await links.stop())
  await fetchAll(links.addresses[0])
  await fetchAll(links.addresses[1])
  expect(await links.sample(2 * bytes, 15)).toMatchObject({ relayedShare: 1, linkShare: 0.5 })
  await expect(links.sample(2 * bytes + 1, 15)).rejects.toThrow('a peer was reached past it')
})

it('freezes a provider once half has passed, and counts its link up to then', { timeout: 60_000 }, async () => {
  const links = await openLinks({ delayMs: 1, mbPerS: [20, 20], frozen: 1 }, [await provider(), await provider()])
  onTestFinished(async () => await links.stop())
  const log: string[] = []
  const frozen = Promise.withResolvers<void>()
  const first = { freeze: () => void log.push('first frozen'), thaw: () => void log.push('first thawed') }
  const second = {
    freeze: () => {
      log.push('second frozen')
      frozen.resolve()
    },
    thaw: () => void log.push('second thawed')
  }
  await links.during(2 * bytes, [first, second], async () => {
    await fetchAll(links.addresses[0])
    log.push('half')
    await frozen.promise
    await fetchAll(links.addresses[1])
  })
  expect(log).toEqual(['half', 'second frozen', 'second thawed'])
  // Half of it over 40 MB/s, half over 20.
  expect((await links.sample(2 * bytes, 40 / 1.5))['linkShare']).toBeCloseTo(1)
})
