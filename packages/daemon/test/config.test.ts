import { create } from 'kubo-rpc-client'
import { expect, test } from 'vitest'
import { connectDaemon } from '../src/index.ts'
import { newDaemon, urlOf } from './setup.ts'

const peerAddress = '/ip4/192.0.2.1/tcp/4001/p2p/12D3KooWGC6TvWhfapngX6wvJHMYvKpDMXPb3ZnCZ6dMoaMtimQ5'

test("Kubo's client reads and changes the config of a daemon", async () => {
  const daemon = await newDaemon()
  const kubo = create(urlOf(daemon))
  expect(await kubo.config.get('serve.cap')).toBe(1024)
  await kubo.config.set('serve.cap', 64)
  await kubo.config.set('serve.tests', false)
  await kubo.config.set('serve.mode', 'registered')
  await kubo.config.set('routing.bootstrap', [peerAddress])
  expect(await kubo.config.get('serve')).toEqual({ mode: 'registered', cap: 64, freeScore: 8, tests: false })
  const all = await kubo.config.getAll()
  expect(all).toMatchObject({ addresses: { api: '/ip4/127.0.0.1/tcp/5001' }, routing: { bootstrap: [peerAddress] } })
  await kubo.config.replace({ serve: { cap: 5 } } as object)
  expect(await kubo.config.get('serve.mode')).toBe('open')
  await expect(kubo.config.set('serve.cap', -1)).rejects.toThrow(/serve\.cap must be a whole number/)
  await expect(kubo.config.get('serve.frob')).rejects.toThrow(/serve\.frob is not a key/)
})

test('a daemon changes its config for a client, with the errors of the library', async () => {
  const daemon = await newDaemon()
  const node = await connectDaemon(daemon.api)
  await node.config.set('addresses.swarm', ['/ip4/127.0.0.1/tcp/7'])
  expect(await node.config.get('addresses.swarm')).toEqual(['/ip4/127.0.0.1/tcp/7'])
  await node.config.set('addresses.swarm', null)
  expect(await node.config.show()).toEqual(await daemon.node.config.show())
  expect(await node.config.get('repo.maxBytes')).toBeUndefined()
  await expect(node.config.set('serve.mode', 'closed')).rejects.toMatchObject({ name: 'ConfigError', code: 'ERR_CONFIG' })
  await expect(node.config.replace({ frob: {} })).rejects.toMatchObject({ code: 'ERR_CONFIG' })
  // As `shardswap config set` and Kubo's command send it.
  for (const [query, value] of [
    ['arg=serve.cap&arg=12', 12],
    ['arg=serve.tests&arg=false&bool=true', false],
    ['arg=addresses.announce&arg=/ip4/192.0.2.1/tcp/1', ['/ip4/192.0.2.1/tcp/1']],
    ['arg=routing.delegated&arg=[]&json=true', []]
  ] as const) {
    const answer = await fetch(`${urlOf(daemon)}/config?${query}`, { method: 'POST' })
    expect(await answer.json()).toEqual({ Key: /arg=([^&]*)/.exec(query)?.[1], Value: value })
  }
  const broken = await fetch(`${urlOf(daemon)}/config?arg=serve.cap&arg={&json=true`, { method: 'POST' })
  expect(broken.status).toBe(400)
})
