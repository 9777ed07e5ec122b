import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { initRepo, openRepo, profileConfig, type Repo } from '@shardswap/repo'
import { CID } from '@shardswap/interface'
import { create } from 'kubo-rpc-client'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { connectDaemon, type Daemon, openLocalNode, startDaemon } from '../src/index.ts'
import { bytesOf, collect, someBytes, urlOf } from './setup.ts'

vi.setConfig({ testTimeout: 60_000 })

const swarmKey = `/key/swarm/psk/1.0.0/\n/base16/\n${randomBytes(32).toString('hex')}\n`
const absent = 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku'

async function newFolder(after: (clean: () => Promise<void>) => void): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'shardswap-routes-'))
  after(async () => await rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

async function newRepo(folder: string, routing: object, key: string | null = swarmKey): Promise<Repo> {
  const addresses = { swarm: ['/ip4/127.0.0.1/tcp/0'], api: '/ip4/127.0.0.1/tcp/0' }
  await initRepo(folder, { config: { addresses, routing } })
  if (key !== null) await writeFile(join(folder, 'swarm.key'), key)
  return await openRepo(folder)
}

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

describe('daemons on a private network', () => {
  let adding: Daemon
  let asking: Daemon
  let root: CID
  const content = someBytes(900_000)

  beforeAll(async () => {
    const cleanups: (() => Promise<void>)[] = []
    const start = async (routing: object): Promise<Daemon> => {
      const folder = await newFolder((clean) => cleanups.unshift(clean))
      const daemon = await startDaemon({ repo: await newRepo(folder, { dht: 'server', ...routing }) })
      cleanups.unshift(async () => await daemon.stop())
      return daemon
    }
    const known = await start({})
    const bootstrap = known.addresses
    ;[adding, asking] = await Promise.all([start({ bootstrap, provide: 'all' }), start({ bootstrap })])
    const added = await collect(adding.node.add([{ path: 'file', content: [content] }], { cidVersion: 1 }))
    root = added.at(-1)?.cid ?? CID.parse(absent)
    return async () => {
      for (const clean of cleanups) await clean()
    }
  }, 60_000)

  test('what one adds is announced by itself, and another finds it and reads it', async () => {
    const peer = await adding.node.peer()
    await until('all blocks are announced', async () => peer.routing.stat().announced >= 5)
    const remote = await connectDaemon(asking.api)
    const [found, ...others] = await collect(remote.routing.findProviders(root))
    expect(others).toEqual([])
    expect(found?.peer).toBe(peer.peerId.toString())
    expect(found?.addresses.length).toBeGreaterThan(0)
    expect(found?.addresses.every((address) => !address.includes('/p2p/'))).toBe(true)
    expect(await bytesOf(remote.cat(root.toString()))).toEqual(Buffer.from(content))
    expect(await collect(remote.routing.findProviders(CID.parse(absent)))).toEqual([])
  })

  test('kubo-rpc-client finds providers and peers, and provides', async () => {
    const client = create(urlOf(asking))
    const provider = (await adding.node.id()).id
    const named = []
    for await (const event of client.routing.findProvs(root, { numProviders: 1 })) {
      if (event.name === 'PROVIDER') named.push(...event.providers.map(({ id }) => id.toString()))
    }
    expect(named).toEqual([provider])
    const [where] = await collect(client.routing.findPeer((await adding.node.peer()).peerId))
    expect(where).toMatchObject({ name: 'FINAL_PEER' })
    await asking.node.blockPut(someBytes(1000, 7))
    const { cid } = await asking.node.blockPut(someBytes(1000, 8))
    expect(await collect(client.routing.provide(cid))).toEqual([])
    const [found] = await collect((await connectDaemon(adding.api)).routing.findProviders(cid))
    expect(found?.peer).toBe((await asking.node.id()).id)
  })

  test('with the strategy "roots" what is pinned is announced, and what is stored is not; a round meets pins of before', async () => {
    const folder = await newFolder(onTestFinished)
    const bootstrap = await asking.node.routing.bootstrap()
    const first = await startDaemon({ repo: await newRepo(folder, { dht: 'server', bootstrap }) })
    const [before] = await collect(first.node.add([{ path: 'before', content: [someBytes(300_000, 11)] }], { cidVersion: 1 }))
    await first.stop()
    await first.node.repo.configFile.set('routing.provide', 'roots')
    const daemon = await startDaemon({ repo: await openRepo(folder) })
    onTestFinished(async () => await daemon.stop())
    const { routing } = await daemon.node.peer()
    await until('the pin of before is announced', async () => routing.stat().announced === 1)
    const unpinned = await daemon.node.blockPut(someBytes(1000, 12))
    const [after] = await collect(daemon.node.add([{ path: 'after', content: [someBytes(300_000, 13)] }], { cidVersion: 1 }))
    await until('the new pin is announced', async () => routing.stat().announced === 2 && routing.stat().announcesWaiting === 0)
    const remote = await connectDaemon(asking.api)
    const me = (await daemon.node.id()).id
    for (const root of [before, after]) {
      expect((await collect(remote.routing.findProviders(root?.cid ?? unpinned.cid))).map(({ peer }) => peer)).toEqual([me])
    }
    expect(await collect(remote.routing.findProviders(unpinned.cid))).toEqual([])
  })

  test('a command without a daemon is on the private network of its repo, and asks nobody but whom it names', async () => {
    const folder = await newFolder(onTestFinished)
    const node = await openLocalNode({
      repo: await newRepo(folder, { dht: 'server', provide: 'all', bootstrap: adding.addresses }),
      online: true
    })
    onTestFinished(async () => await node.close())
    await node.swarmConnect(adding.addresses[0] ?? '')
    expect(await bytesOf(node.cat(root.toString()))).toEqual(Buffer.from(content))
    expect((await node.peer()).routing.stat().routers).toEqual([])
    const strangers = await newFolder(onTestFinished)
    const stranger = await openLocalNode({ repo: await newRepo(strangers, {}, null), online: true })
    onTestFinished(async () => await stranger.close())
    await expect(stranger.swarmConnect(adding.addresses[0] ?? '')).rejects.toMatchObject({ code: 'ERR_CONNECT' })
  })

  test('a block that is not here is not provided, and what is no peer is not looked for', async () => {
    const remote = await connectDaemon(asking.api)
    await expect(remote.routing.provide([CID.parse(absent)])).rejects.toThrow(`block ${absent} not found locally, cannot provide`)
    await expect(remote.routing.findPeer('nobody')).rejects.toMatchObject({ code: 'ERR_INVALID_PARAMETERS' })
    const nobody = '12D3KooWKnDdG3iXw9eTFijk3EWSunZcFi54Zka4wmtqtt6rPxc8'
    await expect(remote.routing.findPeer(nobody)).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
    await expect(collect(remote.routing.findProviders(root, { count: 0 }))).rejects.toThrow(/must be greater than 0/)
    expect(await remote.routing.bootstrap()).toEqual(await asking.node.routing.bootstrap())
  })
})

describe('the swarm.key of a repo', () => {
  test('[F67] one that is none keeps the daemon from starting, says what is needed, and lets the repo go', async () => {
    const folder = await newFolder(onTestFinished)
    const repo = await newRepo(folder, {}, randomBytes(32).toString('hex'))
    await expect(startDaemon({ repo })).rejects.toMatchObject({
      name: 'SwarmKeyError',
      code: 'ERR_SWARM_KEY',
      message: expect.stringMatching(/bare key, but it must be three lines/) as string
    })
    const again = await openRepo(folder)
    await again.close()
  })

  test('on a private network the public peers and routers of the profile are left out, and that is said', async () => {
    const folder = await newFolder(onTestFinished)
    const { routing } = profileConfig('public') as { routing: object }
    const repo = await newRepo(folder, { ...routing, mdns: false, dht: 'off' })
    const warnings: string[] = []
    const daemon = await startDaemon({ repo, onWarning: (message) => warnings.push(message) })
    onTestFinished(async () => await daemon.stop())
    expect(warnings).toHaveLength(2)
    expect(warnings.join(' ')).toMatch(/routing\.bootstrap is left out.*routing\.delegated is left out/)
    expect((await daemon.node.peer()).routing.stat().routers).toEqual([])
  })
})
